package cli

import (
	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/schema"
)

func newSchemaCmd(w *World) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [suite|config]",
		Short: "Print the JSON Schema of suite files or of mettle.yaml",
		Long: "Prints the JSON Schema. An editor with a YAML language server completes and checks a\n" +
			"file whose first line is\n\n  # yaml-language-server: $schema=suite.schema.json",
		Example:   "  mettle schema > suite.schema.json\n  mettle schema config > config.schema.json",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"suite", "config"},
		RunE: func(_ *cobra.Command, args []string) error {
			text := schema.Suite
			if len(args) > 0 && args[0] == "config" {
				text = schema.Config
			}
			_, err := w.Stdout.Write(text)
			return err
		},
	}
}
