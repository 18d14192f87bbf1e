package reason

import "testing"

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got, want := OneLine("a\x1b[31m\r\n\tb\u0085c\xff", 80), "a [31m b c�"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
