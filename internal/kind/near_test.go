package kind

import (
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	words := []string{"contains", "contains_any", "has_code_block", "id", "min_length", "pattern", "expectedKeywords", "forbiddenKeywords", "name"}
	for _, c := range []struct{ name, want string }{
		{"patern", "pattern"},
		{"pattren", "pattern"},
		{"minLength", "min_length"},
		{"min-length", "min_length"},
		{"MIN_LENGTH", "min_length"},
		{"contain", "contains"},
		{"containsany", "contains_any"},
		{"code_block", "has_code_block"}, // part of one word only
		{"keywords", ""},                 // part of two
		{"nmae", "name"},
		{"ids", "id"},
		{"x", ""}, // one letter is near everything
		{"", ""},
		{"_", ""},
		{"completely different", ""},
		{strings.Repeat("x", 10_000), ""},
		{"pättern", "pattern"},
	} {
		if got := Near(c.name, words); got != c.want {
			t.Errorf("Near(%.20q) = %q, want %q", c.name, got, c.want)
		}
	}
	if got := Near("a", nil); got != "" {
		t.Errorf("near nothing: %q", got)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abcd", 1},
		{"abc", "xbc", 1},
		{"kitten", "sitting", 3},
		{"über", "uber", 1},
		{"ca", "abc", 3},
		{"abcdefghij", "", 9},
	} {
		if got := distance(c.a, c.b, 9); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a, 9); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.b, c.a, got, c.want)
		}
	}
}
