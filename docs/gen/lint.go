package main

import (
	"fmt"
	"strings"

	lintreport "github.com/mettle-eval/mettle/internal/report/lint"
	"github.com/mettle-eval/mettle/internal/skill/lint"
)

// lintRule is a rule of the linter as its page shows it.
type lintRule struct {
	*lint.Rule
	Example lint.Example
	Levels  string // severity in each profile
}

// lintFamily is the rules of one family.
type lintFamily struct {
	Name  string
	Rules []lintRule
}

// lintFamilies lists the linter's rules.
func lintFamilies() (out []lintFamily, err error) {
	linters, err := profileLinters()
	if err != nil {
		return nil, err
	}
	for _, r := range lint.Rules() {
		if len(out) == 0 || out[len(out)-1].Name != r.Family {
			out = append(out, lintFamily{Name: r.Family})
		}
		x, _ := r.Example()
		var levels []string
		for i, p := range lint.Profiles() {
			levels = append(levels, p.Name+" *"+string(linters[i].Severity(r))+"*")
		}
		f := &out[len(out)-1]
		f.Rules = append(f.Rules, lintRule{r, x, strings.Join(levels, ", ")})
	}
	return out, nil
}

func profileLinters() (out []*lint.Linter, err error) {
	for _, p := range lint.Profiles() {
		l, err := lint.NewLinter(lint.Options{Profile: p.Name})
		if err != nil {
			return nil, fmt.Errorf("read profile %s: %w", p.Name, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// lintIndex lists the linter's rules in a table.
func lintIndex() (string, error) {
	linters, err := profileLinters()
	if err != nil {
		return "", err
	}
	head := []string{"rule", "what is wrong"}
	for _, p := range lint.Profiles() {
		head = append(head, p.Name)
	}
	var rows [][]string
	for _, r := range lint.Rules() {
		row := []string{"[" + code(r.ID) + "](#" + anchor(r.ID) + ")", plain(r.Doc)}
		for _, l := range linters {
			row = append(row, strings.TrimPrefix(string(l.Severity(r)), string(lint.Off)))
		}
		fix := ""
		if r.Fixes {
			fix = "yes"
		}
		rows = append(rows, append(row, fix))
	}
	return table(append(head, "`--fix`"), rows), nil
}

// lintProfiles lists the built-in profiles.
func lintProfiles() string {
	var rows [][]string
	for _, p := range lint.Profiles() {
		keys := make([]string, len(p.Keys))
		for i, k := range p.Keys {
			keys[i] = code(k)
		}
		rows = append(rows, []string{code(p.Name), plain(p.Doc), strings.Join(keys, " ")})
	}
	return table([]string{"profile", "for", "frontmatter keys it adds"}, rows)
}

// lintFormats lists the formats findings can be written in.
func lintFormats() string {
	var rows [][]string
	for _, f := range lintreport.Formats {
		rows = append(rows, []string{code(f.Name), plain(f.Doc)})
	}
	return table([]string{"format", "what it is"}, rows)
}
