package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWordIndex finds every word in any case, alone, at both ends of a line and beside others.
func TestWordIndex(t *testing.T) {
	x := index()
	for c, class := range x.class {
		if class >= 64 {
			t.Errorf("byte %d is class %d; pairs of classes have room for 64", c, class)
		}
	}
	for _, w := range words {
		for _, word := range w.list {
			for _, text := range []string{word, "a " + strings.ToUpper(word) + " b", "a\n" + word + "\nb", word + word} {
				found := x.lines(text)
				if len(found) != 1 || found[0].groups&w.group == 0 {
					t.Errorf("%q in %q: %+v", word, text, found)
				}
			}
			if found := x.lines(word[:len(word)-1]); len(found) > 0 && found[0].groups&w.group != 0 && !hasOther(w.list, word) {
				t.Errorf("a part of %q is found: %+v", word, found)
			}
		}
	}
}

// hasOther reports whether a part of a word is a word of the group too.
func hasOther(list []string, word string) bool {
	for _, other := range list {
		if other != word && strings.Contains(word, other) {
			return true
		}
	}
	return false
}

func TestWordLines(t *testing.T) {
	var got []string
	for _, l := range index().lines("curl a\r\nnothing\rthe USER and wget\n\nforget it\ncurl, curl") {
		got = append(got, fmt.Sprint(l.offset, " ", l.groups))
	}
	want := []string{
		fmt.Sprint(0, " ", aboutDownload|aboutSending),
		fmt.Sprint(16, " ", aboutHiding|aboutDownload|aboutSending),
		fmt.Sprint(35, " ", aboutInjection),
		fmt.Sprint(45, " ", aboutDownload|aboutSending),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
