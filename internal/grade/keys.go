package grade

import (
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// UniqueKeys gives the checks of a case keys that differ: what the suite named
// stays, what was derived from a kind, a keyword or an import gets -2, -3 and
// so on where it is taken. A name that the suite gave twice is a problem.
func UniqueKeys(d *kind.Decoder, checks []*eval.Check) {
	for _, i := range uniqueKeys(checks) {
		c := checks[i]
		d.Add(kind.Problem{Line: c.Pos.Line, Col: c.Pos.Col, Message: "the key " + strconv.Quote(c.Key) + " stands twice in the case"})
	}
}

// uniqueKeys gives the indexes of checks whose given key is taken.
func uniqueKeys(checks []*eval.Check) (twice []int) {
	taken := make(map[string]bool, len(checks))
	for i, c := range checks {
		if c == nil || derived(c) {
			continue
		}
		if taken[c.Key] {
			twice = append(twice, i)
		}
		taken[c.Key] = true
	}
	for _, c := range checks {
		if c == nil || !derived(c) {
			continue
		}
		base := c.Key
		for n := 2; taken[c.Key]; n++ {
			c.Key = base + "-" + strconv.Itoa(n)
		}
		taken[c.Key] = true
	}
	return twice
}

// derived tells whether a key was not given by the suite: a given one holds no
// colon.
func derived(c *eval.Check) bool {
	return c.Implicit || c.Key == c.Kind || strings.Contains(c.Key, ":")
}
