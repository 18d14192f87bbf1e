package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/report"
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
}

func newDriftCmd(w *World) *cobra.Command {
	o := new(driftOptions)
	cmd := &cobra.Command{
		Use:   "drift DIR",
		Short: "Ask the models of a recording again and show what they say differently",
		Long: "Makes every model call of a recording once more and holds the reply against the\n" +
			"recorded one: verdicts of judges by their scores, answers by their words. The\n" +
			"recording stays as it is. Exits with 1 when something changed.",
		Example: "  mettle cassette drift tapes/quality\n  mettle cassette drift tapes/quality --budget 1usd",
		Args:    cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&o.config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.IntVar(&o.concurrency, "concurrency", defaultConcurrency, "calls at a time")
	f.StringVar(&o.budget, "budget", "", "most that may be spent, such as 1usd, '200k tokens' or 10m")
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		return runDrift(cmd.Context(), w, o, args[0])
	}, "config")
	return cmd
}

// drift is one call made again.
type drift struct {
	call   *llm.Call
	change string // "" when the reply says the same
	err    error
	usage  eval.Usage
}

func runDrift(ctx context.Context, w *World, o *driftOptions, dir string) error {
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
	var calls []*llm.Call
	for call, err := range tape.Calls() {
		if err != nil {
			return err
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return usagef("%s holds no call of a model", dir)
	}
	drifts := askAgain(ctx, ms, calls, max(1, o.concurrency))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return printDrift(w, drifts)
}

// askAgain makes calls, so many at a time. Drifts stand in the order of calls.
func askAgain(ctx context.Context, ms *models, calls []*llm.Call, concurrency int) []drift {
	out := make([]drift, len(calls))
	turns := make(chan struct{}, concurrency)
	var wg sync.WaitGroup
	for i, call := range calls {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			out[i] = again(ctx, ms, call)
		})
	}
	wg.Wait()
	return out
}

func again(ctx context.Context, ms *models, call *llm.Call) drift {
	d := drift{call: call}
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
			line = paint(w.color(w.OutTTY), yellow, "! ") + d.title() + ": " + report.Sanitize(d.err.Error())
		case d.change != "":
			changes++
			line = paint(w.color(w.OutTTY), red, "≠ ") + d.title() + ": " + report.Sanitize(d.change)
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

// title names a call: the model and the first words of what it was asked.
func (d drift) title() string {
	text := ""
	if n := len(d.call.Request.Messages); n > 0 {
		text = strings.Join(strings.Fields(d.call.Request.Messages[n-1].Text), " ")
	}
	if words := []rune(text); len(words) > 60 {
		text = string(words[:60]) + "…"
	}
	s := fmt.Sprintf("%s %q", d.call.Spec, text)
	if d.call.Request.Trial > 1 {
		s += fmt.Sprintf(" (trial %d)", d.call.Request.Trial)
	}
	return report.Sanitize(s)
}
