package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Selection narrows suites to some of their cases. Everything it names must be
// met; of several ids, one.
type Selection struct {
	Project    string
	Tags       []string
	Difficulty string
	IDs        []string // globs: * stands for any text, ? for any character
}

// Apply gives the suites with the cases that are selected; suites without any
// are left out. Selecting nothing is an error that says which condition left
// nothing and what there is, and so is a tag or an id that no case has: a name
// that was mistyped must not be passed over in silence.
func (s Selection) Apply(suites []*eval.Suite) ([]*eval.Suite, error) {
	var met []string
	for _, f := range s.filters() {
		for _, one := range f.oneOf {
			if !slices.ContainsFunc(suites, func(s *eval.Suite) bool { return slices.ContainsFunc(s.Cases, one.keep) }) {
				return nil, nothing(suites, one, met)
			}
		}
		suites = f.apply(suites)
		met = append(met, f.what())
	}
	return suites, nil
}

// filter is one condition of a selection: a case meets it that has one of the
// values.
type filter struct {
	label string // the property it looks at
	oneOf []wanted
}

type wanted struct {
	label, value string
	keep         func(c *eval.Case) bool
}

func (s Selection) filters() (fs []filter) {
	byLabel := func(label, value string) {
		keep := func(c *eval.Case) bool { return slices.Contains(labelValues(c, label), value) }
		fs = append(fs, filter{label, []wanted{{label, value, keep}}})
	}
	if s.Project != "" {
		byLabel("project", s.Project)
	}
	if s.Difficulty != "" {
		byLabel("difficulty", s.Difficulty)
	}
	for _, tag := range s.Tags {
		byLabel("tag", tag)
	}
	if len(s.IDs) > 0 {
		ids := filter{label: "id"}
		for _, glob := range s.IDs {
			ids.oneOf = append(ids.oneOf, wanted{"id", glob, func(c *eval.Case) bool { return matchText(glob, c.ID) }})
		}
		fs = append(fs, ids)
	}
	return fs
}

func (f filter) what() string {
	quoted := make([]string, len(f.oneOf))
	for i, w := range f.oneOf {
		quoted[i] = strconv.Quote(w.value)
	}
	return f.label + " " + strings.Join(quoted, " or ")
}

func (f filter) apply(suites []*eval.Suite) (out []*eval.Suite) {
	drop := func(c *eval.Case) bool {
		return !slices.ContainsFunc(f.oneOf, func(w wanted) bool { return w.keep(c) })
	}
	for _, s := range suites {
		narrowed := *s
		narrowed.Cases = slices.DeleteFunc(slices.Clone(s.Cases), drop)
		if len(narrowed.Cases) > 0 {
			out = append(out, &narrowed)
		}
	}
	return out
}

// nothing says that no case is as wanted, and what there would have been.
func nothing(suites []*eval.Suite, w wanted, met []string) error {
	var there []string
	n := 0
	for _, s := range suites {
		n += len(s.Cases)
		there = append(there, values(s.Cases, w.label)...)
	}
	slices.Sort(there)
	there = slices.Compact(there)
	text := fmt.Sprintf("none of the %d cases", n)
	if len(met) > 0 {
		text += " with " + strings.Join(met, " and ")
	}
	text += fmt.Sprintf(" has %s %q", w.label, w.value)
	if near := kind.Near(w.value, there); near != "" {
		return fmt.Errorf("%s (did you mean %q?)", text, near)
	}
	const most = 12
	switch {
	case len(there) == 0:
	case len(there) <= most:
		text += "; there is " + strings.Join(there, ", ")
	default:
		text += fmt.Sprintf("; there is %s and %d more", strings.Join(there[:most], ", "), len(there)-most)
	}
	return errors.New(text)
}

// matchText matches a whole text with a glob. Unlike for paths, * goes over
// slashes.
func matchText(glob, s string) bool {
	g, t := []rune(glob), []rune(s)
	star, resume := -1, 0 // the last * and where the text after it was tried
	i, j := 0, 0
	for j < len(t) {
		switch {
		case i < len(g) && g[i] == '*':
			star, resume = i, j
			i++
		case i < len(g) && (g[i] == '?' || g[i] == t[j]):
			i++
			j++
		case star >= 0:
			resume++
			i, j = star+1, resume
		default:
			return false
		}
	}
	for i < len(g) && g[i] == '*' {
		i++
	}
	return i == len(g)
}
