package cli

import (
	"cmp"
	"fmt"

	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

// printEstimate shows what a run would ask, and about what it would cost.
func printEstimate(w *World, e *session.Estimate) error {
	for _, one := range e.Cases {
		c := one.Case
		line := fmt.Sprintf("%s  %s -> %s  (%s", c.ID, cmp.Or(c.Tool+" ", "")+string(c.Input), one.Target, count(len(c.Checks), "check"))
		if one.Judged > 0 {
			line += ", " + count(one.Judged, "call") + " of a judge"
		}
		if _, err := fmt.Fprintln(w.Stdout, term.Sanitize(line+")")); err != nil {
			return err
		}
	}
	w.printf("%s would be made, %d at a time; nothing was asked\n", count(e.Servers+e.Answers.N+e.Judges.N, "call"), e.Concurrency)
	printCalls(w, "answers", e.Answers)
	printCalls(w, "judge", e.Judges)
	return nil
}

func printCalls(w *World, what string, c session.Calls) {
	if c.N == 0 {
		return
	}
	cost := "of unknown cost: give prices in mettle.yaml"
	if c.Usage.Unpriced == 0 {
		cost = "about " + c.Usage.Cost.String()
	}
	w.printf("%s, %s: %s, about %d tokens in and %d out, %s\n", what, term.Sanitize(c.Model), count(c.N, "call"), c.Usage.Input, c.Usage.Output, cost)
}
