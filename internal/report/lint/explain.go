package lintreport

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

// Explain says what a rule of the linter is about, or which rules a
// family has. It reports whether there is one of that name.
func Explain(out io.Writer, name string) bool {
	var family []*lint.Rule
	for _, r := range lint.Rules() {
		if r.ID == name {
			explainRule(out, r)
			return true
		}
		if r.Family == name {
			family = append(family, r)
		}
	}
	if len(family) == 0 {
		return false
	}
	fmt.Fprintf(out, "%s: A family of rules of mettle lint.\n\n", name)
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range family {
		fmt.Fprintf(tw, "  %s\t%s\n", r.ID, r.Doc)
	}
	_ = tw.Flush()
	return true
}

func explainRule(out io.Writer, r *lint.Rule) {
	fmt.Fprintf(out, "%s: %s\n\n%s\n", r.ID, r.Doc, strings.Join(term.Wrap(r.Explain, 88), "\n"))
	fmt.Fprintf(out, "\nProfiles:\n")
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range lint.Profiles() {
		l, err := lint.NewLinter(lint.Options{Profile: p.Name})
		if err != nil {
			continue // a built-in profile is always whole
		}
		fmt.Fprintf(tw, "  %s\t%s\n", p.Name, l.Severity(r))
	}
	_ = tw.Flush()
	explainExample(out, r)
	comment := "<!-- mettle-ignore " + r.ID + ": the reason -->"
	if slices.Contains([]string{"description", "frontmatter", "name", "tool"}, r.Family) {
		comment = "# mettle-ignore " + r.ID + ": the reason"
	}
	fmt.Fprintf(out, "\nTo silence it in one place, write above it:\n  %s\n\nTo change what it weighs everywhere, in mettle.yaml:\n"+
		"  lint:\n    rules: {%s: off} # or error, warning, info\n", comment, r.ID)
}

func explainExample(out io.Writer, r *lint.Rule) {
	x, ok := r.Example()
	if ok {
		fmt.Fprintln(out, "\nExample:")
	}
	if x.Text != "" {
		fmt.Fprintln(out, indented(strings.TrimRight(x.Text, "\n")))
	}
	for _, f := range x.Other {
		fmt.Fprintf(out, "  %s:\n%s\n", f.Path, indented(strings.TrimRight(f.Text, "\n")))
	}
	switch {
	case x.Fixed != "":
		fmt.Fprintf(out, "\n--fix makes of it:\n%s\n", indented(strings.TrimRight(x.Fixed, "\n")))
	case r.Fixes:
		fmt.Fprintln(out, "\n--fix applies safe fixes.")
	}
}

func indented(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
