package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

func newCassetteCmd(w *World) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cassette",
		Short: "Manage recordings made with mettle run --record",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newDriftCmd(w))
	return cmd
}

func newDriftCmd(w *World) *cobra.Command {
	o := new(session.DriftOptions)
	cmd := &cobra.Command{
		Use:   "drift DIR",
		Short: "Make the calls of a recording again and show what changed",
		Long: "Makes every call of a recording once more and compares the reply with the recorded\n" +
			"one: verdicts of judges by their scores, answers by their words. Servers are those\n" +
			"of mettle.yaml, the built-in one, and for the rest what --url or --command says.\n" +
			"The recording stays as it is. Exits with 1 when something changed.",
		Example: "  mettle cassette drift tapes/quality\n  mettle cassette drift tapes/quality --budget 1usd\n" +
			"  mettle cassette drift tapes/docs --url http://localhost:3000",
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&o.Config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.IntVar(&o.Concurrency, "concurrency", session.DefaultConcurrency, "calls at a time")
	f.StringVar(&o.Budget, "budget", "", "most that may be spent on models, such as 1usd, '200k tokens' or 10m")
	f.StringVar(&o.URL, "url", "", "address of the MCP server of the recording, where mettle.yaml does not name it")
	f.StringVar(&o.Command, "command", "", "command line of the stdio MCP server of the recording")
	f.StringArrayVar(&o.Headers, "header", nil, "HTTP header for --url, as 'Name: value'; take secrets from the environment with ${NAME}")
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		o.Dir = args[0]
		return runDrift(cmd.Context(), w, o)
	}, "config")
	return cmd
}

func runDrift(ctx context.Context, w *World, o *session.DriftOptions) error {
	drifted, err := session.Drift(ctx, w.session(), *o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		w.printf("interrupted: some calls were made again, and nothing can be said of the others\n")
		return &verdictError{ExitInterrupted}
	}
	return printDrift(w, drifted)
}

func printDrift(w *World, drifts []session.Drifted) error {
	var used eval.Usage
	changes, failed := 0, 0
	for _, d := range drifts {
		used.Add(&d.Usage)
		line := ""
		switch {
		case d.Err != nil:
			failed++
			line = term.Paint(w.color(w.OutTTY)).Yellow("! ") + term.Sanitize(d.Title) + ": " + term.Sanitize(d.Err.Error())
		case d.Change != "":
			changes++
			line = term.Paint(w.color(w.OutTTY)).Red("≠ ") + term.Sanitize(d.Title) + ": " + term.Sanitize(d.Change)
		default:
			continue
		}
		if _, err := fmt.Fprintln(w.Stdout, line); err != nil {
			return err
		}
	}
	fmt.Fprintf(w.Stdout, "%s asked again: %d say the same, %d changed, %d without a reply\n",
		count(len(drifts), "call"), len(drifts)-changes-failed, changes, failed)
	if used.Unpriced == 0 {
		w.printf("spent: %s\n", used.Cost)
	}
	switch {
	case failed > 0:
		return &verdictError{ExitIncomplete}
	case changes > 0:
		return &verdictError{ExitNotMet}
	}
	return nil
}
