package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

// Exit codes of every command.
const (
	ExitMet         = 0   // gates met
	ExitNotMet      = 1   // gates not met
	ExitUsage       = 2   // wrong usage or an invalid suite
	ExitIncomplete  = 3   // the run could not be completed
	ExitInterrupted = 130 // a person stopped it
)

// usageError is a command line that cannot be meant.
type usageError = session.UsageError

func usagef(format string, args ...any) error { return &usageError{Err: fmt.Errorf(format, args...)} }

// verdictError carries a run's outcome to the exit code. The report has said
// it already, so it is not printed.
type verdictError struct{ code int }

func (e *verdictError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// verdict is nil for a run whose gates are met.
func verdict(run *eval.Run) error {
	switch {
	case run.Header.Status == eval.Interrupted:
		return &verdictError{ExitInterrupted}
	case run.Verdict == eval.Failed:
		return &verdictError{ExitNotMet}
	case run.Verdict == eval.Incomplete:
		return &verdictError{ExitIncomplete}
	}
	return nil
}

// exitCode is the one place where an error becomes a number.
func exitCode(err error) int {
	var v *verdictError
	var usage *usageError
	var problems kind.Problems
	switch {
	case errors.As(err, &v):
		return v.code
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage), errors.As(err, &problems):
		return ExitUsage
	}
	return ExitIncomplete
}

// errorText is an error as a person sees it.
func errorText(w *World, err error) string {
	var problems kind.Problems
	if errors.As(err, &problems) {
		return problemsText(problems, w.color(w.ErrTTY))
	}
	if errors.Is(err, context.Canceled) {
		return "interrupted before the first case; nothing was asked"
	}
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = term.Sanitize(line) // a server may have had a word in it
	}
	return term.Paint(w.color(w.ErrTTY)).Red("mettle: ") + strings.Join(lines, "\n")
}

func problemsText(problems kind.Problems, color bool) string {
	const shown = 100
	var b strings.Builder
	for i, p := range problems {
		if i == shown {
			fmt.Fprintf(&b, "… and %d more\n", len(problems)-shown)
			break
		}
		b.WriteString(term.Paint(color).Bold(p.String()) + "\n")
		if e := p.Excerpt(); e != "" {
			b.WriteString(e + "\n")
		}
	}
	return b.String() + count(len(problems), "problem")
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// flagError adds the near name that pflag does not look for.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near := kind.Near(unknown.GetSpecifiedName(), names); near != "" {
			return usagef("%w (did you mean --%s?)", err, near)
		}
	}
	return usagef("%w; see %s --help", err, cmd.CommandPath())
}
