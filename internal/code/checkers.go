package code

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/program"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Checkers are programs outside this one that decide on the syntax of their languages. Which ones is said by name, never
// by what happens to be on the machine, so that the same source gets the same verdict everywhere. A nil *Checkers uses
// the parsers of this package only.
type Checkers struct {
	programs map[string]*program.Program // by name
}

// CheckerNames lists the programs that [NewCheckers] knows.
func CheckerNames() []string {
	var names []string
	for _, l := range languages {
		if l.program != "" {
			names = append(names, l.program)
		}
	}
	slices.Sort(names)
	return names
}

// NewCheckers finds the named programs in the PATH of an environment in the form of os.Environ, which they are also
// started with. The error lists all that are unknown or not found.
func NewCheckers(names, environ []string) (*Checkers, error) {
	if len(names) == 0 {
		return nil, nil
	}
	c := &Checkers{programs: map[string]*program.Program{}}
	var errs []error
	for _, name := range names {
		if known := CheckerNames(); !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("unknown checker %q, want one of %s", name, strings.Join(known, ", ")))
			continue
		}
		p, err := program.Find(name, environ)
		errs = append(errs, err)
		c.programs[name] = p
	}
	return c, errors.Join(errs...)
}

// Describe gives what each program says of its version, by name; nil when there are none.
func (c *Checkers) Describe() map[string]string {
	if c == nil {
		return nil
	}
	versions := make(map[string]string, len(c.programs))
	for name, p := range c.programs {
		versions[name] = p.Version
	}
	return versions
}

// String lists the programs with their versions, for messages.
func (c *Checkers) String() string { return DescribeCheckers(c.Describe()) }

// DescribeCheckers writes versions by name, as [Checkers.Describe] gives them, on one line.
func DescribeCheckers(versions map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, fmt.Sprintf("%s (%s)", name, versions[name]))
	}
	return cmp.Or(strings.Join(parts, ", "), "no program")
}

// Verdict is the outcome of a check of syntax.
type Verdict struct {
	Problems []Problem
	Checked  bool   // false: nothing can be said of the source, see [Syntax]
	Checker  string // who decided: "esbuild", "mettle", "python3 3.11.7"
}

// Check is [Syntax] with the help of the programs. The program of a language decides alone: if it crashes or takes too
// long, the source is not checked, because a verdict must not depend on how busy the machine is. What the program cannot
// read by its nature, such as a notebook's cell or a pragma that asks for another compiler, is left to the parser of this
// package. No code is run.
func (c *Checkers) Check(ctx context.Context, lang, src string) Verdict {
	l := find(Canonical(lang))
	if l == nil || l.syntax == nil {
		return Verdict{}
	}
	if c != nil && c.programs[l.program] != nil && len(src) <= source.MaxSource {
		p := c.programs[l.program]
		problems, err := l.ask(ctx, p, strings.TrimPrefix(src, source.ByteOrderMark))
		if !errors.Is(err, program.ErrDeclined) {
			for i := range problems {
				problems[i].Checker = p.Label
				problems[i].Elision = elided(src, problems[i])
			}
			return Verdict{Problems: problems, Checked: err == nil, Checker: p.Label}
		}
	}
	problems, checked := l.check(src)
	if !checked {
		return Verdict{}
	}
	return Verdict{Problems: problems, Checked: true, Checker: l.checker}
}
