package code

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/code/source"
)

const yamlChecker = "yaml"

// yamlSyntax reads every document of the stream. Mappings must not repeat a key.
func yamlSyntax(src string) ([]Problem, bool) {
	var problems []Problem
	decoder := yaml.NewDecoder(strings.NewReader(src))
	for len(problems) < source.MaxProblems {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if strings.Contains(err.Error(), "exceeded max depth") {
				return nil, false
			}
			return append(problems, yamlProblem(src, err)), true
		}
		problems = repeatedKeys(&document, problems)
	}
	return problems, true
}

// yamlProblem reads the place out of the parser's message, the only place where it stands.
func yamlProblem(src string, err error) Problem {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1 // the parser leaves the first line out
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, text, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, message = n, text
		}
		if strings.HasPrefix(message, "did not find expected") {
			line++ // errors of structure count lines from 0
		}
	}
	if message == "did not find expected key" || message == "did not find expected '-' indicator" {
		line = yamlBreak(src, message, line)
	}
	line, col := lineStart(src, line)
	return Problem{Line: line, Col: col, Message: message, Checker: yamlChecker}
}

// yamlBreak finds the line that breaks off a block mapping or sequence. The parser names the line where the block began;
// the one that matters is the last of the shortest beginning of the source with the same error.
func yamlBreak(src, message string, line int) int {
	const most = 64 << 10 // each step parses the source again
	if len(src) > most {
		return line
	}
	lines := strings.SplitAfter(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	return 1 + sort.Search(len(lines)-1, func(n int) bool {
		decoder := yaml.NewDecoder(strings.NewReader(strings.Join(lines[:n+1], "")))
		for {
			var document yaml.Node
			if err := decoder.Decode(&document); err != nil {
				return strings.HasSuffix(err.Error(), message)
			}
		}
	})
}

// lineStart is the place of the first visible character of a line, or of the last line when there are fewer.
func lineStart(src string, line int) (int, int) {
	text, rest := source.CutLine(src)
	n := 1
	for n < line && rest != "" {
		text, rest = source.CutLine(rest)
		n++
	}
	return n, len(text) - len(strings.TrimLeft(text, " \t")) + 1
}

// repeatedKeys adds a problem for each key that a mapping has twice. The parser bounds the depth of the tree.
func repeatedKeys(node *yaml.Node, problems []Problem) []Problem {
	if node.Kind == yaml.MappingNode && len(node.Content) > 2 {
		seen := make(map[string]int, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content) && len(problems) < source.MaxProblems; i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
				continue
			}
			id := key.ShortTag() + " " + key.Value
			if first, ok := seen[id]; ok {
				problems = append(problems, Problem{
					Line: key.Line, Col: key.Column, Checker: yamlChecker,
					Message: fmt.Sprintf("key %q is already set in line %d", key.Value, first),
				})
				continue
			}
			seen[id] = key.Line
		}
	}
	for _, child := range node.Content {
		if len(problems) >= source.MaxProblems {
			break
		}
		problems = repeatedKeys(child, problems)
	}
	return problems
}
