package grade

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// path leads from a JSON value to values inside it: $.a.b[0]['c d'][*].
type path []step

// step is one move: into a member by name, into an entry by index, or into
// every one.
type step struct {
	name  string
	index int
	move  move
}

type move int

const (
	byName move = iota
	byIndex
	every
)

// parsePath reads a path. The leading $ may be left out.
func parsePath(text string) (path, error) {
	rest := strings.TrimPrefix(text, "$")
	if rest == text && rest != "" && rest[0] != '[' {
		rest = "." + rest // as if the $ stood there
	}
	if text == "" {
		return nil, errors.New("the path is empty")
	}
	var p path
	for rest != "" {
		var s step
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
			return nil, fmt.Errorf("path %s, character %d: %w", quote(text), max(0, at)+1, err)
		}
		p = append(p, s)
	}
	return p, nil
}

func parseDotted(rest string) (step, string, error) {
	if strings.HasPrefix(rest, ".") {
		return step{}, "", errors.New("searching at any depth (..) is not supported")
	}
	end := strings.IndexAny(rest, ".[]'\"")
	if end < 0 {
		end = len(rest)
	}
	name := rest[:end]
	switch {
	case name == "":
		return step{}, "", errors.New("a name is missing after the dot")
	case strings.TrimSpace(name) != name:
		return step{}, "", errors.New(`a name with spaces at its ends needs brackets and quotes, like ["a "]`)
	case name == "*":
		return step{move: every}, rest[end:], nil
	}
	return step{name: name}, rest[end:], nil
}

func parseBracketed(rest string) (step, string, error) {
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		return parseQuoted(rest)
	}
	inner, after, closed := strings.Cut(rest, "]")
	switch inner = strings.TrimSpace(inner); {
	case !closed:
		return step{}, "", errors.New("the [ is not closed")
	case inner == "*":
		return step{move: every}, after, nil
	case strings.HasPrefix(inner, "?"):
		return step{}, "", errors.New("filters are not supported: use [*] and a comparison")
	case strings.ContainsAny(inner, ":,"):
		return step{}, "", errors.New("slices and lists of indexes are not supported: use one index or [*]")
	}
	i, err := strconv.Atoi(inner)
	if err != nil {
		return step{}, "", fmt.Errorf("[%s] is not an index: put names in quotes, like ['name']", cut(inner, 20))
	}
	return step{index: i, move: byIndex}, after, nil
}

// parseQuoted reads a name in quotes; a backslash takes the next character as
// it is.
func parseQuoted(rest string) (step, string, error) {
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
				return step{}, "", errors.New("a ] is missing after the quoted name")
			}
			return step{name: name.String()}, after, nil
		default:
			name.WriteByte(c)
		}
	}
	return step{}, "", errors.New("the quoted name is not closed")
}

// from gives the values the path leads to, in document order, members of an
// object by name.
func (p path) from(doc any) []any {
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

func (s step) into(out []any, v any) []any {
	switch v := v.(type) {
	case map[string]any:
		if s.move == every {
			for _, k := range slices.Sorted(maps.Keys(v)) {
				out = append(out, v[k])
			}
			return out
		}
		if member, ok := v[s.name]; ok && s.move == byName {
			return append(out, member)
		}
	case []any:
		if s.move == every {
			return append(out, v...)
		}
		i := s.index
		if i < 0 {
			i += len(v) // from the end
		}
		if s.move == byIndex && i >= 0 && i < len(v) {
			return append(out, v[i])
		}
	}
	return out
}

// many tells whether the path can lead to more than one value.
func (p path) many() bool {
	return slices.ContainsFunc(p, func(s step) bool { return s.move == every })
}
