package cli

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

func newReportCmd(w *World) *cobra.Command {
	o := new(storeOptions)
	format, output, verbose := "", "", false
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Report on a stored run",
		Long: "Writes a report of a stored run, finished or not. RUN is an id, the start of one, a\n" +
			"run's folder, or latest, which it is when left out.",
		Example: "  mettle report\n  mettle report latest --format markdown > comment.md\n  mettle report 20260102-1504 --format junit -o out/junit.xml",
		Args:    cobra.MaximumNArgs(1),
	}
	o.flags(cmd)
	cmd.Flags().StringVarP(&format, "format", "f", "terminal", strings.Join(formatNames(), ", "))
	cmd.Flags().StringVarP(&output, "output", "o", "-", "file to write, - for standard output")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "leave nothing out")
	withEnvironment(w, cmd, func(_ *cobra.Command, args []string) error {
		name := "latest"
		if len(args) > 0 {
			name = args[0]
		}
		f, ok := report.Find(format)
		if !ok {
			return usagef("unknown format %q, want one of %s", format, strings.Join(formatNames(), ", "))
		}
		dir, err := o.find(w, name)
		if err != nil {
			return err
		}
		run, err := session.Open(dir)
		if err != nil {
			return err
		}
		opts := report.Options{Verbose: verbose, Dir: w.shown(dir)}
		if output != "-" {
			err = writeReport(w, run, format, output, opts)
		} else {
			opts.Color, opts.Width = w.color(w.OutTTY), w.Width
			err = f.Write(w.reportOut(f.Name), run, opts)
		}
		return cmp.Or(err, damaged(w, run, filepath.Base(dir)))
	})
	return cmd
}

// damaged says what of a run could not be read, and how to have it again. The
// report may not have read all of it.
func damaged(w *World, run *eval.Run, folder string) error {
	for _, err := range run.Notable(func(eval.Status) bool { return true }) {
		if err != nil {
			return err
		}
	}
	lines := run.Damage()
	if len(lines) == 0 {
		return nil
	}
	for _, line := range lines {
		w.printf("damaged, left out: %s\n", term.Sanitize(line))
	}
	w.printf("make the missing results again with: mettle resume %s\n", folder)
	return &verdictError{ExitIncomplete}
}
