package lint

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/skill"
)

// The parser of TypeScript and JavaScript takes a tenth of a millisecond to get ready, longer than it takes to read most
// examples. So the examples of some files are read as one program first, each in a scope of its own; when that parses,
// each of them does. What does not fit into a scope, and every program that fails, is read one by one.

const (
	maxTogether      = 32       // blocks of one file looked at in one go
	maxTogetherBytes = 32 << 10 // the parser has a bound of its own
	manyProblems     = 20       // with so many there may be others that are not listed

	// seam ends the scope of an example. An import may stand at the top of a program only, so it fails where the example
	// has left a bracket open.
	seam = "\n}\nimport\"\";\n"
)

// scoped is a block as it stands in a program of many.
type scoped struct {
	block *skill.Block
	text  string
}

// parsedTogether finds the blocks among some that are known to parse because the program made of them does.
func parsedTogether(blocks []*skill.Block) map[*skill.Block]bool {
	var lists [2][]scoped
	for _, b := range blocks {
		kind := slices.Index(together[:], b.Lang)
		if kind < 0 {
			continue
		}
		if text, ok := scopeText(b.Text); ok {
			lists[kind] = append(lists[kind], scoped{b, text})
		}
	}
	good := map[*skill.Block]bool{}
	for kind, list := range lists {
		for len(list) > 1 {
			n, size := 0, 0
			for n < len(list) && size+len(list[n].text) <= maxTogetherBytes {
				size += len(list[n].text)
				n++
			}
			parseTogether(together[kind], list[:n], good)
			list = list[max(n, 1):]
		}
	}
	return good
}

// together are the languages whose examples are read as one program.
var together = [2]string{"typescript", "javascript"}

// parseTogether notes the blocks that parse as one program, and tries halves when they do not. A block alone is left to
// be checked by itself.
func parseTogether(lang string, list []scoped, good map[*skill.Block]bool) {
	if len(list) < 2 {
		return
	}
	var program strings.Builder
	for _, s := range list {
		program.WriteString("{\n")
		program.WriteString(s.text)
		program.WriteString(seam)
	}
	if problems, checked := code.Syntax(lang, program.String()); checked && len(problems) < manyProblems && len(withoutRepeats(problems)) == 0 {
		for _, s := range list {
			good[s.block] = true
		}
		return
	}
	half := len(list) / 2
	parseTogether(lang, list[:half], good)
	parseTogether(lang, list[half:], good)
}

// scopeText makes a source fit into a scope: imports and the word export, which are allowed only outside of one, become
// blanks. It is false where that cannot be done without a doubt, and where something may reach beyond the end of the
// source unnoticed: templates, comments and markup.
func scopeText(text string) (string, bool) {
	if strings.Count(text, "`")%2 != 0 || strings.Count(text, "/*") != strings.Count(text, "*/") ||
		strings.Contains(text, "</") || strings.Contains(text, "/>") || strings.HasPrefix(text, "#!") || leavesScope(text) {
		return "", false
	}
	var b []byte // made when something is to be blanked
	for i := 0; i < len(text); {
		n := 0
		switch {
		case strings.HasPrefix(text[i:], "import"):
			if n = importLength(text[i:]); n == 0 {
				return "", false
			}
		case strings.HasPrefix(text[i:], "export"):
			if n = len("export"); !startsDeclaration(text[i+n:]) {
				return "", false
			}
		}
		if n > 0 {
			if b == nil {
				b = []byte(text)
			}
			for j := i; j < i+n; j++ {
				if b[j] != '\n' && b[j] != '\r' {
					b[j] = ' '
				}
			}
		}
		next := strings.IndexByte(text[i+n:], '\n')
		if next < 0 {
			break
		}
		i += n + next + 1
	}
	if b == nil {
		return text, true
	}
	return string(b), true
}

// leavesScope reports whether a source closes a brace that it did not open. Braces in strings are counted too, which costs
// time at worst.
func leavesScope(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

// startsDeclaration reports whether what follows the word export could stand without it.
func startsDeclaration(text string) bool {
	for _, word := range [...]string{" const ", " let ", " var ", " function ", " async function ", " class ", " abstract class ", " interface ", " type ", " enum "} {
		if strings.HasPrefix(text, word) {
			return true
		}
	}
	return false
}

// importLength is the length of the import declaration that a text begins with, 0 when it is not of the plain kind.
func importLength(text string) int {
	s := importScanner{rest: text[len("import"):]}
	if !s.space() {
		return 0
	}
	s.word("type")
	switch {
	case s.quoted(): // import "x"
		return s.end(text)
	case s.mark('*'):
		if !s.word("as") || s.name() == "" {
			return 0
		}
	case s.mark('{'):
		if !s.names() {
			return 0
		}
	default:
		if s.name() == "" || s.mark(',') && !(s.mark('{') && s.names()) {
			return 0
		}
	}
	if !s.word("from") || !s.quoted() {
		return 0
	}
	return s.end(text)
}

// importScanner reads the words of an import declaration.
type importScanner struct{ rest string }

// space skips white space and reports whether there was any.
func (s *importScanner) space() bool {
	trimmed := strings.TrimLeft(s.rest, " \t\r\n")
	skipped := len(trimmed) < len(s.rest)
	s.rest = trimmed
	return skipped
}

func (s *importScanner) mark(c byte) bool {
	s.space()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// name reads an identifier, empty when there is none.
func (s *importScanner) name() string {
	s.space()
	n := 0
	for n < len(s.rest) && (isAlnum(s.rest[n]) || s.rest[n] == '_' || s.rest[n] == '$') {
		n++
	}
	name := s.rest[:n]
	if n > 0 && name[0] >= '0' && name[0] <= '9' {
		return ""
	}
	s.rest = s.rest[n:]
	return name
}

// word reads this word if it comes next, and something comes after it that makes it one.
func (s *importScanner) word(want string) bool {
	saved := s.rest
	if s.name() == want && s.space() && !strings.HasPrefix(s.rest, "from") && s.rest != "" && s.rest[0] != ',' && s.rest[0] != '}' {
		return true
	}
	s.rest = saved
	return false
}

// names reads names with commas between them up to the closing brace.
func (s *importScanner) names() bool {
	for !s.mark('}') {
		s.word("type")
		if s.name() == "" || s.word("as") && s.name() == "" {
			return false
		}
		if !s.mark(',') {
			return s.mark('}')
		}
	}
	return true
}

// quoted reads a string without escapes.
func (s *importScanner) quoted() bool {
	s.space()
	if s.rest == "" || s.rest[0] != '"' && s.rest[0] != '\'' {
		return false
	}
	n := strings.IndexAny(s.rest[1:], s.rest[:1]+"\\\n")
	if n < 0 || s.rest[1+n] != s.rest[0] {
		return false
	}
	s.rest = s.rest[n+2:]
	return true
}

// end is the length of what was read if the line ends there, 0 if it does not.
func (s *importScanner) end(text string) int {
	rest := strings.TrimPrefix(strings.TrimLeft(s.rest, " \t"), ";")
	rest = strings.TrimLeft(rest, " \t\r")
	if rest != "" && rest[0] != '\n' && !strings.HasPrefix(rest, "//") {
		return 0
	}
	return len(text) - len(rest)
}
