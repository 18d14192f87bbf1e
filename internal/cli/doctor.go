package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

func newDoctorCmd(w *World) *cobra.Command {
	o := new(session.DoctorOptions)
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check which models can be asked",
		Long: "Looks for keys and endpoints, asks the vendors whether they accept the key and know\n" +
			"the model, and has the judge answer one small question by a schema. Prints what\n" +
			"will work and what is missing. Costs a few tokens of the judge.",
		Example: "  mettle doctor\n" +
			"  mettle doctor --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol\n" +
			"  mettle doctor --model ollama:qwen3 --judge ollama:gpt-oss",
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.Config, "config", "", "configuration file (default: mettle.yaml here or in a folder above)")
	f.StringVar(&o.Model, "model", "", "model that answers, as provider:model (default: models.answer in mettle.yaml)")
	f.StringVar(&o.Judge, "judge", "", "model that judges, as provider:model (default: models.judge in mettle.yaml)")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "limit of each question to a vendor")
	withEnvironment(w, cmd, func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), w, o) })
	return cmd
}

func runDoctor(ctx context.Context, w *World, o *session.DoctorOptions) error {
	d, err := session.Doctor(ctx, w.session(), *o)
	if err != nil {
		return err
	}
	paint := term.Paint(w.color(w.OutTTY))
	section := ""
	for _, f := range d.Findings {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(w.Stdout, "%s\n", paint.Bold(section))
		}
		mark := map[session.DoctorMark]string{session.Works: paint.Green("✓"), session.Fails: paint.Red("✗"), session.Unset: paint.Dim("-")}[f.Mark]
		if _, err := fmt.Fprintf(w.Stdout, "  %s %-36s %s\n", mark, f.What, term.Sanitize(f.Detail)); err != nil {
			return err
		}
	}
	if d.Broken > 0 {
		return &verdictError{ExitIncomplete}
	}
	return nil
}
