package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/tape"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// Drifted is one call of a recording, made again.
type Drifted struct {
	Title  string
	Change string // "" when the reply says the same
	Err    error
	Usage  eval.Usage
}

// DriftOptions says which recording is made again, and where its servers are
// that mettle.yaml does not name.
type DriftOptions struct {
	Dir         string
	Config      string
	Concurrency int
	Budget      string
	URL         string
	Command     string
	Headers     []string
}

// Drift makes every call of a recording once more and compares the replies. The
// recording stays as it is.
func Drift(ctx context.Context, w *World, o DriftOptions) ([]Drifted, error) {
	if o.URL != "" && o.Command != "" {
		return nil, usagef("--url and --command exclude each other")
	}
	cfg, err := LoadConfig(w, o.Config)
	if err != nil {
		return nil, err
	}
	t, err := tape.Open(w.Abs(o.Dir), tape.Replay)
	if err != nil {
		return nil, &UsageError{err}
	}
	ms, err := newModels(w, &Models{Budget: o.Budget}, cfg, 0)
	if err != nil {
		return nil, err
	}
	calls, err := modelCalls(ctx, ms, t)
	if err != nil {
		return nil, err
	}
	more, servers, err := serverCalls(ctx, w, &o, cfg, t)
	defer func() { _ = closeTargets(servers) }() // what they said is in
	if err != nil {
		return nil, err
	}
	if calls = append(calls, more...); len(calls) == 0 {
		return nil, usagef("%s holds no call of a model or a server", o.Dir)
	}
	return askAgain(ctx, calls, max(1, o.Concurrency)), nil
}

// askAgain makes calls, so many at a time, and keeps their order.
func askAgain(ctx context.Context, calls []func(context.Context) Drifted, concurrency int) []Drifted {
	out := make([]Drifted, len(calls))
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
func modelCalls(ctx context.Context, ms *models, tape *tape.Tape) (out []func(context.Context) Drifted, err error) {
	missing := map[string]error{}
	for call, err := range tape.Calls() {
		if err != nil {
			return nil, err
		}
		if name := call.Spec.String(); missing[name] == nil {
			_, missing[name] = ms.model(name)
		}
		out = append(out, func(ctx context.Context) Drifted { return again(ctx, ms, call) })
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		errs = append(errs, missing[name])
	}
	if err := joinMissing(errs...); err != nil {
		return nil, err
	}
	return out, ms.ready(ctx)
}

func again(ctx context.Context, ms *models, call *tape.Call) Drifted {
	d := Drifted{Title: modelTitle(call)}
	model, err := ms.model(call.Spec.String())
	if err != nil {
		d.Err = err
		return d
	}
	reply, err := model.Generate(ctx, call.Request)
	switch {
	case err != nil && call.Reply != nil:
		d.Err = err
	case err != nil: // then as now
	case call.Reply == nil:
		d.Change = "it was an error and is a reply"
	default:
		d.Usage = reply.Usage
		d.Change = changed(call.Reply, reply)
	}
	return d
}

// serverCalls are the calls of servers on a tape, to be made again. made are
// the servers that were connected to.
func serverCalls(ctx context.Context, w *World, o *DriftOptions, cfg *suite.Config, t *tape.Tape) (out []func(context.Context) Drifted, made map[string]target.Target, err error) {
	made, failed := map[string]target.Target{}, map[string]error{}
	for call, err := range target.ToolCalls(t) {
		if err != nil {
			return nil, made, err
		}
		if _, tried := made[call.Server]; !tried {
			server, err := o.server(ctx, w, cfg, call.Server)
			if err != nil {
				failed[call.Server] = fmt.Errorf("the target %s cannot be asked: %w", call.Server, err)
			}
			made[call.Server] = server
		}
		out = append(out, func(ctx context.Context) Drifted {
			if err := failed[call.Server]; err != nil {
				return Drifted{Title: call.String(), Err: err}
			}
			return toolAgain(ctx, call, made[call.Server])
		})
	}
	return out, made, nil
}

// server connects to the server that a recording calls by a name.
func (o *DriftOptions) server(ctx context.Context, w *World, cfg *suite.Config, name string) (target.Target, error) {
	opts := &Options{URL: o.URL, Command: o.Command, Headers: o.Headers, Concurrency: o.Concurrency}
	if cfg.Targets[name] != nil || name == BuiltinTarget {
		opts = &Options{Concurrency: o.Concurrency}
	}
	p := &Plan{world: w, opts: opts, loaded: &Loaded{Set: new(suite.Set), Config: cfg}, models: new(models), env: new(eval.Env)}
	t, err := p.target(name, new(eval.Suite))
	if err != nil {
		return nil, err
	}
	if preparer, ok := t.(eval.Preparer); ok {
		err = preparer.Prepare(ctx, p.env, nil)
	}
	return t, err
}

// toolAgain makes a call of a server again.
func toolAgain(ctx context.Context, call *target.ToolCall, server target.Target) Drifted {
	d := Drifted{Title: call.String()}
	was, is, err := call.Again(ctx, server)
	switch {
	case err != nil && was != nil:
		d.Err = err
	case err != nil: // then as now
	case was == nil:
		d.Change = "it was an error and is an answer"
	case was.IsError != is.IsError:
		d.Change = fmt.Sprintf("flagged as an error: %v, was %v", is.IsError, was.IsError)
	default:
		d.Change = changed(&llm.Reply{Text: was.Text}, &llm.Reply{Text: is.Text})
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

// modelTitle names a call: the model and the first words of what it was asked.
func modelTitle(call *tape.Call) string {
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
	return s
}
