package grade

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mettle-eval/mettle/internal/eval"
)

// TestCodeValidationParts holds the four scores and their sum to values worked
// out by hand.
func TestCodeValidationParts(t *testing.T) {
	t.Parallel()
	check := decode(t, `{type: code_validation, language: typescript, requiredImports: ["@langchain/core", zod, langchain, a],
		requiredPatterns: [".invoke(", "call:createAgent"], forbiddenPatterns: [AgentExecutor, "call:eval", "text:gpt-3", "re:any\\b", var]}`)
	for _, tc := range []struct {
		name, answer string
		want         []float64 // syntax, imports, required, forbidden
		total        float64
	}{
		{"all", "```ts\nimport '@langchain/core'; import 'zod/v4'; import 'langchain'; import a from 'a';\n(await createAgent()).invoke()\n```", []float64{1, 1, 1, 1}, 1},
		{"half", "```ts\nimport '@langchain/core'; import 'zod';\nx.invoke(); var y = eval('gpt-3');\n```", []float64{1, 0.5, 0.5, 0.4}, 0.3 + 0.15 + 0.1 + 0.08},
		{"second block broken", "```ts\nimport 'zod';\n```\n\n```ts\ncreateAgent(.invoke()\n```", []float64{0, 0.25, 1, 1}, 0.075 + 0.2 + 0.2},
		{"no code", "Use zod.", []float64{0, 0, 0, 0}, 0},
		{"python", "```python\nimport zod\n```", []float64{0, 0, 0, 0}, 0},
	} {
		s := check.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: tc.answer}, nil))
		var got []float64
		var keys []string
		for _, part := range s.Checks {
			got, keys = append(got, part.Value), append(keys, part.Key)
			if (part.Status == eval.Pass) != (part.Value == 1) {
				t.Errorf("%s: %s is %s at %v", tc.name, part.Key, part.Status, part.Value)
			}
		}
		near := cmpopts.EquateApprox(0, 1e-9)
		if diff := cmp.Diff([]string{"syntax", "required_imports", "required_patterns", "forbidden_patterns"}, keys); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.want, got, near); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.total, s.Value, near); diff != "" {
			t.Errorf("%s: total (-want +got):\n%s", tc.name, diff)
		}
		if want := tc.total == 1; (s.Status == eval.Pass) != want {
			t.Errorf("%s: %s at %v", tc.name, s.Status, s.Value)
		}
	}
}
