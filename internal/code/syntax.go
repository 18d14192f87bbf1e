package code

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Problem is something a parser could not read.
type Problem = source.Problem

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
	src = strings.TrimPrefix(src, source.ByteOrderMark)
	problems, checked = l.syntax(src)
	for i := range problems {
		problems[i].Elision = elided(src, problems[i])
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return problems[:min(len(problems), source.MaxProblems)], checked
}

// elided reports whether an ellipsis stands where a problem is, or right before it.
func elided(src string, p Problem) bool {
	rest := src
	for n := 1; n < p.Line && rest != ""; n++ {
		_, rest = source.CutLine(rest)
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
