package report

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"github.com/mettle-eval/mettle/internal/eval"
)

// each reads a run's results in suite order. Every result it yields has a case
// and a trial, so that no format has to doubt it.
func each(run *eval.Run) iter.Seq2[*eval.Result, error] { return whole(run, run.Results) }

// notable is each without results that have a status that skip accepts and no
// check that only warns, where the run can tell them apart without reading all.
func notable(run *eval.Run, skip func(eval.Status) bool) iter.Seq2[*eval.Result, error] {
	if run.Notable == nil {
		return each(run)
	}
	return whole(run, func() iter.Seq2[*eval.Result, error] { return run.Notable(skip) })
}

func whole(run *eval.Run, results func() iter.Seq2[*eval.Result, error]) iter.Seq2[*eval.Result, error] {
	return func(yield func(*eval.Result, error) bool) {
		if results == nil {
			return
		}
		for r, err := range results() {
			if err != nil {
				yield(nil, fmt.Errorf("read the results of run %s: %w", run.ID, err))
				return
			}
			if r.Case == nil || r.Trial < 1 {
				whole := *r
				whole.Trial = max(1, r.Trial)
				if r.Case == nil {
					whole.Case = new(eval.Case)
				}
				r = &whole
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// completed is the run with a summary and a verdict, which one that was killed
// has not: its results say by themselves what they add up to.
func completed(run *eval.Run) (*eval.Run, error) {
	if run.Summary != nil && run.Verdict != "" {
		return run, nil
	}
	whole := *run
	if whole.Summary == nil {
		tally := eval.NewTally(eval.EffectiveGates(run.Gates, run.Suites), run.Kinds)
		for r, err := range each(run) {
			if err != nil {
				return nil, err
			}
			tally.Add(r)
		}
		whole.Summary, whole.Outcomes = tally.Summary(), tally.Outcomes()
	}
	whole.Judge()
	return &whole, nil
}

// printer writes text and keeps the first error for the end: a report is
// either whole or known not to be.
type printer struct{ w *bufio.Writer }

func newPrinter(w io.Writer) *printer { return &printer{bufio.NewWriterSize(w, 64<<10)} }

// What is written goes through a buffer that refuses everything after an
// error and tells it when flushed, so nobody has to ask in between.
func (p *printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }
func (p *printer) print(s string)                    { _, _ = p.w.WriteString(s) }
func (p *printer) write(b []byte)                    { _, _ = p.w.Write(b) }

func (p *printer) close() error {
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
