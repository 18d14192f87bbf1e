package source

import (
	"strings"
	"unicode/utf8"
)

// Problem is something a parser could not read.
type Problem struct {
	Line, Col int    // place in the source
	Message   string // what is wrong, in the parser's words
	Checker   string // who says so: "esbuild", "go/parser", …

	// Elision tells that an ellipsis stands here where the language has none: documentation leaves something out. An
	// answer that does so is not complete; a page that does so is not wrong.
	Elision bool
}

// MaxProblems bounds the list for one source: what follows the first errors is mostly their echo.
const MaxProblems = 20

// Failure is the outcome of one attempt to read a source.
type Failure struct {
	Offset   int // where the first problem is
	Problems []Problem
}

// Further picks the attempt that got further into the source before its first problem; the earlier attempt when both
// got equally far.
func (f Failure) Further(g Failure) Failure {
	if f.Problems == nil || g.Offset > f.Offset {
		return g
	}
	return f
}

// ProblemAt makes a problem of a byte offset. What is wrong at the end of the source is shown behind its last visible
// character, not on the empty line that follows it.
func ProblemAt(src string, offset int, message, checker string) Problem {
	line, col := NewPlaces(src).At(min(offset, len(strings.TrimRight(src, " \t\r\n"))))
	return Problem{Line: line, Col: col, Message: message, Checker: checker}
}

// LineEnd is the length of the line ending s starts with, 0 when it starts with none.
func LineEnd(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && (s[0] == '\n' || s[0] == '\r'):
		return 1
	}
	return 0
}

// IsIdentStart accepts every byte of a non-ASCII character: whether it is a letter does not matter here.
func IsIdentStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

// IsIdentPart reports whether a byte can be in a name behind its first.
func IsIdentPart(c byte) bool {
	return IsIdentStart(c) || c >= '0' && c <= '9'
}

// IsSpace reports whether a byte is white space.
func IsSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// NameLength is the length of the name s begins with, 0 when it begins with none.
func NameLength(s string) int {
	n := 0
	for n < len(s) && (IsIdentPart(s[n]) && (n > 0 || IsIdentStart(s[n]))) {
		n++
	}
	return n
}

// HasWord reports whether word stands alone in a list separated by single spaces.
func HasWord(list, word string) bool {
	for i := 0; i+len(word) <= len(list); i++ {
		if end := i + len(word); list[i:end] == word && (end == len(list) || list[end] == ' ') {
			return true
		}
		for i < len(list) && list[i] != ' ' { // lists and words are short: a search for the space takes longer to begin
			i++
		}
	}
	return false
}

// OwnChecker is who decides where the parser is our own.
const OwnChecker = "mettle"

// MaxSource bounds what our own parsers are given. Their time grows with the length of the source alone.
const MaxSource = 1 << 20
