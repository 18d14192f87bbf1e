package term

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "What is o1js?", "What is o1js?"},
		{"unicode stays", "Größe 有限体 ﷺ العربية", "Größe 有限体 ﷺ العربية"},
		{"escape", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"},
		{"title", "\x1b]0;owned\x07", "␛]0;owned␇"},
		{"c0 and del", "a\x00b\x08c\x7fd", "a␀b␈c␡d"},
		{"c1", "a\u009b31mb\u0090c", `a\u009b31mb\u0090c`},
		{"c1 as bytes", "a\x9b31m", "a\ufffd31m"},
		{"line breaks", "a\r\nb\nc\rd\u0085e\u2028f\u2029g\th", "a b c d e f g h"},
		{"bidi", "a\u202eb\u2066c\u2069\u200f", `a\u202eb\u2066c\u2069\u200f`},
		{"zero width", "so\u200blana \ufefff\u00adx \u2060", `so\u200blana \ufefff\u00adx \u2060`},
		{"tags", "a\U000e0041b\U000e0101", `a\U000e0041b\U000e0101`},
		{"fillers", "a\u3164b\u115f\u034f", `a\u3164b\u115f\u034f`},
		{"emoji", "👩‍💻 ❤️ 👨‍👩‍👧 🏳️‍🌈", "👩‍💻 ❤️ 👨‍👩‍👧 🏳️‍🌈"},
		{"persian", "می‌خواهم", "می‌خواهم"},
		{"joiner in Latin", "so\u200dla\u200cna", `so\u200dla\u200cna`},
		{"joiners in a row", "👩\u200d\u200d💻", `👩\u200d\u200d💻`},
		{"joiner at the end", "👩\u200d", `👩\u200d`},
		{"selectors in a row", "❤\ufe0f\ufe0f\ufe0e", `❤️\ufe0f` + "\ufe0e"},
		{"selector alone", "\ufe0f", `\ufe0f`},
		{"not UTF-8", "a\xff\xfeb\xc3", "a\ufffd\ufffdb\ufffd"},
		{"noncharacters", "a\ufffeb\U0001ffffc", `a\ufffeb\U0001ffffc`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Sanitize(c.in); got != c.want {
				t.Errorf("Sanitize(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestSanitizeBlockKeepsLines(t *testing.T) {
	in, want := "a\r\nb\n\n\tc\rd\x1b\u2028e", "a\nb\n\n\tc\nd␛\ne"
	if got := SanitizeBlock(in); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"short", 5, "short"}, {"longer", 4, "long…"}, {"Größe", 3, "Gr…"}, {"有限体", 1, "…"}, {"\x80\x80\x80", 2, "…"},
	} {
		if got := Clip(c.in, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// badRune finds a rune that foreign text must not bring to people, or nothing.
func badRune(s string, allowed string) (rune, bool) {
	for _, r := range s {
		if strings.ContainsRune(allowed, r) {
			continue
		}
		if r < ' ' || r == 0x7f || isHidden(r) || isBreak(r) {
			return r, true
		}
	}
	return 0, false
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"a \x1b[2J\x1b]0;owned\x07\r\n\u009b31m \u202egnp.exe\u200b", "👩‍💻", "می‌خواهم", "\xff\u200d\ufe0f", "a\r\n\u2028", "☭\u200d\u2028", "\ufe0f\u200d\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, block := Sanitize(s), SanitizeBlock(s)
		for _, c := range []struct{ got, allowed string }{{line, ""}, {block, "\n\t"}} {
			if r, bad := badRune(c.got, c.allowed); bad || !utf8.ValidString(c.got) {
				t.Fatalf("%q became %q, which holds %U", s, c.got, r)
			}
		}
		if again := Sanitize(line); again != line {
			t.Fatalf("%q became %q, and that %q", s, line, again)
		}
		if again := SanitizeBlock(block); again != block {
			t.Fatalf("%q became %q, and that %q", s, block, again)
		}
	})
}
