package report_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/store"
)

const answer = "o1js is a TypeScript library for writing zero-knowledge programs [Source 1]. You describe a computation with its types, " +
	"it turns the description into a circuit, and anyone with the right inputs can make a proof that the computation was done."

const rawAnswer = answer + "\n\n---\n<response_metadata>\n```json\n{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] o1js\n    https://docs.example/o1js\n"

type params map[string]any

func (params) Grade(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.Score{}, errors.New("not asked")
}

func storedResult(c *eval.Case, status eval.Status) *eval.Result {
	sent, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": rawAnswer}}})
	r := &eval.Result{
		Case: c, Target: "url", Trial: 1, Status: status, Value: 1,
		Started: time.Date(2026, 3, 1, 9, 30, 0, 122050573, time.UTC), Duration: 5625 * time.Microsecond,
		Response: &eval.Response{
			Text: answer, Raw: rawAnswer, Meta: map[string]any{"confidence": 80.0, "sourcesUsed": 1.0}, Latency: 5397 * time.Microsecond,
			Sources:  []eval.Source{{N: 1, Title: "o1js", URL: "https://docs.example/o1js"}},
			Steps:    []eval.Step{{ID: "1", Kind: eval.CallStep, Name: "ask_docs", Duration: 5397 * time.Microsecond}},
			Exchange: &eval.Exchange{Request: json.RawMessage(`{"name":"ask_docs","arguments":{"question":"What is o1js?"}}`), Response: sent},
		},
	}
	for i, check := range c.Checks {
		s := eval.Score{
			Key: check.Key, Kind: check.Kind, Status: eval.Pass, Value: 1, Weight: 1, Severity: eval.ErrorSeverity,
			Reason: `1 citation, the first "[Source 1]"`, Implicit: check.Implicit,
		}
		if i%2 == 0 {
			s = s.Detail("length", 241)
		}
		if status == eval.Fail && i < 4 {
			s.Status, s.Value, s.Mode = eval.Fail, 0, check.Mode
		}
		r.Scores = append(r.Scores, s)
	}
	return r
}

// storedRun is a run of the shape of the whole-command benchmark, on disk.
func storedRun(b testing.TB, n int, status eval.Status) *eval.Run {
	b.Helper()
	var checks []*eval.Check
	for _, kind := range []string{"min_length", "contains", "has_citation", "matches_regex", "not_error"} {
		checks = append(checks, &eval.Check{
			Key: kind, Kind: kind, Weight: 1, Severity: eval.ErrorSeverity, Mode: "mode of " + kind, Implicit: kind == "not_error", Grader: params{"value": "zero-knowledge"},
		})
	}
	s := &eval.Suite{Name: "bench 0"}
	for i := range n {
		s.Cases = append(s.Cases, &eval.Case{
			ID: fmt.Sprintf("bench-%06d", i), Name: "What is o1js?", Suite: s.Name, Project: "mina", Tool: "ask_docs", Difficulty: eval.Basic,
			Input: json.RawMessage(fmt.Sprintf(`{"question":"What is o1js, for the %dth time?"}`, i)), Target: "url",
			Checks: checks, Pos: eval.Pos{File: "suites/bench.yaml", Line: 5 + 11*i, Col: 5},
		})
	}
	w := store.Create(b.TempDir(), "bench", []*eval.Suite{s})
	run := &eval.Run{Header: eval.Header{ID: "bench", Format: eval.FormatVersion, Status: eval.Done, Planned: n, Trials: 1, Suites: []eval.Suite{{Name: s.Name}}}}
	if err := w.Start(run); err != nil {
		b.Fatal(err)
	}
	tally := eval.NewTally(nil, nil)
	for _, c := range s.Cases {
		r := storedResult(c, status)
		tally.Add(r)
		if err := w.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	run.Summary, run.Cases = tally.Summary(), tally.Verdicts()
	run.Judge()
	if err := errors.Join(w.Finish(run), w.Close()); err != nil {
		b.Fatal(err)
	}
	return run
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStored measures reports of 10,000 results from disk. cpu-ms is what
// the process used, which a busy machine does not change as much as the time.
func BenchmarkStored(b *testing.B) {
	for _, status := range []eval.Status{eval.Pass, eval.Fail} {
		run := storedRun(b, 10_000, status)
		for _, f := range report.Formats {
			b.Run(string(status)+"/"+f.Name, func(b *testing.B) {
				b.ReportAllocs()
				start := cpu()
				for b.Loop() {
					if err := f.Write(io.Discard, run, report.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpu()-start).Microseconds())/1000/float64(b.N), "cpu-ms")
			})
		}
	}
}
