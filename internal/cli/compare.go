package cli

import (
	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/session"
)

func newCompareCmd(w *World) *cobra.Command {
	o := new(storeOptions)
	verbose := false
	cmd := &cobra.Command{
		Use:   "compare RUN BASE",
		Short: "Compare two runs",
		Long: "Prints two stored runs side by side: pass rates by difficulty, tool and project, and\n" +
			"the cases that one of them does better. A run is an id, the start of one, a run's\n" +
			"folder, or latest.",
		Example: "  mettle compare latest 20260102-1504",
		Args:    cobra.ExactArgs(2),
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&verbose, "verbose", false, "name every case")
	withEnvironment(w, cmd, func(_ *cobra.Command, args []string) error {
		var runs [2]*eval.Run
		for i, name := range args {
			dir, err := o.find(w, name)
			if err != nil {
				return err
			}
			if runs[i], err = session.Open(dir); err != nil {
				return err
			}
		}
		return report.Compare(w.Stdout, eval.Compare(runs[1], runs[0]), runs[0].ID, runs[1].ID,
			report.Options{Color: w.color(w.OutTTY), Width: w.Width, Verbose: verbose})
	})
	return cmd
}
