package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

func newListCmd(w *World) *cobra.Command {
	o := new(session.Select)
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list [SUITE…]",
		Short: "List the cases of suites",
		Example: "  mettle list\n" +
			"  mettle list suites/ -p mina -d basic\n" +
			"  mettle list --json | jq .id",
	}
	selectFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each case as a line of JSON")
	withEnvironment(w, cmd, func(_ *cobra.Command, args []string) error {
		o.Suites = args
		l, err := session.Load(w.session(), o, nil, nil)
		if err != nil {
			return err
		}
		if asJSON {
			return listJSON(w, l)
		}
		return listTable(w, l)
	})
	return cmd
}

func listJSON(w *World, l *session.Loaded) error {
	enc := json.NewEncoder(w.Stdout)
	enc.SetEscapeHTML(false)
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			if err := enc.Encode(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func listTable(w *World, l *session.Loaded) error {
	tw := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
	cases := 0
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			cases++
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s", c.ID, c.Difficulty, c.Tool, term.Sanitize(c.Name))
			if len(c.Tags) > 0 {
				fmt.Fprintf(tw, "\t%s", strings.Join(c.Tags, ","))
			}
			fmt.Fprintln(tw)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	w.printf("%s in %s\n", count(cases, "case"), count(len(l.Suites), "suite"))
	return nil
}
