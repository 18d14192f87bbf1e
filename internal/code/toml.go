package code

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

const tomlChecker = "go-toml"

var tomlDialect = scan.Dialect{HashComments: true, TripleQuotes: true}

// maxTOML bounds what the parser is given: its time grows with the square of the keys of one table. At this bound the
// worst input found, 9,000 keys, takes 0.8 s on a busy machine; at twice the size it takes 4 s.
const maxTOML = 64 << 10

// tomlSyntax checks a TOML 1.1 document; 1.0 differs only in what it does not allow yet. Tables and keys must not be
// defined twice.
func tomlSyntax(src string) ([]Problem, bool) {
	if len(src) > maxTOML {
		return nil, false
	}
	var document map[string]any
	err := toml.Unmarshal([]byte(src), &document)
	var wrong *toml.DecodeError
	switch {
	case err == nil:
		return nil, true
	case !errors.As(err, &wrong) || strings.Contains(err.Error(), "nested more than"):
		return nil, false
	}
	line, col := wrong.Position()
	message := strings.TrimPrefix(wrong.Error(), "toml: ")
	return []Problem{source.ProblemAt(src, source.ByteOffset(src, line, col), message, tomlChecker)}, true
}
