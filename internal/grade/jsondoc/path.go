package jsondoc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Path leads from a JSON value to values inside it: $.a.b[0]['c d'][*].
type Path []Step

// Step is one move: into a member by name, into an entry by index, or into
// every one.
type Step struct {
	Name  string
	Index int
	Move  Move
}

// Move says how a [Step] leads on.
type Move int

// The moves.
const (
	ByName Move = iota
	ByIndex
	Every
)

// Parse reads a path. The leading $ may be left out.
func Parse(text string) (Path, error) {
	rest := strings.TrimPrefix(text, "$")
	if rest == text && rest != "" && rest[0] != '[' {
		rest = "." + rest // as if the $ stood there
	}
	if text == "" {
		return nil, errors.New("the path is empty")
	}
	var p Path
	for rest != "" {
		var s Step
		var err error
		at := len(text) - len(rest)
		switch rest[0] {
		case '.':
			s, rest, err = parseDotted(rest[1:])
		case '[':
			s, rest, err = parseBracketed(rest[1:])
		default:
			err = fmt.Errorf("%q: want . or [", rest[0])
		}
		if err != nil {
			return nil, fmt.Errorf("path %s, character %d: %w", reason.Quote(text), max(0, at)+1, err)
		}
		p = append(p, s)
	}
	return p, nil
}

func parseDotted(rest string) (Step, string, error) {
	if strings.HasPrefix(rest, ".") {
		return Step{}, "", errors.New("searching at any depth (..) is not supported")
	}
	end := strings.IndexAny(rest, ".[]'\"")
	if end < 0 {
		end = len(rest)
	}
	name := rest[:end]
	switch {
	case name == "":
		return Step{}, "", errors.New("a name is missing after the dot")
	case strings.TrimSpace(name) != name:
		return Step{}, "", errors.New(`a name with spaces at its ends needs brackets and quotes, like ["a "]`)
	case name == "*":
		return Step{Move: Every}, rest[end:], nil
	}
	return Step{Name: name}, rest[end:], nil
}

func parseBracketed(rest string) (Step, string, error) {
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		return parseQuoted(rest)
	}
	inner, after, closed := strings.Cut(rest, "]")
	switch inner = strings.TrimSpace(inner); {
	case !closed:
		return Step{}, "", errors.New("the [ is not closed")
	case inner == "*":
		return Step{Move: Every}, after, nil
	case strings.HasPrefix(inner, "?"):
		return Step{}, "", errors.New("filters are not supported: use [*] and a comparison")
	case strings.ContainsAny(inner, ":,"):
		return Step{}, "", errors.New("slices and lists of indexes are not supported: use one index or [*]")
	}
	i, err := strconv.Atoi(inner)
	if err != nil {
		return Step{}, "", fmt.Errorf("[%s] is not an index: put names in quotes, like ['name']", reason.Cut(inner, 20))
	}
	return Step{Index: i, Move: ByIndex}, after, nil
}

// parseQuoted reads a name in quotes; a backslash takes the next character as
// it is.
func parseQuoted(rest string) (Step, string, error) {
	mark := rest[0]
	var name strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest):
			i++
			name.WriteByte(rest[i])
		case c == mark:
			after, ok := strings.CutPrefix(rest[i+1:], "]")
			if !ok {
				return Step{}, "", errors.New("a ] is missing after the quoted name")
			}
			return Step{Name: name.String()}, after, nil
		default:
			name.WriteByte(c)
		}
	}
	return Step{}, "", errors.New("the quoted name is not closed")
}

// From gives the values the path leads to, in document order, members of an
// object by name.
func (p Path) From(doc any) []any {
	at := []any{doc}
	for _, s := range p {
		var next []any
		for _, v := range at {
			next = s.into(next, v)
		}
		at = next
	}
	return at
}

func (s Step) into(out []any, v any) []any {
	switch v := v.(type) {
	case map[string]any:
		if s.Move == Every {
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out = append(out, v[k])
			}
			return out
		}
		if member, ok := v[s.Name]; ok && s.Move == ByName {
			return append(out, member)
		}
	case []any:
		if s.Move == Every {
			return append(out, v...)
		}
		i := s.Index
		if i < 0 {
			i += len(v) // from the end
		}
		if s.Move == ByIndex && i >= 0 && i < len(v) {
			return append(out, v[i])
		}
	}
	return out
}

// Many tells whether the path can lead to more than one value.
func (p Path) Many() bool {
	return slices.ContainsFunc(p, func(s Step) bool { return s.Move == Every })
}

// LastEvery is the place of the last [*] of a path, or -1.
func (p Path) LastEvery() int {
	for i, s := range slices.Backward(p) {
		if s.Move == Every {
			return i
		}
	}
	return -1
}
