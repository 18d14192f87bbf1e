package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/session"
)

func newValidateCmd(w *World) *cobra.Command {
	o := new(session.Select)
	cmd := &cobra.Command{
		Use:   "validate [SUITE…]",
		Short: "Check suites and mettle.yaml without asking a server",
		Long: "Loads suites and mettle.yaml as run would and lists every problem of every file\n" +
			"with its place. Nothing is asked of any server.",
		Example: "  mettle validate\n  mettle validate suites/*.yaml",
	}
	cmd.Flags().StringVar(&o.Config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	skillFlags(cmd.Flags(), o)
	withEnvironment(w, cmd, func(_ *cobra.Command, args []string) error {
		o.Suites = args
		l, err := session.Load(w.session(), o, nil, nil)
		if err != nil {
			return err
		}
		cases, checks := 0, 0
		for _, s := range l.Suites {
			cases += len(s.Cases)
			for _, c := range s.Cases {
				checks += len(c.Checks)
			}
		}
		_, err = fmt.Fprintf(w.Stdout, "%s, %s, %s: no problems\n", count(len(l.Suites), "suite"), count(cases, "case"), count(checks, "check"))
		return err
	})
	return cmd
}
