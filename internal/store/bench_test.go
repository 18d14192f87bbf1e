package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/store"
)

const benchAnswer = "o1js is a TypeScript library for writing zero-knowledge programs [Source 1]. You describe a computation with its types, it turns the description into a circuit, and anyone with the right inputs can make a proof that the computation was done."

const benchRaw = benchAnswer + "\n\n---\n<response_metadata>\n```json\n{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] o1js\n    https://docs.example/o1js\n"

// benchSuite is a suite as the whole-command benchmark has it: five checks that
// all cases share.
func benchSuite(n int) *eval.Suite {
	var checks []*eval.Check
	for _, kind := range []string{"min_length", "contains", "has_citation", "matches_regex", "not_error"} {
		checks = append(checks, &eval.Check{
			Key: kind, Kind: kind, Weight: 1, Severity: eval.ErrorSeverity, Mode: "mode of " + kind, Implicit: kind == "not_error", Grader: params{"value": "zero-knowledge"},
		})
	}
	s := &eval.Suite{Name: "bench 0"}
	for i := range n {
		c := &eval.Case{
			ID: fmt.Sprintf("bench-%06d", i), Name: "What is o1js?", Suite: s.Name, Project: "mina", Tool: "ask_docs", Difficulty: eval.Basic,
			Input: json.RawMessage(fmt.Sprintf(`{"question":"What is o1js, for the %dth time?"}`, i)), Target: "url",
			Checks: checks, Pos: eval.Pos{File: "suites/bench.yaml", Line: 5 + 11*i, Col: 5},
		}
		for k := range checks {
			c.Places = append(c.Places, eval.Place{Line: int32(10 + 11*i + k), Col: 11})
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

type params map[string]any

func (params) Grade(_ context.Context, _ *eval.Attempt) (eval.Score, error) {
	return eval.Score{}, io.EOF
}

func benchResult(c *eval.Case, status eval.Status) *eval.Result {
	sent, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": benchRaw}}})
	r := &eval.Result{
		Case: c, Target: "url", Trial: 1, Status: status, Value: 1,
		Started: time.Date(2026, 3, 1, 9, 30, 0, 122050573, time.UTC), Duration: 5625 * time.Microsecond,
		Response: &eval.Response{
			Text: benchAnswer, Raw: benchRaw, Meta: map[string]any{"confidence": 80.0, "sourcesUsed": 1.0}, Latency: 5397 * time.Microsecond,
			Sources:  []eval.Source{{N: 1, Title: "o1js", URL: "https://docs.example/o1js"}},
			Steps:    []eval.Step{{ID: "1", Kind: eval.CallStep, Name: "ask_docs", Duration: 5397 * time.Microsecond}},
			Exchange: &eval.Exchange{Request: json.RawMessage(`{"name":"ask_docs","arguments":{"question":"What is o1js?"}}`), Response: sent},
		},
		Events: []eval.Event{{ID: 1, Kind: eval.ToolEvent, Name: "ask_docs", Duration: 5397 * time.Microsecond}},
	}
	for i, check := range c.Checks {
		s := eval.Score{
			Key: check.Key, Kind: check.Kind, Status: eval.Pass, Value: 1, Weight: 1, Severity: eval.ErrorSeverity,
			Reason: `1 citation, the first "[Source 1]"`, Implicit: check.Implicit, Duration: 3 * time.Microsecond,
		}
		if i%2 == 0 {
			s = s.Detail("length", 241)
		}
		if status == eval.Fail && i < 3 {
			s.Status, s.Value, s.Mode = eval.Fail, 0, check.Mode
		}
		r.Scores = append(r.Scores, s)
	}
	return r
}

// benchRun writes a run of n results.
func benchRun(b testing.TB, n int, status eval.Status) *eval.Run {
	b.Helper()
	s := benchSuite(n)
	w := store.Create(b.TempDir(), "bench", []*eval.Suite{s})
	run := &eval.Run{Header: eval.Header{ID: "bench", Format: eval.FormatVersion, Status: eval.Done, Planned: n, Trials: 1, Suites: []eval.Suite{{Name: s.Name}}}}
	if err := w.Start(run); err != nil {
		b.Fatal(err)
	}
	tally := eval.NewTally(nil, nil)
	for _, c := range s.Cases {
		r := benchResult(c, status)
		if err := w.Append(r); err != nil {
			b.Fatal(err)
		}
		tally.Add(r)
	}
	run.Summary, run.Cases = tally.Summary(), tally.Verdicts()
	run.Judge()
	if err := w.Finish(run); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return run
}

func BenchmarkWriteRun(b *testing.B) {
	s := benchSuite(1000)
	var results []*eval.Result
	for _, c := range s.Cases {
		results = append(results, benchResult(c, eval.Pass))
	}
	b.ReportAllocs()
	for b.Loop() {
		w := store.Create(b.TempDir(), "bench", []*eval.Suite{s})
		if err := w.Start(&eval.Run{}); err != nil {
			b.Fatal(err)
		}
		for _, r := range results {
			if err := w.Append(r); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Finish(&eval.Run{Summary: new(eval.Summary)}); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/result")
}

func BenchmarkReadRun(b *testing.B) {
	for name, read := range map[string]func(*eval.Run) int{
		"all": func(run *eval.Run) (n int) {
			for _, err := range run.Results() {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			return n
		},
		"notable": func(run *eval.Run) (n int) {
			for range run.Notable(func(s eval.Status) bool { return s == eval.Pass }) {
				n++
			}
			return n
		},
	} {
		b.Run(name, func(b *testing.B) {
			run := benchRun(b, 1000, eval.Pass)
			b.ReportAllocs()
			for b.Loop() {
				read(run)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/result")
		})
	}
}

func BenchmarkOpenOne(b *testing.B) {
	run := benchRun(b, 20_000, eval.Pass)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := run.Result(eval.Identity{Case: "bench-015000", Trial: 1}); err != nil || r == nil {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	root := b.TempDir()
	run := benchRun(b, 10_000, eval.Pass)
	w := store.Create(root, "r", nil)
	if err := w.Start(run); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if entries, err := store.List(root); err != nil || entries[0].Err != nil {
			b.Fatal(entries, err)
		}
	}
}
