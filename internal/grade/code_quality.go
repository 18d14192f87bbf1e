package grade

import (
	"context"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// codeQuality asks a judge about the code in the answer.
type codeQuality struct {
	Criteria string `yaml:"criteria" json:"criteria,omitempty" jsonschema:"what the code must do or use"`
	Context  *bool  `yaml:"context" json:"context,omitempty" jsonschema:"show the judge what the answer was to be taken from, such as the skill" check:"default=false"`
	Required bool   `yaml:"required" json:"required,omitempty" jsonschema:"an answer without code fails with 0 instead of being skipped" check:"default=false"`
	Compat   string `yaml:"compat" json:"compat,omitempty" jsonschema:"score as another tool does" check:"enum=langchain-1.0"`
	rubric
}

// langchainCompat asks for the scores of the LangChain skills evaluators, where
// ours differ.
const langchainCompat = "langchain-1.0"

var codeQualityKind = kind.Kind[eval.Grader]{
	Name:   "code_quality",
	Graded: true,
	Doc:    "A judge finds the code in the answer valid and idiomatic.",
	Mode:   "poor code",
	Explain: "Scores validity, imports, use of the interfaces the criteria ask for, and idiom, of the language at hand: the skill's, else that of " +
		"the answer's own blocks. An answer without code is not judged: the check is skipped and left out of composites, or scores 0 where the code is `required`. With " +
		"`compat: langchain-1.0` an answer without a fenced block scores 1 without a call, as the LangChain skills evaluators have it.\n\n" + scoreDoc + askedDoc,
	Example: `- type: code_quality
  criteria: Uses createAgent and passes tools as a list.
`,
	New: func() eval.Grader { return new(codeQuality) },
}

func (g *codeQuality) Grade(ctx context.Context, a *eval.Attempt) (eval.Score, error) {
	switch {
	case g.Compat == langchainCompat && len(code.Blocks(a.Response.Text)) == 0:
		return eval.PassIf(true, "no block in the answer, which %s scores 1", g.Compat), nil
	case g.Compat == "" && g.Required && len(answerCode(a.Response)) == 0:
		s := eval.PassIf(false, noCodeReason)
		s.Mode = missingCode
		return s, nil
	case g.Compat == "" && len(answerCode(a.Response)) == 0:
		return eval.Skipped(noCodeReason), nil
	}
	sections := judgedSections(a, g.Criteria, on(g.Context, false))
	return g.grade(ctx, a, "code_quality.md", sections, "language", language(a.Response))
}

// languageNames are languages as a judge is told them. A fence may say
// anything: what is not here is not passed on.
var languageNames = []struct{ name, said string }{
	{"bash", "shell"},
	{"c", "C"},
	{"cpp", "C++"},
	{"csharp", "C#"},
	{"go", "Go"},
	{"java", "Java"},
	{"javascript", "JavaScript"},
	{"js", "TypeScript or JavaScript"}, // of a skill: it says the platform
	{"json", "JSON"},
	{"jsx", "JavaScript"},
	{"kotlin", "Kotlin"},
	{"php", "PHP"},
	{"python", "Python"},
	{"ruby", "Ruby"},
	{"rust", "Rust"},
	{"solidity", "Solidity"},
	{"sql", "SQL"},
	{"swift", "Swift"},
	{"toml", "TOML"},
	{"tsx", "TypeScript"},
	{"typescript", "TypeScript"},
	{"yaml", "YAML"},
}

func languageName(name string) string {
	for _, l := range languageNames {
		if l.name == name {
			return l.said
		}
	}
	return ""
}

// language says what language an answer's code is to be in: the skill's, else
// those its blocks name.
func language(r *eval.Response) string {
	if of, ok := r.Meta["language"].(string); ok {
		if said := languageName(of); said != "" {
			return said
		}
		if said := languageName(code.Canonical(of)); said != "" {
			return said
		}
	}
	var said []string
	for _, b := range code.Blocks(r.Text) {
		if name := languageName(b.Lang); name != "" && !slices.Contains(said, name) {
			said = append(said, name)
		}
	}
	if len(said) == 0 {
		return "the language it is written in"
	}
	return strings.Join(said, " and ")
}
