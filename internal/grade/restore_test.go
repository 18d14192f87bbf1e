package grade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
)

// builtinCases are the cases of every suite that the binary carries.
func builtinCases(t *testing.T) (cases []*eval.Case) {
	t.Helper()
	var files []suite.File
	skills := &suite.Skills{Library: skill.NewLibrary(builtin.Skills, "the built-in skills")}
	err := fs.WalkDir(builtin.Suites, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(builtin.Suites, path)
		files = append(files, suite.File{Path: path, Data: data, Skills: skills})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := suite.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set.Suites {
		cases = append(cases, s.Cases...)
	}
	if len(cases) < 50 {
		t.Fatalf("%d built-in cases", len(cases))
	}
	return cases
}

// exampleCases have the examples of the reference pages as their checks, a case
// for each kind, and more that refer to files.
func exampleCases(t *testing.T) (cases []*eval.Case) {
	t.Helper()
	texts := map[string]string{
		"files":  "- {type: judge, criteria: Rhymes., prompt: judge/rhyme.md}\n- {type: pairwise, referenceFile: judge/reference.md}\n- {type: exec, command: [./echo.sh]}\n",
		"nested": "- {type: any, severity: warn, checks: [{type: contains, value: a, of: raw, weight: 1}, {type: contains, not: true, value: \"\\x7f\\u0085é😀<&>\"}, {type: all, key: both, checks: [{type: not_empty, severity: warn}, {type: is_json, of: structured}]}]}\n",
	}
	for _, k := range grade.Kinds {
		texts[k.Name] = k.Example
	}
	for name, text := range texts {
		d, n := kind.Parse("testdata/suite.yaml", []byte(text))
		if n == nil || n.Kind != yaml.SequenceNode {
			t.Fatalf("%s: %v", name, d.Problems)
		}
		c := &eval.Case{ID: name, Suite: "examples", Input: json.RawMessage(`{"question":"Why?"}`), Pos: eval.Pos{File: "testdata/suite.yaml", Line: 1, Col: 1}}
		for _, item := range n.Content {
			c.Checks = append(c.Checks, grade.DecodeCheck(d, item))
		}
		grade.UniqueKeys(d, c.Checks)
		if len(d.Problems) > 0 {
			t.Fatalf("%s: %v", name, d.Problems)
		}
		cases = append(cases, c)
	}
	return cases
}

// responses are answers of every sort.
var responses = []*eval.Response{
	{},
	{Text: "No such page.", IsError: true},
	{
		Text: "Mina is light [1]. See https://docs.minaprotocol.com/zkapps.", Raw: "Confidence: 80\n\nMina is light [1]. <&>",
		Meta: map[string]any{"confidence": 80.0, "language": "js"}, Sources: []eval.Source{{N: 1, Title: "Mina", URL: "https://docs.minaprotocol.com"}}, Context: "Mina.",
	},
	{
		Text: "Use it so:\n\n```ts\nimport { createAgent } from 'langchain';\nconst agent = createAgent({ tools: [] });\nawait agent.invoke({});\n```\n",
		Meta: map[string]any{"language": "js"},
	},
	{Text: "```python\nimport langchain\ndef f(:\n```\n", Meta: map[string]any{"language": "python"}},
	{Text: `{"title": "T", "url": "https://x.org/a"}`, Structured: json.RawMessage(`{"results":[{"path":"mina/merkle-trees.md"},{"path":"x.md"}]}`)},
}

// stored is a case as a reader of a run folder has it.
func stored(t *testing.T, c *eval.Case) *eval.Case {
	t.Helper()
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	back := new(eval.Case)
	if err := json.Unmarshal(b, back); err != nil {
		t.Fatal(err)
	}
	return back
}

// evaluate answers a case with a response, and gives the result as JSON.
func evaluate(ctx context.Context, env *grade.Env, c *eval.Case, r *eval.Response) ([]byte, error) {
	respond := func(context.Context, *eval.Attempt) (*eval.Response, error) { return r, nil }
	res, err := eval.Evaluate(ctx, &eval.Env{Targets: map[string]eval.Target{c.Target: eval.TargetFunc(respond)}, Grading: env}, c, "", 1)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Case   string
		Status eval.Status
		Value  float64
		Scores []eval.Score
	}{c.ID, res.Status, res.Value, res.Scores})
}

// fixedJudge says the same to every question of a form.
func fixedJudge() *judge.Judges {
	many := regexp.MustCompile(`list of (\d+) objects`)
	model := llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) {
		schema, text := string(req.Schema.Schema), ""
		switch {
		case strings.Contains(schema, `"score"`):
			text = `{"reasoning": "r", "score": 0.6}`
		case strings.Contains(schema, `"boolean"`):
			text = `{"reasoning": "r", "verdict": true}`
		case strings.Contains(schema, `"verdicts"`):
			n, _ := strconv.Atoi(many.FindStringSubmatch(req.Messages[0].Text)[1])
			var list []string
			for i := range n {
				list = append(list, fmt.Sprintf(`{"index": %d, "reasoning": "r", "verdict": "stated"}`, i+1))
			}
			text = `{"verdicts": [` + strings.Join(list, ",") + `]}`
		default:
			_, enum, _ := strings.Cut(schema, `"enum":["`)
			word, _, _ := strings.Cut(enum, `"`)
			text = `{"reasoning": "r", "verdict": "` + word + `"}`
		}
		return &llm.Reply{Text: text, Finish: llm.Stop, Usage: eval.Usage{Calls: 1}}, nil
	})
	return &judge.Judges{Default: model, Name: "test:judge", Named: func(string) (llm.Model, error) { return model, nil }}
}

// TestRestore: a case read from its stored form has the same rules, and gives
// every answer the same scores.
func TestRestore(t *testing.T) {
	t.Parallel()
	judged := &grade.Env{Judges: fixedJudge()}
	for _, c := range append(builtinCases(t), exampleCases(t)...) {
		back := stored(t, c)
		if err := grade.Restore(judged, back); err != nil {
			t.Error(err)
			continue
		}
		for i, check := range c.Checks {
			made := &eval.Check{Kind: back.Checks[i].Kind, Not: back.Checks[i].Not, Of: back.Checks[i].Of, Grader: back.Checks[i].Grader}
			for _, rule := range []json.RawMessage{back.Checks[i].Rule(), made.Rule()} {
				if !bytes.Equal(check.Rule(), rule) {
					t.Errorf("%s: the rule of %s (-want +got):\n%s", c.ID, check.Key, cmp.Diff(string(check.Rule()), string(rule)))
				}
			}
		}
		for i, r := range responses {
			compareScores(t, fmt.Sprintf("%s, response %d", c.ID, i), judged, c, judged, back, r)
		}
	}
}

// TestRestoreWithoutAJudge: what the plan of a run marks as skipped is skipped
// in a restored case, inside composites too.
func TestRestoreWithoutAJudge(t *testing.T) {
	t.Parallel()
	none := new(grade.Env)
	for _, c := range append(builtinCases(t), exampleCases(t)...) {
		if c.ID == panelID {
			continue // a panel names its judges, so the run cannot start without them
		}
		grade.SkipJudged(c.Checks, grade.NoJudge)
		back := stored(t, c)
		if err := grade.Restore(none, back); err != nil {
			t.Error(err)
			continue
		}
		for i, r := range responses {
			compareScores(t, fmt.Sprintf("%s, response %d", c.ID, i), none, c, none, back, r)
		}
	}
}

const panelID = "panel"

func compareScores(t *testing.T, what string, envA *grade.Env, a *eval.Case, envB *grade.Env, b *eval.Case, r *eval.Response) {
	t.Helper()
	want, err := evaluate(t.Context(), envA, a, r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := evaluate(t.Context(), envB, b, r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-suite +stored):\n%s", what, diff)
	}
}

func TestRestoreTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ check, want string }{
		"unknown kind":    {`{"key":"k","kind":"contans","rule":{"type":"contans","value":"a"}}`, `case c, check k: f.yaml:3:5: unknown check type "contans"`},
		"unknown field":   {`{"key":"k","kind":"contains","rule":{"type":"contains","valu":"a"}}`, `unknown field "valu"`},
		"no rule":         {`{"key":"k","kind":"contains"}`, `f.yaml:3:5`},
		"another kind":    {`{"key":"k","kind":"equals","rule":{"type":"contains","value":"a"}}`, `its rule is of the kind contains, want equals`},
		"a missing file":  {`{"key":"k","kind":"judge","rule":{"type":"judge","criteria":"a","prompt":"none.md"}}`, `open "none.md"`},
		"a wrong pattern": {`{"key":"k","kind":"matches_regex","rule":{"type":"matches_regex","pattern":"("}}`, `f.yaml:3:5`},
	} {
		check := strings.TrimSuffix(tc.check, "}") + `,"pos":{"file":"f.yaml","line":3,"col":5}}`
		var c eval.Case
		if err := json.Unmarshal([]byte(`{"id":"c","checks":[`+check+`]}`), &c); err != nil {
			t.Fatal(err)
		}
		err := grade.Restore(nil, &c)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", name, err, tc.want)
		}
	}
}

func FuzzRestore(f *testing.F) {
	for _, rule := range []string{`{"type":"contains","value":"a"}`, `{"type":"all","checks":[{"type":"not_empty"}]}`, `{"type":"json_path","path":"$.a","equals":1e400}`, `[]`, `{"type":1}`} {
		f.Add([]byte(rule))
	}
	f.Fuzz(func(t *testing.T, rule []byte) {
		data, err := json.Marshal(map[string]any{"id": "c", "checks": []any{map[string]any{"key": "k", "kind": "contains", "rule": json.RawMessage(rule)}}})
		if err != nil {
			return
		}
		var c eval.Case
		if json.Unmarshal(data, &c) != nil {
			return
		}
		if err := grade.Restore(nil, &c); err == nil && c.Checks[0].Grader == nil {
			t.Fatalf("%s: no grader and no error", rule)
		}
	})
}

// job is an attempt as one process hands it to another.
type job struct {
	Case     *eval.Case
	Response *eval.Response
}

const storedEnv = "METTLE_TEST_EVALUATE_STORED"

// TestSecondProcess: the deterministic built-in suites, evaluated in a second
// process from their stored form, give the same scores byte by byte.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	if out := os.Getenv(storedEnv); out != "" {
		evaluateStored(t, out)
		return
	}
	env := &grade.Env{Environ: grade.PassedOn(os.Environ())}
	var jobs, want bytes.Buffer
	n := 0
	for _, c := range append(builtinCases(t), exampleCases(t)...) {
		if c.ID == panelID {
			continue
		}
		grade.SkipJudged(c.Checks, grade.NoJudge)
		for _, r := range responses {
			line, err := evaluate(t.Context(), env, c, r)
			if err != nil {
				t.Fatal(err)
			}
			want.Write(append(line, '\n'))
			if err := json.NewEncoder(&jobs).Encode(job{c, r}); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	out := filepath.Join(t.TempDir(), "results.jsonl")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecondProcess$")
	cmd.Env = append(os.Environ(), storedEnv+"="+out)
	cmd.Stdin = &jobs
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%d attempts (-first process +second):\n%s", n, diff)
	}
}

// evaluateStored is the second process: it reads jobs and writes results.
func evaluateStored(t *testing.T, out string) {
	env := &grade.Env{Environ: grade.PassedOn(os.Environ())}
	var results bytes.Buffer
	for dec := json.NewDecoder(os.Stdin); dec.More(); {
		var j job
		if err := dec.Decode(&j); err != nil {
			t.Fatal(err)
		}
		if err := grade.Restore(env, j.Case); err != nil {
			t.Fatal(err)
		}
		line, err := evaluate(t.Context(), env, j.Case, j.Response)
		if err != nil {
			t.Fatal(err)
		}
		results.Write(append(line, '\n'))
	}
	if err := os.WriteFile(out, results.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
