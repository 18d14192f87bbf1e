package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/version"
)

// newVersionCmd is there for help and completion; the bare command is answered
// by package version before main runs.
func newVersionCmd(w *World) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  mettle version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(w.Stdout, version.Line())
			return err
		},
	}
}
