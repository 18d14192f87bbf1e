package grade

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
)

// codeMatcher finds a pattern in code: text, re: and a regular expression, or
// call: and the name of a function.
type codeMatcher struct {
	text    string
	pattern *pattern
}

func compileMatcher(s string) (*codeMatcher, error) {
	expression, ok := strings.CutPrefix(s, "re:")
	if name, call := strings.CutPrefix(s, "call:"); call {
		expression, ok = `(?<![\w$])`+strings.NewReplacer(".", `\.`, "$", `\$`).Replace(name)+`\s*\(`, true
	}
	if !ok {
		return &codeMatcher{text: s}, nil
	}
	p, err := compilePattern(expression, patternFlags{sensitive: true})
	return &codeMatcher{pattern: p}, err
}

// find gives the line of the answer where the code has the pattern first, 0 for
// nowhere.
func (m *codeMatcher) find(blocks []code.Block) (line int, err error) {
	for _, b := range blocks {
		at := strings.Index(b.Text, m.text)
		if m.pattern != nil {
			found, ok, err := m.pattern.find(b.Text)
			if err != nil {
				return 0, err
			}
			if at = -1; ok {
				at = strings.Index(b.Text, found)
			}
		}
		if at >= 0 {
			line, _ := b.Place(strings.Count(b.Text[:at], "\n")+1, 1)
			return line, nil
		}
	}
	return 0, nil
}

// answerCode is the code of an answer: its blocks that are not blank.
func answerCode(r *eval.Response) []code.Block {
	return slices.DeleteFunc(code.Blocks(r.Text), func(b code.Block) bool { return trim(b.Text) == "" })
}
