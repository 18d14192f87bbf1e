package code

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Pattern is something to look for in code. See [ParsePattern].
type Pattern struct {
	text   string // as given
	source string // without the prefix
	kind   patternKind
	regexp *regexp2.Regexp
	path   []string // the names of a call
	member bool     // the call must have something in front of it
}

type patternKind uint8

const (
	substring patternKind = iota
	everywhere
	expression
	called
)

// patternPrefixes are what the kinds of patterns begin with.
var patternPrefixes = [...]string{everywhere: "text:", expression: "re:", called: "call:"}

// Bounds of a user's regular expression: its length, how long one search may take and the memory it may use.
const (
	maxExpression     = 10_000
	expressionTimeout = time.Second
	expressionStack   = 4 << 20
)

// maxMatches bounds the places that are reported of one pattern.
const maxMatches = 20

// ParsePattern reads a pattern in one of four forms:
//
//	.invoke(             a piece of code, case counting. White space between its parts does not matter, so it is also
//	                     found where a line breaks in between; nor does it matter which quotes a string has.
//	call:graph.compile   a call of that name, with anything in front of it: also app.graph.compile(), await, new,
//	                     compile<T>(), compile?.(), a decorator @compile. A leading dot asks for a call on something.
//	re:new\s+Agent       a JavaScript regular expression, case counting
//	text:gpt-4           a piece of text anywhere, comments and strings included. With a space behind the colon it is
//	                     a piece of code: text: is the name of many a property.
//
// Comments never count, except for text:, and for a piece of code that has a comment in it. What stands in strings counts
// for text:, and for a piece of code or an expression that itself has a quote in it: "gpt-4" finds 'gpt-4'. The modules
// of imports are strings that always count.
func ParsePattern(s string) (*Pattern, error) {
	p := &Pattern{text: s, source: s}
	if strings.TrimSpace(s) == "" {
		return nil, errors.New("the pattern is empty, and so in every code")
	}
	for kind, prefix := range patternPrefixes {
		rest, ok := strings.CutPrefix(s, prefix)
		if ok && prefix != "" && (prefix != "text:" || strings.TrimLeft(rest, " ") == rest) {
			p.source, p.kind = rest, patternKind(kind)
			if strings.TrimSpace(rest) == "" {
				return nil, fmt.Errorf("nothing stands behind %s", prefix)
			}
		}
	}
	switch p.kind {
	case expression:
		return p, p.compile()
	case called:
		return p, p.parseCall()
	}
	return p, nil
}

// String is the pattern as it was given.
func (p *Pattern) String() string { return p.text }

func (p *Pattern) compile() error {
	if utf8.RuneCountInString(p.source) > maxExpression {
		return fmt.Errorf("the expression is longer than %d characters", maxExpression)
	}
	re, err := regexp2.Compile(p.source, regexp2.ECMAScript, regexp2.OptionMaxBacktrackingStackSize(expressionStack))
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		if i := strings.LastIndex(text, " in `"); i > 0 {
			text = text[:i]
		}
		return fmt.Errorf("not a regular expression: %s", text)
	}
	re.MatchTimeout = expressionTimeout
	p.regexp = re
	return nil
}

// parseCall reads a path of names. What people write behind a function's name is let pass.
func (p *Pattern) parseCall() error {
	name := strings.TrimSpace(p.source)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ")"), "(")
	name = strings.TrimSuffix(name, "!")
	p.path = callNames(name)
	if p.path[0] == "" || p.path[0] == "*" {
		p.member = true
		p.path = p.path[1:]
	}
	for _, part := range p.path {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool { return r < utf8.RuneSelf && r != '-' && !source.IsIdentPart(byte(r)) }) {
			return fmt.Errorf("%q is no name of a function: write call:createAgent or call:graph.compile", p.source)
		}
	}
	if len(p.path) == 0 {
		return fmt.Errorf("%q is no name of a function", p.source)
	}
	return nil
}

func callNames(path string) []string { return strings.Split(strings.ReplaceAll(path, "::", "."), ".") }

// Match is a place where a pattern was found.
type Match struct {
	Line, Col int
	Text      string // what was found, as written
}

// FindOptions changes what counts. The zero value is the rule [ParsePattern] states.
type FindOptions struct {
	Everywhere bool // comments and strings count for substrings and expressions, too
}

// Find lists where the pattern stands in a source of a language, at most [maxMatches] places. An error means that an
// expression was not done with the source in its time; that is no verdict.
func (p *Pattern) Find(lang, src string, o FindOptions) ([]Match, error) {
	switch p.kind {
	case called:
		return p.findCalls(lang, src), nil
	case expression:
		return p.findExpression(lang, src, o.Everywhere)
	case everywhere:
		return p.findText(src), nil
	}
	if o.Everywhere {
		return p.findText(src), nil
	}
	return p.findCode(lang, src), nil
}

func (p *Pattern) findCalls(lang, src string) []Match {
	var found []Match
	for _, c := range Calls(lang, src) {
		names := callNames(c.Name)
		extra := len(names) - len(p.path)
		if len(found) < maxMatches && extra >= 0 && (extra > 0 || !p.member) && equalNames(names[extra:], p.path) {
			found = append(found, Match{Line: c.Line, Col: c.Col, Text: c.Name})
		}
	}
	return found
}

func equalNames(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// findCode looks for a piece of code. The pattern is cut into tokens as the source is, so both lose the same.
func (p *Pattern) findCode(lang, src string) []Match {
	l := find(Canonical(lang))
	z := l.tokens(p.source)
	if hasComment(z) || len(z.Tokens) == 0 {
		return p.findText(src)
	}
	inStrings := strings.ContainsAny(p.source, "\"'`")
	return found(src, l.tokens(src).Squeeze(inStrings), z.Squeeze(true).Text)
}

func (p *Pattern) findText(src string) []Match {
	return found(src, scan.SqueezeText(src), scan.SqueezeText(p.source).Text)
}

// hasComment reports whether something other than white space stands between tokens.
func hasComment(z *scan.List) bool {
	at := 0
	for _, t := range append(z.Tokens, scan.Token{Start: len(z.Src), End: len(z.Src)}) {
		if strings.TrimSpace(z.Src[at:t.Start]) != "" {
			return true
		}
		at = t.End
	}
	return false
}

// found lists the places of a squeezed text in a squeezed source.
func found(src string, in *scan.Squeezed, want []byte) []Match {
	var all []Match
	places := source.NewPlaces(src)
	for at := 0; len(want) > 0 && len(all) < maxMatches; {
		i := bytes.Index(in.Text[at:], want)
		if i < 0 {
			break
		}
		first, last := in.Offsets[at+i], in.Offsets[at+i+len(want)-1]
		line, col := places.At(first)
		all = append(all, Match{Line: line, Col: col, Text: src[first : last+1]})
		at += i + len(want)
	}
	return all
}

func (p *Pattern) findExpression(lang, src string, whole bool) ([]Match, error) {
	text := src
	if !whole {
		text = find(Canonical(lang)).tokens(src).Masked(strings.ContainsAny(p.source, "\"'`"))
	}
	var all []Match
	places := source.NewPlaces(src)
	m, err := p.regexp.FindStringMatch(text)
	for err == nil && m != nil && len(all) < maxMatches {
		from, length := m.ByteRange()
		line, col := places.At(from)
		all = append(all, Match{Line: line, Col: col, Text: src[from : from+length]})
		m, err = p.regexp.FindNextMatch(m)
	}
	switch {
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return nil, fmt.Errorf("the expression %s backtracks too deep on this code", source.Clip(p.source))
	case err != nil: // the engine's own words repeat the whole source
		return nil, fmt.Errorf("the expression %s was not done with this code after %s", source.Clip(p.source), expressionTimeout)
	}
	return all, nil
}
