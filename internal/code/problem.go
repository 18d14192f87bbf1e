package code

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

// maxProblems bounds the list for one source: what follows the first errors is mostly their echo.
const maxProblems = 20

// failure is the outcome of one attempt to read a source.
type failure struct {
	offset   int // where the first problem is
	problems []Problem
}

// further picks the attempt that got further into the source before its first problem; the earlier attempt when both
// got equally far.
func (f failure) further(g failure) failure {
	if f.problems == nil || g.offset > f.offset {
		return g
	}
	return f
}

// problemAt makes a problem of a byte offset. What is wrong at the end of the source is shown behind its last visible
// character, not on the empty line that follows it.
func problemAt(src string, offset int, message, checker string) Problem {
	line, col := newPlaces(src).at(min(offset, len(strings.TrimRight(src, " \t\r\n"))))
	return Problem{Line: line, Col: col, Message: message, Checker: checker}
}

// lineEnd is the length of the line ending s starts with, 0 when it starts with none.
func lineEnd(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case s != "" && (s[0] == '\n' || s[0] == '\r'):
		return 1
	}
	return 0
}

// isIdentStart accepts every byte of a non-ASCII character: whether it is a letter does not matter here.
func isIdentStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isIdentPart(c byte) bool {
	return isIdentStart(c) || c >= '0' && c <= '9'
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// nameLength is the length of the name s begins with, 0 when it begins with none.
func nameLength(s string) int {
	n := 0
	for n < len(s) && (isIdentPart(s[n]) && (n > 0 || isIdentStart(s[n]))) {
		n++
	}
	return n
}

// hasWord reports whether word stands alone in a list separated by single spaces.
func hasWord(list, word string) bool {
	for list != "" {
		first, rest, _ := strings.Cut(list, " ")
		if first == word {
			return true
		}
		list = rest
	}
	return false
}

// ownChecker is who speaks where this package has the parser itself.
const ownChecker = "mettle"

// maxSource bounds what the parsers of this package are given. Their time grows with the length of the source alone.
const maxSource = 1 << 20
