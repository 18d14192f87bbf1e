package grade

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// patternTimeout ends a match that backtracks without end.
const patternTimeout = time.Second

// patternStack bounds the memory of a match, in words: enough for idioms such
// as (.|\n)* on an answer of some hundred thousand characters.
const patternStack = 4 << 20

// maxPattern bounds a pattern, and with it the depth of its nesting.
const maxPattern = 10_000

// pattern is a user's regular expression, compiled. It is safe for use by
// many goroutines.
type pattern struct {
	text string
	find func(text string) (match string, found bool, err error)
}

// String shows the pattern for a reason, its backslashes as they are.
func (p *pattern) String() string { return "/" + oneLine(p.text, shown) + "/" }

// patternFlags are the flags of a JavaScript expression that suites can set.
type patternFlags struct{ sensitive, multiline, dotAll bool }

// compilePattern reads a pattern as JavaScript does, and as RE2 where it says
// something that only RE2 has a meaning for. No match takes longer than
// [patternTimeout].
func compilePattern(text string, flags patternFlags) (*pattern, error) {
	switch {
	case text == "":
		return nil, errors.New("the pattern is empty, and so in every answer")
	case utf8.RuneCountInString(text) > maxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d characters", maxPattern)
	}
	if inner, given, ok := pastedLiteral(text); ok {
		return nil, fmt.Errorf("%s looks like a JavaScript literal: write %s without the slashes and flags (case is ignored already)%s",
			quote(text), quote(inner), flagHint(given))
	}
	if token := re2Only(text); token != "" {
		p, err := compileRE2(text, flags)
		if err != nil {
			return nil, fmt.Errorf("%s has a meaning in RE2 only, and as RE2 it does not compile: %s", token, reason.Syntax(err))
		}
		return p, nil
	}
	p, err := compileJS(text, flags)
	if err == nil {
		return p, nil
	}
	if p, re2 := compileRE2(text, flags); re2 == nil {
		return p, nil
	}
	return nil, errors.New(reason.Syntax(err))
}

func compileJS(text string, flags patternFlags) (*pattern, error) {
	options := regexp2.ECMAScript
	source := text
	if !flags.sensitive {
		options |= regexp2.IgnoreCase
		source = cheapClasses(text, flags.dotAll)
	}
	if flags.multiline {
		options |= regexp2.Multiline
	}
	if flags.dotAll {
		options |= regexp2.Singleline
	}
	if hasEscape(text, "p{", "P{", "u{") {
		options |= regexp2.Unicode // without JavaScript's u flag they would be plain letters, which nobody means
	}
	re, err := regexp2.Compile(source, options, regexp2.OptionMaxBacktrackingStackSize(patternStack))
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	p := &pattern{text: text}
	p.find = func(s string) (string, bool, error) {
		m, err := re.FindStringMatch(s)
		switch {
		case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
			return "", false, fmt.Errorf("the pattern %s backtracks too deep on this answer", p)
		case err != nil:
			return "", false, fmt.Errorf("the pattern %s was not done with this answer after %s", p, patternTimeout)
		case m == nil:
			return "", false, nil
		}
		return m.String(), true, nil
	}
	return p, nil
}

// cheapClasses writes . and \S, \W and \D as negated classes, which are the same.
// With the i flag the engine otherwise looks for the other case of each of the
// million characters they stand for, which takes 50 ms.
func cheapClasses(text string, dotAll bool) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[':
			end := classEnd(text, i)
			b.WriteString(text[i:end])
			i = end - 1
		case c == '.' && dotAll:
			b.WriteString(`[\s\S]`)
		case c == '.':
			b.WriteString(`[^\n\r\u2028\u2029]`)
		case c == '\\' && i+1 < len(text):
			i++
			if strings.IndexByte("SWD", text[i]) >= 0 {
				b.WriteString(`[^\` + strings.ToLower(text[i:i+1]) + "]")
			} else {
				b.WriteString(text[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// classEnd is the index after the character class that starts at i.
func classEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(text)
}

func compileRE2(text string, flags patternFlags) (*pattern, error) {
	letters := ""
	for _, f := range []struct {
		letter string
		on     bool
	}{{"i", !flags.sensitive}, {"m", flags.multiline}, {"s", flags.dotAll}} {
		if f.on {
			letters += f.letter
		}
	}
	source := text
	if letters != "" {
		source = "(?" + letters + ")" + text
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	return &pattern{text, func(s string) (string, bool, error) {
		at := re.FindStringIndex(s)
		if at == nil {
			return "", false, nil
		}
		return s[at[0]:at[1]], true, nil
	}}, nil
}

// re2Only gives the first thing in a pattern that RE2 has a meaning for and
// JavaScript reads as plain letters or refuses, such as \A.
func re2Only(text string) string {
	for _, e := range []string{"A", "z", "Q", "C", "x{"} {
		if hasEscape(text, e) {
			return `\` + e
		}
	}
	if m := re2Constructs().FindString(text); m != "" {
		return m
	}
	return ""
}

// re2Constructs finds (?P<name>…), flags for the rest of the pattern, and
// [[:class:]].
var re2Constructs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\(\?P[<=>]|\(\?[imsU]*(-[imsU]+)?\)|\[\[:\^?[a-z]+:\]`)
})

// hasEscape tells whether a backslash, itself not escaped, stands before one
// of the texts.
func hasEscape(text string, after ...string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		for _, a := range after {
			if strings.HasPrefix(text[i+1:], a) {
				return true
			}
		}
		i++
	}
	return false
}

// pastedLiteral takes /inner/flags apart. A pattern that only has slashes
// around it may mean a path; with flags behind them it hardly does.
func pastedLiteral(text string) (inner, flags string, ok bool) {
	end := strings.LastIndexByte(text, '/')
	if end < 2 || text[0] != '/' || text[end-1] == '\\' {
		return "", "", false
	}
	inner, flags = text[1:end], text[end+1:]
	if flags == "" || strings.Trim(flags, "gimsuy") != "" || !strings.ContainsAny(flags, "gim") && len(flags) > 1 {
		return "", "", false
	}
	if strings.Contains(strings.ReplaceAll(inner, `\/`, ""), "/") {
		return "", "", false
	}
	return inner, flags, true
}

func flagHint(flags string) string {
	hint := ""
	if strings.Contains(flags, "m") {
		hint += ", and multiline: true"
	}
	if strings.Contains(flags, "s") {
		hint += ", and dotAll: true"
	}
	return hint + `; to match the slashes themselves, escape them as \/`
}
