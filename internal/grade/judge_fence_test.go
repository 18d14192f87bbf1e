package grade

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/eval"
)

// injections are answers that try to steer their judge, by name.
func injections(t testing.TB) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile("judge/testdata/injections.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range a.Files {
		text := strings.NewReplacer( // what an editor would not show
			`\u200b`, "\u200b", `\u2028`, "\u2028", `\u0085`, "\u0085", `\r`, "\r", `\v`, "\v", `\u202e`, "\u202e", `\x00`, "\x00", `\xff`, "\xff",
		).Replace(strings.TrimSuffix(string(f.Data), "\n"))
		if rest, ok := strings.CutPrefix(text, "tags: "); ok {
			text = "A fine answer." + tags(rest)
		}
		out[f.Name] = text
	}
	return out
}

// tags spells a text in characters that nobody sees.
func tags(s string) string {
	return strings.Map(func(r rune) rune { return 0xE0000 + r }, s)
}

// TestInjections: whatever an answer says, it stands in its section, and each
// section begins once and ends once.
func TestInjections(t *testing.T) {
	t.Parallel()
	all := injections(t)
	if len(all) < 20 {
		t.Fatalf("%d injections", len(all))
	}
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, check := range []string{
				"{type: accuracy, criteria: Right.}", "{type: judge, criteria: Right., reference: Good., context: true, scale: boolean}",
				"{type: code_quality, criteria: Right.}", "{type: boundary, criteria: Right., expectRefusal: true}",
				"{type: facts, expectedFacts: [It is so.], acceptableVariations: [So it is.]}", "{type: pairwise, reference: Good., criteria: Right.}",
			} {
				// An answer without code is not judged, so there is some.
				answer := "```ts\nlet a = 1;\n```\n" + text
				j := newScripted(t, name, strings.Repeat("finish: refusal\n---\n", 2))
				c := &eval.Case{ID: "c", Input: []byte(`{"question": "What is it?"}`)}
				r := &eval.Response{Text: answer, Context: "It is so."}
				s := decode(t, check).Grade(t.Context(), attempt(c, r, j.judges()))
				if s.Status != eval.Unscored {
					t.Errorf("%s: %s: %s", check, s.Status, s.Reason)
				}
				for _, req := range j.asked {
					checkSections(t, req.Messages[0].Text)
				}
			}
		})
	}
}

// checkSections wants the sections of a prompt whole, and instructions before
// and after them.
func checkSections(t *testing.T, prompt string) {
	t.Helper()
	code := codeIn(t, prompt)
	names := sectionsIn(prompt, code)
	if len(names) < 2 {
		t.Fatalf("sections %v in\n%s", names, prompt)
	}
	rest := prompt
	for i, name := range names {
		begin, end := "<<<begin "+name+" "+code+">>>", "<<<end "+name+" "+code+">>>"
		if strings.Count(prompt, begin) != 1 || strings.Count(prompt, end) != 1 {
			t.Fatalf("section %q begins %d times and ends %d times", name, strings.Count(prompt, begin), strings.Count(prompt, end))
		}
		before, after, ok := strings.Cut(rest, "\n"+begin+"\n")
		if i == 0 && len(before) < 100 {
			t.Errorf("no instructions before the material: %q", before)
		}
		inside, after, closed := strings.Cut(after, "\n"+end+"\n")
		if !ok || !closed {
			t.Fatalf("section %q is not between its delimiters", name)
		}
		if strings.Contains(inside, "<<<begin") || strings.Contains(inside, "<<<end") || strings.Contains(inside, "<|im_") {
			t.Errorf("section %q has a delimiter or a control token:\n%s", name, inside)
		}
		rest = "\n" + after
	}
	if len(rest) < 100 || !strings.Contains(rest, "JSON object") {
		t.Errorf("no instructions after the material: %q", rest)
	}
}

// codeIn finds the code that the closing words name.
func codeIn(t *testing.T, prompt string) string {
	t.Helper()
	const before = "Only lines with the code "
	i := strings.LastIndex(prompt, before)
	if i < 0 {
		t.Fatalf("no code in\n%s", prompt)
	}
	return strings.Fields(prompt[i+len(before):])[0]
}

func sectionsIn(prompt, code string) (names []string) {
	for _, line := range strings.Split(prompt, "\n") {
		if name, ok := strings.CutPrefix(line, "<<<begin "); ok {
			names = append(names, strings.TrimSuffix(name, " "+code+">>>"))
		}
	}
	return names
}

func TestLongAnswersAreShortened(t *testing.T) {
	t.Parallel()
	text := "HEAD " + strings.Repeat("ä", 60_000) + " TAIL"
	j := newScripted(t, "long", "finish: refusal\n")
	s := decode(t, "{type: accuracy, criteria: Right.}").Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: text}, j.judges()))
	prompt := j.asked[0].Messages[0].Text
	if n := len(prompt); n > 68_000 || !utf8.ValidString(prompt) || strings.ContainsRune(prompt, '\uFFFD') {
		t.Errorf("%d bytes", n)
	}
	for _, part := range []string{"HEAD ä", "ä TAIL\n<<<end answer", "bytes left out …]"} {
		if !strings.Contains(prompt, part) {
			t.Errorf("no %q in the prompt", part)
		}
	}
	notes, _ := s.Details["notes"].([]string)
	if len(notes) != 1 || !strings.Contains(notes[0], "bytes of the answer are left out, in its middle") || !strings.Contains(prompt, "("+notes[0]+")\n<<<begin answer") {
		t.Errorf("notes %q, want what is left out, told to the judge too", notes)
	}
}
