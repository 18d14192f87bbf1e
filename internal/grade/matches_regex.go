package grade

import (
	"context"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// matchesRegex passes when a pattern is found in the answer.
type matchesRegex struct {
	Pattern       string `yaml:"pattern" json:"pattern" jsonschema:"regular expression to be found in the answer" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`
	Multiline     bool   `yaml:"multiline" json:"multiline,omitempty" jsonschema:"^ and $ also match at the ends of lines" check:"default=false"`
	DotAll        bool   `yaml:"dotAll" json:"dotAll,omitempty" jsonschema:". also matches line ends" check:"default=false"`

	pattern *pattern
}

var matchesRegexKind = kind.Kind[eval.Grader]{
	Name:    "matches_regex",
	NotMode: unwantedText,
	Doc:     "A regular expression is found in the answer.",
	Mode:    "pattern not found",
	Explain: `The pattern is read as JavaScript's ` + "`new RegExp(pattern, 'i')`" + ` reads it: case is ignored, ` + "`^`" + ` and ` + "`$`" + ` are the
ends of the answer, ` + "`.`" + ` stops at line ends. Lookaround, backreferences, named groups, ` + "`\\u0041`" + ` and ` + "`[^]`" + ` work. ` + "`\\p{…}`" + `
and ` + "`\\u{…}`" + ` mean what they mean under the u flag.

What only RE2 has a meaning for (` + "`\\A`" + `, ` + "`\\z`" + `, ` + "`(?i)`" + `, ` + "`(?P<name>…)`" + `, ` + "`[[:alpha:]]`" + `, ` + "`\\Q…\\E`" + `) makes the whole pattern RE2.

A pattern that does not compile is an error of the suite, not a failed check. A match that is not done after one second
leaves the check unscored. ` + "`/pattern/gi`" + ` pasted with its slashes and flags is refused, as it would only match the slashes.`,
	Example: `- type: matches_regex
  pattern: '@method\s+(async\s+)?\w+'
- type: matches_regex
  pattern: ^#{1,3} Usage$
  multiline: true
`,
	New: func() eval.Grader { return new(matchesRegex) },
}

// Check compiles the pattern.
func (g *matchesRegex) Check() (err error) {
	g.pattern, err = compilePattern(g.Pattern, patternFlags{g.CaseSensitive, g.Multiline, g.DotAll})
	if err != nil {
		return &kind.FieldError{Field: "pattern", Err: err}
	}
	return nil
}

func (g *matchesRegex) Grade(_ context.Context, a *eval.Attempt) (eval.Score, error) {
	match, found, err := g.pattern.find(a.Response.Text)
	if err != nil {
		return eval.Score{}, err
	}
	switch {
	case !found:
		return eval.PassIf(false, "nothing in the answer matches %s", g.pattern), nil
	case match == "": // lookaround, or a place between characters
		return eval.PassIf(true, "the answer matches %s", g.pattern), nil
	}
	return eval.PassIf(true, "%s matches %s", quote(match), g.pattern), nil
}
