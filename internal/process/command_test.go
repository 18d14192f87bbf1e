package process

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"node server.js --stdio":                                  {"node", "server.js", "--stdio"},
		"  npx\t-y \n @scope/server@1.2 ":                         {"npx", "-y", "@scope/server@1.2"},
		`run 'a b' "c d" e" f"'g' ''`:                             {"run", "a b", "c d", "e fg", ""},
		`run "it's" 'say "hi"' "a \"b\""`:                         {"run", "it's", `say "hi"`, `a "b"`},
		`run it\'s a\ b`:                                          {"run", "it's", "a b"},
		`C:\tools\srv.exe "C:\My Files\x"`:                        {`C:\tools\srv.exe`, `C:\My Files\x`},
		`\\host\share\srv.exe`:                                    {`\\host\share\srv.exe`},
		`run $HOME ${TOKEN} "k=${K:-x}"`:                          {"run", "$HOME", "${TOKEN}", "k=${K:-x}"},
		`run *.md a?b [x] ~/y {a,b} a#b`:                          {"run", "*.md", "a?b", "[x]", "~/y", "{a,b}", "a#b"},
		`X=1 run a=b`:                                             {"X=1", "run", "a=b"},
		`if then ! 2 größe`:                                       {"if", "then", "!", "2", "größe"},
		`run '$(touch x)' '` + "`touch x`" + `' 'a;b|c&d>e' '#x'`: {"run", "$(touch x)", "`touch x`", "a;b|c&d>e", "#x"},
	} {
		got, err := Split(command)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", command, err, diff)
		}
	}
	for command, want := range map[string]string{
		"":                   "empty",
		" \n ":               "empty",
		`run "a`:             "quote",
		`run 'a`:             "quote",
		"run $(touch x)":     "$(touch x) is not run",
		"run `touch x`":      "`touch x` is not run",
		`run "a $(touch x)"`: "$(touch x) is not run",
		"run $((1+1))":       "$((1+1)) is not run",
		"run; rm x":          "quote",
		"run | tee":          "quote",
		"run a & b":          "quote",
		"run > x":            "quote",
		"run #x":             "#",
		"#x":                 "#",
		"#x\nrun":            "#",
	} {
		if got, err := Split(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", command, got, err, want)
		}
	}
}

// FuzzSplit: words of letters are what they are, in any quotes.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{"a 'b c' \"d\"", "$(x) `y` ${z}", "a\\", "a #b", "'", "\"$(", "${", "a\\\nb", "<<E\nx\nE"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		words, err := Split(s)
		if err == nil && len(words) == 0 {
			t.Fatalf("%q has no words and no error", s)
		}
		quoted := "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r") { // refused, or read as the end of a line
			return
		}
		if got, err := Split("x " + quoted); err != nil || len(got) != 2 || got[1] != s {
			t.Fatalf("%q in quotes is %q, %v", s, got, err)
		}
	})
}
