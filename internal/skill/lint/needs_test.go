package lint

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// needed lists groups of words: every match of a pattern has a word of each group. Words have two letters or more.
func needed(re *syntax.Regexp) (groups [][]string) {
	switch re.Op {
	case syntax.OpLiteral:
		if word := strings.ToLower(string(re.Rune)); len(word) >= 2 && strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0 {
			return [][]string{{word}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			groups = append(groups, needed(sub)...)
		}
		return groups
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := best(needed(sub))
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		slices.Sort(all)
		return [][]string{slices.Compact(all)}
	}
	return nil
}

// best is the group that is rarest.
func best(groups [][]string) (words []string) {
	for _, g := range groups {
		if better(g, words) {
			words = g
		}
	}
	return words
}

// better reports whether words are rarer than others: the shortest of them is longer.
func better(words, others []string) bool {
	shortest := func(list []string) (n int) {
		for i, w := range list {
			if i == 0 || len(w) < n {
				n = len(w)
			}
		}
		return n
	}
	a, b := shortest(words), shortest(others)
	return a > b || a == b && a > 0 && len(words) < len(others)
}

// TestNeeds: the words in needs.go are those that the patterns have; -update writes them.
func TestNeeds(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("package lint\n\n// phraseNeeds are groups of words for each pattern of a phrase, of each of which its matches have one: go test -run TestNeeds -update writes them.\nvar phraseNeeds = map[string][][][]string{\n")
	for _, f := range phrases {
		fmt.Fprintf(&b, "\t%q: {\n", f.name)
		for _, x := range f.patterns {
			re, err := syntax.Parse("(?i)"+x, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			groups := needed(re)
			slices.SortStableFunc(groups, func(g, h []string) int { // the rarest is looked for first
				if better(g, h) {
					return -1
				}
				return 1
			})
			b.WriteString("\t\t{")
			for _, g := range groups[:min(len(groups), 3)] {
				fmt.Fprintf(&b, "%s, ", strings.TrimPrefix(fmt.Sprintf("%#v", g), "[]string"))
			}
			b.WriteString("},\n")
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}\n")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("needs.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("needs.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("needs.go is out of date (%v)", err)
	}
}
