package store

import "testing"

// FuzzParsePlace: whatever a line of an index says, a place that is taken from
// it lies within a file.
func FuzzParsePlace(f *testing.F) {
	for _, line := range []string{"", "0\t10\t20\t30\t1\t\"\"\t\"case\"", "1\t2\t3\t-4\t5\t\"\"\t\"c\"", "1\t2\t3\t99999999999\t5\t\"\"\t\"c\"", "1\t2\t3\t4\t5"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		p, c, arm, id, ok := parsePlace(line)
		if !ok {
			return
		}
		if p.offset < 0 || p.length < 0 || p.trial < 0 || c.offset < 0 || c.length < 0 {
			t.Errorf("%q gives %+v, %+v", line, p, c)
		}
		unquoted(arm)
		unquoted(id)
	})
}
