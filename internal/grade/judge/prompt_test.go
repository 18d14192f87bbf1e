package judge

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	digests := Digests(nil)
	if len(digests) != len(promptNames()) || digests["accuracy.md"] != Digest(builtinPrompt("accuracy.md")) {
		t.Errorf("digests %v", digests)
	}
	own := fstest.MapFS{"accuracy.md": {Data: []byte("Judge my way.\r\n")}, "README.md": {Data: []byte("notes")}, "skill.md": {}, "challenge.md": {}}
	changed := Digests(own)
	for name, digest := range digests {
		if (changed[name] != digest) != (name == "accuracy.md") {
			t.Errorf("%s: %s and %s", name, digest, changed[name])
		}
	}
	for file, data := range map[string]string{
		"accuracy.md: the prompt is empty":                                        " \n",
		"accuracy.md: the prompt is not UTF-8":                                    "\xff",
		"accuracy.md: the prompt has {{lang}}, which stands for nothing here":     "In {{lang}}.",
		"closing.md: {{form}} is missing":                                         "Reply. {{code}}",
		"repair.md: {{problem}} is missing":                                       "Again. {{form}}",
		"accuracy.md: the prompt is 65537 bytes long, want 65536 or less":         strings.Repeat("a", MaxPrompt+1),
		"code_quality.md: the prompt has {{code}}, which stands for nothing here": "{{language}} {{code}}",
	} {
		name, _, _ := strings.Cut(file, ":")
		_, err := readPrompts(fstest.MapFS{name: {Data: []byte(data)}})
		if err == nil || err.Error() != "prompt "+file {
			t.Errorf("%v, want %s", err, file)
		}
	}
}

// TestBuiltinPrompts: the prompts fill their places and say nothing of a vendor.
func TestBuiltinPrompts(t *testing.T) {
	t.Parallel()
	texts, err := readPrompts(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{closingPrompt: {"code", "form"}, repairPrompt: {"problem", "form"}, "code_quality.md": {"language"}}
	for name, text := range texts {
		if diff := cmp.Diff(want[name], placeholders(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "}}") {
			t.Errorf("%s ends in the middle: %q", name, text[max(0, len(text)-40):])
		}
	}
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                               "",
		`{}`:                             "",
		`{"skill":"s","question":"Q?"}`:  "Q?",
		`{"skill":"s","challenge":"C!"}`: "C!",
		`{"question":3}`:                 `{"question":3}`,
		`{"query":"q","limit":5}`:        `{"query":"q","limit":5}`,
		`"text"`:                         `"text"`,
	} {
		if got := CaseQuestion(&eval.Case{Input: json.RawMessage(input)}); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}
