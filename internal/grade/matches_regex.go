package grade

import (
	"context"
	"regexp"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// matchesRegex passes when a pattern is found in the answer.
type matchesRegex struct {
	Pattern       string `yaml:"pattern" json:"pattern" jsonschema:"regular expression to be found in the answer" check:"required,min=1"`
	CaseSensitive bool   `yaml:"caseSensitive" json:"caseSensitive,omitempty" jsonschema:"tell upper from lower case" check:"default=false"`
	Multiline     bool   `yaml:"multiline" json:"multiline,omitempty" jsonschema:"^ and $ also match at the ends of lines" check:"default=false"`
	DotAll        bool   `yaml:"dotAll" json:"dotAll,omitempty" jsonschema:". also matches line ends" check:"default=false"`
	Affirmed      bool   `yaml:"affirmed" json:"affirmed,omitempty" jsonschema:"only matches in a sentence that says so count: no question, no heading, nothing negated" check:"default=false"`

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
leaves the check unscored. ` + "`/pattern/gi`" + ` pasted with its slashes and flags is refused, as it would only match the slashes.

With ` + "`affirmed: true`" + ` each sentence of the prose is searched by itself, and a match counts only where the sentence states it. Questions state
nothing, neither do headings, and neither do sentences with a negation (not, n't, never, no, nor, neither, cannot): "the limit is
not 32" does not state that the limit is 32. Where the fact itself is negative, the pattern names the negation. Code blocks are left
out; ` + "`code_requirements`" + ` looks into them.`,
	Example: `- type: matches_regex
  pattern: '@method\s+(async\s+)?\w+'
- type: matches_regex
  pattern: ^#{1,3} Usage$
  multiline: true
- type: matches_regex
  pattern: \b32\b.*state fields
  affirmed: true
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
	if g.Affirmed {
		return g.gradeAffirmed(a.Response.Text)
	}
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

// gradeAffirmed searches each sentence by itself.
func (g *matchesRegex) gradeAffirmed(text string) (eval.Score, error) {
	denied := ""
	for _, sentence := range sentences(text) {
		match, found, err := g.pattern.find(sentence)
		switch {
		case err != nil:
			return eval.Score{}, err
		case !found:
		case !g.negated(sentence, match):
			return eval.PassIf(true, "%s states %s", quote(oneLine(sentence, shown)), g.pattern), nil
		case denied == "":
			denied = oneLine(sentence, shown)
		}
	}
	if denied != "" {
		return eval.PassIf(false, "no sentence states %s; negated in %s", g.pattern, quote(denied)), nil
	}
	return eval.PassIf(false, "no sentence states %s", g.pattern), nil
}

// negated tells whether a sentence denies what matches in it. A pattern that
// names a negation means the one that it matches.
func (g *matchesRegex) negated(sentence, match string) bool {
	if negation().MatchString(g.Pattern) {
		sentence = strings.Replace(sentence, match, " ", 1)
	}
	return negation().MatchString(sentence)
}

// negation finds the words that turn a statement around.
var negation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(not|never|no|nor|neither|cannot|untrue)\b|n['’]t\b`)
})

// sentenceEnd finds where a sentence of Markdown prose ends: after its mark, at
// a blank line, and before a list item, a heading, a quotation or a row of a table.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("[.!?;]+[\"')*_`\\]]*(\\s+|$)|\\n\\s*\\n|\\n\\s*([-*+>#|]|\\d+[.)]\\s)")
})

// heading finds headings, and lines that are bold as a whole, with a citation.
var heading = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(#{1,6}[ \t].*|\*\*[^*\n]+\*\*[ \t]*(\[[^\]\n]*\])?)[ \t]*$`)
})

// sentences are the statements of an answer's prose. Questions, headings and
// code blocks are not among them.
func sentences(text string) (out []string) {
	prose, at := "", 0
	for _, b := range code.Blocks(text) {
		prose += text[at:max(b.Start, at)] + "\n\n"
		at = max(b.End, at)
	}
	prose = heading().ReplaceAllString(prose+text[at:], "\n\n")
	at = 0
	for _, end := range append(sentenceEnd().FindAllStringIndex(prose, -1), []int{len(prose), len(prose)}) {
		sentence, mark := strings.Join(strings.Fields(prose[at:end[0]]), " "), prose[end[0]:end[1]]
		if sentence != "" && !strings.Contains(mark, "?") {
			out = append(out, sentence)
		}
		at = end[1]
	}
	return out
}
