package mettle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/llm/llmtest"
)

// TestGenerousJudge runs the judged suites with a judge that always gives full
// marks, and with answers that have nothing: what must be in the code is not
// for a judge to say.
func TestGenerousJudge(t *testing.T) {
	const full = `{"reasoning": "Flawless.", "score": 1, "items": [{"point": "all of it", "reasoning": "There.", "verdict": "covered"}]}`
	for name, answer := range map[string]string{
		"empty":                "",
		"empty block":          "```ts\n```\n",
		"prose":                "You would use an agent for that, with tools and a model, and print what it says. Make sure that the imports are right.",
		"another language":     "```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"an agent\") }\n```",
		"a program, not asked": "```ts\nexport const agent = 1;\n```\n\n```python\nimport os\nprint(os.name)\n```",
	} {
		t.Run(name, func(t *testing.T) {
			vendor := llmtest.Start(llmtest.Options{Answer: func(c llmtest.Call) llmtest.Answer {
				if c.Has("You are an examiner") {
					return llmtest.Answer{Text: full}
				}
				return llmtest.Answer{Text: answer}
			}})
			defer vendor.Close()
			t.Setenv("OLLAMA_HOST", vendor.Ollama())
			outcomes := runSuites(t, "quality", "coding", "negative", "python", "--model", "ollama:test", "--judge", "ollama:judge", "--max-errors", "1000")
			passed := 0
			for id, o := range outcomes {
				coding := slices.ContainsFunc(o.Scores, func(s score) bool { return s.Key == "code_validation" }) && name != "a program, not asked" ||
					strings.HasPrefix(id, "coding-")
				if o.Status != "pass" {
					continue
				}
				if passed++; coding || strings.HasPrefix(name, "empty") {
					t.Errorf("%s passes: %v", id, o.Scores)
				}
			}
			t.Logf("%d of %d cases pass", passed, len(outcomes))
			if len(outcomes) < 143 {
				t.Errorf("%d cases, want 143 or more", len(outcomes))
			}
		})
	}
}
