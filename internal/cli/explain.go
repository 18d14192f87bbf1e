package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	lintreport "github.com/mettle-eval/mettle/internal/report/lint"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/target"
)

func newExplainCmd(w *World) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [KIND]",
		Short:   "Explain a rule or a target, with an example",
		Example: "  mettle explain\n  mettle explain matches_regex\n  mettle explain frontmatter-quote",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return explainAll(w.Stdout)
			}
			return explain(w.Stdout, args[0])
		},
	}
}

func explainable() []string {
	return slices.Concat(grade.Kinds.Names(), target.Kinds.Names(), []string{"gates"}, lint.RuleNames())
}

func explainAll(out io.Writer) error {
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "Rules of a case's validations:")
	for _, k := range grade.Kinds {
		fmt.Fprintf(tw, "  %s\t%s\n", k.Name, k.Doc)
	}
	fmt.Fprintln(tw, "\nTargets:")
	for _, k := range target.Kinds {
		fmt.Fprintf(tw, "  %s\t%s\n", k.Name, k.Doc)
	}
	fmt.Fprintln(tw, "\nFurther:\n  gates\tConditions on a whole run or suite.")
	fmt.Fprintln(tw, "\nRules of mettle lint:")
	for _, r := range lint.Rules() {
		fmt.Fprintf(tw, "  %s\t%s\n", r.ID, r.Doc)
	}
	return tw.Flush()
}

func explain(out io.Writer, name string) error {
	if k, ok := grade.Kinds.Find(name); ok {
		explainKind(out, k.Name, k.Doc, k.Explain, k.Example, kind.Fields(k.New()))
		return nil
	}
	if k, ok := target.Kinds.Find(name); ok {
		explainKind(out, k.Name, k.Doc, k.Explain, k.Example, kind.Fields(k.New()))
		return nil
	}
	if name == "gates" {
		explainGates(out)
		return nil
	}
	if lintreport.Explain(out, name) {
		return nil
	}
	if near := kind.Near(name, explainable()); near != "" {
		return usagef("nothing is named %q (did you mean %q?)", name, near)
	}
	return usagef("nothing is named %q; mettle explain lists what there is", name)
}

func explainKind(out io.Writer, name, doc, long, example string, fields []kind.Field) {
	fmt.Fprintf(out, "%s: %s\n", name, doc)
	if long != "" {
		fmt.Fprintf(out, "\n%s\n", strings.TrimSpace(long))
	}
	if len(fields) > 0 {
		fmt.Fprintln(out, "\nParameters:")
		tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, f := range fields {
			fmt.Fprintf(tw, "  %s\t%s\t%s\n", f.Name, f.Type, paramDoc(f))
		}
		_ = tw.Flush()
	}
	if example != "" {
		fmt.Fprintf(out, "\nExample:\n%s\n", indent(strings.TrimSpace(example)))
	}
}

func paramDoc(f kind.Field) string {
	switch {
	case f.Required:
		return f.Doc + " (required)"
	case f.Default != "":
		return f.Doc + " (default " + f.Default + ")"
	}
	return f.Doc
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

func explainGates(out io.Writer) {
	fmt.Fprintf(out, "gates: Conditions on a whole run or suite.\n\n"+
		"A gate is metric{label=value,…} comparison bound. Without gates a suite fails on any\n"+
		"failed case. Cases without a verdict (errors, unscored) make a run incomplete, unless a\n"+
		"gate on errors or unscored says how many are allowed.\n\n"+
		"Metrics: %s\nLabels:  %s\n\n"+
		"Example:\n  gates:\n    - pass_rate{difficulty=basic} >= 90%%\n    - failed{tag=smoke} == 0\n    - latency_p95 <= 2s\n    - errors <= 2\n",
		strings.Join(eval.GateMetrics, ", "), strings.Join(eval.GateLabels, ", "))
}
