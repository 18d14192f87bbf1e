package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/term"
)

func newCassetteCmd(w *World) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Look after recordings made with mettle run --record",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newDriftCmd(w))
	return cmd
}

type driftOptions struct {
	config      string
	concurrency int
	budget      string
	server      runOptions // --url and --command
}

func newDriftCmd(w *World) *cobra.Command {
	o := new(driftOptions)
	cmd := &cobra.Command{
		Use:   "drift DIR",
		Short: "Ask the models and servers of a recording again and show what they say differently",
		Long: "Makes every call of a recording once more and holds the reply against the recorded\n" +
			"one: verdicts of judges by their scores, answers by their words. Servers are those\n" +
			"of mettle.yaml, the built-in one, and for the rest what --url or --command says.\n" +
			"The recording stays as it is. Exits with 1 when something changed.",
		Example: "  mettle cassette drift tapes/quality\n  mettle cassette drift tapes/quality --budget 1usd\n" +
			"  mettle cassette drift tapes/docs --url http://localhost:3000",
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.IntVar(&o.concurrency, "concurrency", defaultConcurrency, "calls at a time")
	f.StringVar(&o.budget, "budget", "", "most that may be spent on models, such as 1usd, '200k tokens' or 10m")
	f.StringVar(&o.server.URL, "url", "", "address of the MCP server of the recording, where mettle.yaml does not name it")
	f.StringVar(&o.server.Command, "command", "", "command line of the stdio MCP server of the recording")
	f.StringArrayVar(&o.server.Headers, "header", nil, "HTTP header for --url, as 'Name: value'; take secrets from the environment with ${NAME}")
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		return runDrift(cmd.Context(), w, o, args[0])
	}, "config")
	return cmd
}

// drift is one call made again.
type drift struct {
	title  string
	change string // "" when the reply says the same
	err    error
	usage  eval.Usage
}

func runDrift(ctx context.Context, w *World, o *driftOptions, dir string) error {
	if o.server.URL != "" && o.server.Command != "" {
		return usagef("--url and --command exclude each other")
	}
	cfg, err := loadConfig(w, o.config)
	if err != nil {
		return err
	}
	tape, err := llm.OpenTape(w.abs(dir), llm.Replay)
	if err != nil {
		return &usageError{err}
	}
	ms, err := newModels(w, &modelOptions{Budget: o.budget}, cfg, 0)
	if err != nil {
		return err
	}
	calls, err := modelCalls(ctx, ms, tape)
	if err != nil {
		return err
	}
	servers := &driftServers{w: w, o: o, cfg: cfg, made: map[string]eval.Target{}, failed: map[string]error{}}
	defer func() { _ = closeTargets(servers.made) }() // what they said is in
	more, err := servers.calls(ctx, tape)
	if err != nil {
		return err
	}
	if calls = append(calls, more...); len(calls) == 0 {
		return usagef("%s holds no call of a model or a server", dir)
	}
	drifts := askAgain(ctx, calls, max(1, o.concurrency))
	if ctx.Err() != nil {
		w.printf("interrupted: some calls were made again, and nothing can be said of the others\n")
		return &verdictError{ExitInterrupted}
	}
	return printDrift(w, drifts)
}

// askAgain makes calls, so many at a time. Drifts stand in their order.
func askAgain(ctx context.Context, calls []func(context.Context) drift, concurrency int) []drift {
	out := make([]drift, len(calls))
	turns := make(chan struct{}, concurrency)
	var wg sync.WaitGroup
	for i, call := range calls {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			out[i] = call(ctx)
		})
	}
	wg.Wait()
	return out
}

// modelCalls are the calls of models on a tape, to be made again. Models that
// cannot be asked are found first, all in one list.
func modelCalls(ctx context.Context, ms *models, tape *llm.Tape) (out []func(context.Context) drift, err error) {
	missing := map[string]error{}
	for call, err := range tape.Calls() {
		if err != nil {
			return nil, err
		}
		if name := call.Spec.String(); missing[name] == nil {
			_, missing[name] = ms.model(name)
		}
		out = append(out, func(ctx context.Context) drift { return again(ctx, ms, call) })
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		errs = append(errs, missing[name])
	}
	if err := inOneList(errs...); err != nil {
		return nil, err
	}
	return out, ms.ready(ctx)
}

func again(ctx context.Context, ms *models, call *llm.Call) drift {
	d := drift{title: modelTitle(call)}
	model, err := ms.model(call.Spec.String())
	if err != nil {
		d.err = err
		return d
	}
	reply, err := model.Generate(ctx, call.Request)
	switch {
	case err != nil && call.Reply != nil:
		d.err = err
	case err != nil: // then as now
	case call.Reply == nil:
		d.change = "it was an error and is a reply"
	default:
		d.usage = reply.Usage
		d.change = changed(call.Reply, reply)
	}
	return d
}

// driftServers are the servers of a recording, each connected to once.
type driftServers struct {
	w      *World
	o      *driftOptions
	cfg    *suite.Config
	made   map[string]eval.Target
	failed map[string]error
}

// calls are the calls of servers on a tape, to be made again.
func (d *driftServers) calls(ctx context.Context, tape *llm.Tape) (out []func(context.Context) drift, err error) {
	cases := map[string][]*eval.Case{} // by target
	for e, err := range tape.Entries(target.AnswerEntry) {
		if err != nil {
			return nil, err
		}
		var asked target.Asked
		was := new(eval.Result)
		if err := errors.Join(json.Unmarshal(e.Key, &asked), json.Unmarshal(e.Value, was)); err != nil {
			return nil, fmt.Errorf("read what was asked of a server: %w", err)
		}
		c := &eval.Case{Tool: asked.Tool, Input: asked.Input, Target: asked.Target}
		cases[c.Target] = append(cases[c.Target], c)
		out = append(out, func(ctx context.Context) drift { return d.again(ctx, c, was) })
	}
	for name, list := range cases {
		if err := d.connect(ctx, name, list); err != nil {
			d.failed[name] = fmt.Errorf("the target %s cannot be asked: %w", name, err)
		}
	}
	return out, nil
}

// connect makes the server with a name ready to be asked.
func (d *driftServers) connect(ctx context.Context, name string, cases []*eval.Case) error {
	o := &d.o.server
	if d.cfg.Targets[name] != nil || name == builtinTarget {
		o = new(runOptions)
	}
	t, err := o.target(d.w, name, &loaded{Set: new(suite.Set), config: d.cfg}, new(eval.Suite))
	if err != nil {
		return err
	}
	d.made[name] = t
	if p, ok := t.(eval.Preparer); ok {
		return p.Prepare(ctx, eval.Env{Cases: cases})
	}
	return nil
}

func (d *driftServers) again(ctx context.Context, c *eval.Case, was *eval.Result) drift {
	out := drift{title: term.Sanitize(fmt.Sprintf("%s %s %s", c.Target, c.Tool, c.Input)), err: d.failed[c.Target]}
	if out.err != nil {
		return out
	}
	is, err := d.made[c.Target].Respond(ctx, c)
	switch {
	case err != nil && was.Response != nil:
		out.err = err
	case err != nil: // then as now
	case was.Response == nil:
		out.change = "it was an error and is an answer"
	case was.Response.IsError != is.IsError:
		out.change = fmt.Sprintf("flagged as an error: %v, was %v", is.IsError, was.Response.IsError)
	default:
		out.change = changed(&llm.Reply{Text: was.Response.Text}, &llm.Reply{Text: is.Text})
	}
	return out
}

// changed says how a reply differs from the recorded one, "" when it does not.
func changed(was, is *llm.Reply) string {
	switch {
	case was.Finish != is.Finish:
		return fmt.Sprintf("it ended by %s and ends by %s", was.Finish, is.Finish)
	case strings.TrimSpace(was.Text) == strings.TrimSpace(is.Text):
		return ""
	}
	if a, ok := verdictOf(was.Text); ok {
		if b, ok := verdictOf(is.Text); ok {
			if a == b {
				return "" // the same verdict in other words
			}
			return fmt.Sprintf("verdict %s, was %s", b, a)
		}
		return "it is no verdict any more"
	}
	return fmt.Sprintf("other words: %d%% of them the same, %d characters, were %d", sameWords(was.Text, is.Text), len([]rune(is.Text)), len([]rune(was.Text)))
}

// verdictOf is what a judge's reply decides: everything but its reasoning.
func verdictOf(text string) (string, bool) {
	var v any
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &v) != nil {
		return "", false
	}
	if _, ok := v.(map[string]any); !ok {
		return "", false
	}
	b, err := json.Marshal(withoutReasoning(v))
	return string(b), err == nil
}

func withoutReasoning(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			if k != "reasoning" {
				out[k] = withoutReasoning(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = withoutReasoning(inner)
		}
		return out
	}
	return v
}

// sameWords is the share of distinct words that two texts have in common, in
// per cent.
func sameWords(a, b string) int {
	words := map[string]int{}
	for w := range strings.FieldsSeq(a) {
		words[w] |= 1
	}
	for w := range strings.FieldsSeq(b) {
		words[w] |= 2
	}
	common := 0
	for _, in := range words {
		if in == 3 {
			common++
		}
	}
	return common * 100 / max(1, len(words))
}

func printDrift(w *World, drifts []drift) error {
	var used eval.Usage
	changes, failed := 0, 0
	for _, d := range drifts {
		used.Add(&d.usage)
		line := ""
		switch {
		case d.err != nil:
			failed++
			line = term.Paint(w.color(w.OutTTY)).Yellow("! ") + d.title + ": " + term.Sanitize(d.err.Error())
		case d.change != "":
			changes++
			line = term.Paint(w.color(w.OutTTY)).Red("≠ ") + d.title + ": " + term.Sanitize(d.change)
		default:
			continue
		}
		if _, err := fmt.Fprintln(w.Stdout, line); err != nil {
			return err
		}
	}
	fmt.Fprintf(w.Stdout, "%s asked again: %d say the same, %d changed, %d without a reply\n",
		count(len(drifts), "call"), len(drifts)-changes-failed, changes, failed)
	if used.Unpriced == 0 {
		w.printf("spent: %s\n", used.Cost)
	}
	switch {
	case failed > 0:
		return &verdictError{ExitIncomplete}
	case changes > 0:
		return &verdictError{ExitNotMet}
	}
	return nil
}

// modelTitle names a call: the model and the first words of what it was asked.
func modelTitle(call *llm.Call) string {
	text := ""
	if n := len(call.Request.Messages); n > 0 {
		text = strings.Join(strings.Fields(call.Request.Messages[n-1].Text), " ")
	}
	if words := []rune(text); len(words) > 60 {
		text = string(words[:60]) + "…"
	}
	s := fmt.Sprintf("%s %q", call.Spec, text)
	if call.Request.Trial > 1 {
		s += fmt.Sprintf(" (trial %d)", call.Request.Trial)
	}
	return term.Sanitize(s)
}
