package code

import (
	"cmp"
	"context"
	"slices"
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

// Syntax checks a source with a real parser for its language. No problems and true: it parses. False: it was not
// checked, because there is no parser for the language (see [Languages]), because the source is beyond the parser's
// bounds of size or nesting, or because the parser itself broke down. That is never a verdict on the source.
//
// Documentation shows fragments, so a source need not be a whole file: statements and declarations of Go without a
// package clause, class members and single expressions of TypeScript and JavaScript, top-level await and return,
// statements of Rust, members and statements of Solidity, Python that is indented as a whole, transcripts of interactive
// sessions, and the commands of notebooks are all accepted. In a shell, a word in angle brackets is a word. Placeholders
// such as "..." where the language allows none are problems, marked as what they are.
func Syntax(lang, src string) ([]Problem, bool) {
	v := (*Checkers)(nil).Check(context.Background(), lang, src)
	return v.Problems, v.Checked
}

func (l *language) check(src string) (problems []Problem, checked bool) {
	defer func() {
		if recover() != nil { // a parser's own fault must not end the run, nor count against the answer
			problems, checked = nil, false
		}
	}()
	src = strings.TrimPrefix(src, byteOrderMark)
	problems, checked = l.syntax(src)
	for i := range problems {
		problems[i].Elision = elided(src, problems[i])
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return problems[:min(len(problems), maxProblems)], checked
}

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

// elided reports whether an ellipsis stands where a problem is, or right before it.
func elided(src string, p Problem) bool {
	rest := src
	for n := 1; n < p.Line && rest != ""; n++ {
		_, rest = cutLine(rest)
	}
	at := len(src) - len(rest)
	for n := 1; n < p.Col && at < len(src); n++ {
		_, size := utf8.DecodeRuneInString(src[at:])
		at += size
	}
	before := strings.TrimRight(src[:at], " \t\r\n")
	for _, dots := range [...]string{"...", "…"} {
		if strings.HasPrefix(src[at:], dots) || strings.HasSuffix(before, dots) {
			return true
		}
	}
	return false
}
