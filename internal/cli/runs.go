package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/store"
)

// storeOptions says where stored runs are.
type storeOptions struct{ config, runs string }

func (o *storeOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	cmd.Flags().StringVar(&o.runs, "runs", "", "folder runs are kept in (default .mettle/runs)")
}

func (o *storeOptions) dir(w *World) (string, error) {
	cfg, err := session.LoadConfig(w.session(), o.config)
	if err != nil {
		return "", err
	}
	return session.RunsDir(w.session(), o.runs, cfg), nil
}

// find gives the folder of the run that an argument names.
func (o *storeOptions) find(w *World, name string) (string, error) {
	root, err := o.dir(w)
	if err != nil {
		return "", err
	}
	if dir := w.abs(name); filepath.Base(name) != name {
		name = dir
	}
	dir, err := store.Find(root, name)
	if err != nil {
		return "", &usageError{Err: err}
	}
	return dir, nil
}

func newRunsCmd(w *World) *cobra.Command {
	o := new(storeOptions)
	asJSON := false
	cmd := &cobra.Command{
		Use:     "runs",
		Short:   "List stored runs, newest first",
		Example: "  mettle runs\n  mettle runs --json | jq .id",
		Args:    cobra.NoArgs,
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each run's header and summary as a line of JSON")
	withEnvironment(w, cmd, func(*cobra.Command, []string) error {
		root, err := o.dir(w)
		if err != nil {
			return err
		}
		entries, err := store.List(root)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			w.printf("no runs in %s yet: mettle run makes one\n", w.shown(root))
			return nil
		}
		if asJSON {
			return runsJSON(w, entries)
		}
		return runsTable(w, entries)
	})
	return cmd
}

func runsJSON(w *World, entries []store.Entry) error {
	enc := json.NewEncoder(w.Stdout)
	for _, e := range entries {
		if e.Err != nil {
			w.printf("%v\n", e.Err)
			continue
		}
		e.Run.Cases = nil
		if err := enc.Encode(e.Run); err != nil {
			return err
		}
	}
	return nil
}

func runsTable(w *World, entries []store.Entry) error {
	tw := tabwriter.NewWriter(w.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "RUN\tSTATUS\tVERDICT\tPASSED\tFAILED\tNO VERDICT\tTOOK\tSUITES")
	for _, e := range entries {
		if e.Err != nil {
			fmt.Fprintf(tw, "%s\tunreadable\t\t\t\t\t\t%v\n", filepath.Base(e.Dir), e.Err)
			continue
		}
		r := e.Run
		counts, took := eval.Counts{}, ""
		if r.Summary != nil {
			counts, took = r.Summary.Counts, r.Finished.Sub(r.Started).Round(time.Millisecond).String()
		}
		status := string(r.Header.Status)
		if e.Killed {
			status = "killed"
		}
		suites := fmt.Sprint(len(r.Suites))
		if len(r.Suites) == 1 {
			suites = r.Suites[0].Name
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", filepath.Base(e.Dir), status, r.Verdict, counts.Passed, counts.Failed,
			counts.Errors+counts.Unscored, took, suites)
	}
	return tw.Flush()
}
