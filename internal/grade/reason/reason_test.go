package reason

import "testing"

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got, want := OneLine("a\x1b[31m\r\n\tb\u0085c\xff", 80), "a [31m b c�"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"a\xffbcd", 3, "a\uFFFD…"}, {"abcd", 1, "…"},
	} {
		if got := Cut(tc.text, tc.most); got != tc.want {
			t.Errorf("%q cut to %d is %q, want %q", tc.text, tc.most, got, tc.want)
		}
	}
}
