package grade

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

func decode(t testing.TB, text string) *eval.Check {
	t.Helper()
	d, n := kind.Parse("suite.yaml", []byte(text))
	if n == nil {
		t.Fatal(d.Problems)
	}
	c := DecodeCheck(d, n)
	if c == nil {
		t.Fatal(d.Problems)
	}
	return c
}

func TestDecodeCheckCommonFields(t *testing.T) {
	t.Parallel()
	type fields struct {
		Key, Kind string
		Weight    float64
		Severity  eval.Severity
		Not       bool
		Of        eval.Part
		Mode      string
		Pos       eval.Pos
	}
	for text, want := range map[string]fields{
		"\n  type: contains\n  value: a": {"contains", "contains", 1, eval.ErrorSeverity, false, "", "missing keyword", eval.Pos{File: "suite.yaml", Line: 2, Col: 3}},
		"{type: contains, value: a, key: k, weight: 0, severity: warn, not: true, of: raw}": {
			"k", "contains", 0, eval.WarnSeverity, true, eval.RawPart, "unwanted text", eval.Pos{File: "suite.yaml", Line: 1, Col: 1},
		},
	} {
		c := decode(t, text)
		got := fields{c.Key, c.Kind, c.Weight, c.Severity, c.Not, c.Of, c.Mode, c.Pos}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{type: contains, value: a}":                      `{"type":"contains","value":"a"}`,
		"{type: contains, value: a, not: true, of: raw}":  `{"type":"contains","not":true,"of":"raw","value":"a"}`,
		"{type: not_error}":                               `{"type":"not_error"}`,
		"{type: latency_below, max: 90s}":                 `{"type":"latency_below","max":"1m30s"}`,
		"{type: json_path, path: a, equals: {b: [1, x]}}": `{"type":"json_path","path":"a","equals":{"b":[1,"x"]}}`,
		"{type: weighted, threshold: 0, checks: [{type: contains, value: a, weight: 0, key: k, severity: warn}, {type: not_empty, not: true}]}": `{"type":"weighted","threshold":0,"checks":[{"type":"contains","value":"a","key":"k","weight":0,"severity":"warn"},{"type":"not_empty","not":true}]}`,
	} {
		if diff := cmp.Diff(want, string(decode(t, text).Rule())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestUniqueKeys(t *testing.T) {
	t.Parallel()
	pos := eval.Pos{File: "suite.yaml", Line: 7, Col: 9}
	checks := []*eval.Check{
		decode(t, "{type: contains, value: a}"),
		decode(t, "{type: contains, value: b}"),
		nil, // one that had problems
		decode(t, "{type: min_length, chars: 1, key: contains}"),
		decode(t, "{type: contains, value: c, key: contains-2}"),
		ExpectedKeyword("mina", pos),
		ExpectedKeyword("mina", pos),
		decode(t, "{type: contains, value: d, key: mine}"),
		decode(t, "{type: contains, value: e, key: mine}"),
		decode(t, "{type: not_error}"),
		NotError(pos),
	}
	d := &kind.Decoder{File: "suite.yaml"}
	UniqueKeys(d, checks)
	var keys []string
	for _, c := range checks {
		if c != nil {
			keys = append(keys, c.Key)
		}
	}
	want := []string{
		"contains-3", "contains-4", "contains", "contains-2", "keyword:mina", "keyword:mina-2", "mine", "mine", "not_error", "not_error-2",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	if len(d.Problems) != 1 || d.Problems[0].String() != `suite.yaml:1:1: the key "mine" stands twice in the case` {
		t.Errorf("problems %v", d.Problems)
	}
}

func TestSugar(t *testing.T) {
	t.Parallel()
	pos := eval.Pos{File: "suite.yaml", Line: 7, Col: 9}
	answer := &eval.Response{Text: "Mina.\n\n```ts\nimport { Field } from 'o1js';\n```\n"}
	for _, tc := range []struct {
		check                    *eval.Check
		key, rule, outcome, mode string
	}{
		{ExpectedKeyword("mina", pos), "keyword:mina", `{"type":"contains","value":"mina"}`, "pass: contains \"mina\"\n", "missing keyword"},
		{ExpectedKeyword("zkapp", pos), "keyword:zkapp", `{"type":"contains","value":"zkapp"}`, "fail: does not contain \"zkapp\"\nmode: missing keyword\n", "missing keyword"},
		{ForbiddenKeyword("mina", pos), "forbidden:mina", `{"type":"contains","not":true,"of":"answer+sources","value":"mina"}`, "fail: contains \"mina\", which must not be\nmode: cross-project contamination\n", "cross-project contamination"},
		{ForbiddenKeyword("solana", pos), "forbidden:solana", `{"type":"contains","not":true,"of":"answer+sources","value":"solana"}`, "pass: does not contain \"solana\"\n", "cross-project contamination"},
		{ExpectedImport("o1js", pos), "import:o1js", `{"type":"has_import","module":"o1js","partial":true}`, "pass: \"import { Field } from 'o1js'\" at line 4\n", "missing import"},
		{ExpectedImport("import { Field } from 'o1js'", pos), "import:import { Field } from 'o1js'", `{"type":"has_import","module":"import { Field } from 'o1js'","partial":true}`, "pass: \"import { Field } from 'o1js'\" at line 4\n", "missing import"},
		{ExpectedImport("@solana/web3.js", pos), "import:@solana/web3.js", `{"type":"has_import","module":"@solana/web3.js","partial":true}`, "fail: no import statement with \"@solana/web3.js\"; the answer imports \"o1js\"\nmode: missing import\n", "missing import"},
		{NotError(pos), "not_error", `{"type":"not_error"}`, "pass: the answer is not an error\n", "error answer"},
	} {
		c := tc.check
		got := []string{c.Key, string(c.Rule()), scoreText(c.Grade(t.Context(), attempt(&eval.Case{}, answer, nil))), c.Mode}
		if diff := cmp.Diff([]string{tc.key, tc.rule, tc.outcome, tc.mode}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.key, diff)
		}
		if c.Weight != 1 || c.Severity != eval.ErrorSeverity || c.Pos != pos || c.Implicit != (c.Kind == "not_error") {
			t.Errorf("%s: %+v", tc.key, c)
		}
	}
}

func TestMentions(t *testing.T) {
	t.Parallel()
	nested := decode(t, "{type: any, checks: [{type: contains, value: a}, {type: all, checks: [{type: is_error, not: true}]}]}")
	for _, tc := range []struct {
		check *eval.Check
		kinds []string
		want  bool
	}{
		{nested, []string{"is_error", "not_error"}, true},
		{nested, []string{"any"}, true},
		{nested, []string{"not_error"}, false},
		{NotError(eval.Pos{}), []string{"is_error", "not_error"}, true},
		{nil, []string{"contains"}, false},
		{nested, nil, false},
	} {
		if got := Mentions(tc.check, tc.kinds...); got != tc.want {
			t.Errorf("Mentions(%v, %v) = %v", tc.check, tc.kinds, got)
		}
	}
}

// TestVerdictsNameTheirDifferences: where a verdict is not the plan's, the
// corpus says why, and nowhere else.
func TestVerdictsNameTheirDifferences(t *testing.T) {
	t.Parallel()
	_, examples := readExamples(t, "testdata/verdicts.txtar")
	rules := map[string]int{}
	for _, e := range examples {
		ours, _, _ := strings.Cut(e.text("want"), ":")
		if plan := e.text("plan"); plan == "" || (plan == ours) != (e.text("why") == "") {
			t.Errorf("%s: ours is %q, the plan's %q, why: %q", e.name, ours, plan, e.text("why"))
		}
		_, rule, _ := strings.Cut(strings.Split(e.text("check"), "\n")[0], ": ")
		rules[rule]++
	}
	for _, rule := range []string{
		"contains", "contains_any", "contains_all", "matches_regex", "has_code_block", "has_import", "min_length", "has_citation",
		"confidence_above", "sources_count",
	} {
		if rules[rule] < 2 {
			t.Errorf("%d verdicts of %s", rules[rule], rule)
		}
	}
}

// TestCodeBeyondTheParser: code the parser could not judge is no verdict.
func TestCodeBeyondTheParser(t *testing.T) {
	t.Parallel()
	c := decode(t, "{type: code_syntax, language: json, not: true}")
	deep := "```json\n" + strings.Repeat("[", 200_000) + "\n```\n"
	if s := c.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: deep}, nil)); s.Status != eval.Unscored {
		t.Errorf("%s: %s", s.Status, s.Reason)
	}
}

func TestComposedScores(t *testing.T) {
	t.Parallel()
	spend := func(status eval.Status, usage eval.Usage) child {
		return child{&eval.Check{Key: "k", Kind: "spend", Weight: 1, Severity: eval.ErrorSeverity, Grader: expensiveGrader{status, usage}}}
	}
	g := &all{children{[]child{spend(eval.Pass, eval.Usage{Input: 1, Output: 2}), spend(eval.Fail, eval.Usage{Input: 10, Output: 20})}}}
	c := &eval.Check{Key: "all", Kind: "all", Weight: 1, Grader: g}
	s := c.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{}, nil))
	if s.Status != eval.Fail || !g.Expensive() {
		t.Errorf("%s: %s, expensive %v", s.Status, s.Reason, g.Expensive())
	}
	if diff := cmp.Diff(&eval.Usage{Input: 11, Output: 22}, s.Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// expensiveGrader stands for a judge.
type expensiveGrader struct {
	status eval.Status
	usage  eval.Usage
}

func (g expensiveGrader) Expensive() bool { return true }

func (g expensiveGrader) Grade(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.Score{Status: g.status, Usage: &g.usage}, nil
}
