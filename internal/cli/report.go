package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/session"
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
		if output != "-" {
			return writeReport(w, run, format, output, report.Options{Verbose: verbose, Dir: w.shown(dir)})
		}
		return f.Write(w.reportOut(f.Name), run, report.Options{Color: w.color(w.OutTTY), Width: w.Width, Verbose: verbose, Dir: w.shown(dir)})
	})
	return cmd
}
