package grade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/llm"
)

// judgesBy is one judge that answers by a function.
func judgesBy(answer func(req *llm.Request) (string, error)) *judge.Judges {
	m := llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) {
		text, err := answer(req)
		if err != nil {
			return nil, err
		}
		usage := eval.Usage{Calls: 1, Input: 10, Output: 2, Cost: eval.Dollars(0.5)}
		return &llm.Reply{Text: text, Finish: llm.Stop, Model: "model-2026-01-01", Usage: usage}, nil
	})
	return &judge.Judges{Default: m, Name: "test:judge", Named: func(string) (llm.Model, error) { return m, nil }}
}

func TestJudgeRequest(t *testing.T) {
	t.Parallel()
	var asked []*llm.Request
	judges := judgesBy(func(req *llm.Request) (string, error) {
		asked = append(asked, req)
		if len(asked) == 1 {
			return "Nothing.", nil
		}
		return `{"reasoning": "Line one.\nLine two.", "score": 0.75}`, nil
	})
	c := &eval.Case{Input: json.RawMessage(`{"question": "Why?"}`)}
	s := decode(t, "{type: judge, criteria: All of it.}").Grade(t.Context(), attempt(c, &eval.Response{Text: "So.", Context: "unseen"}, judges))
	if len(asked) != 2 {
		t.Fatalf("%d calls", len(asked))
	}
	first, second := asked[0], asked[1]
	if first.Temperature == nil || *first.Temperature != 0 || first.MaxTokens != 4096 || first.Trial != 1 || first.Sample != 0 || first.Schema.Name != "score" {
		t.Errorf("request %+v", first)
	}
	if !json.Valid(first.Schema.Schema) || !strings.HasPrefix(first.System, "You ") || strings.Contains(said(first), "unseen") {
		t.Errorf("request\n%s", said(first))
	}
	if len(second.Messages) != 3 || second.Messages[0].Text != first.Messages[0].Text || second.Messages[1].Text != "Nothing." ||
		second.Messages[1].Role != llm.Assistant || !strings.Contains(second.Messages[2].Text, "the judge's reply holds no JSON object") {
		t.Errorf("repair\n%s", said(second))
	}
	want := eval.Score{
		Key: "judge", Kind: "judge", Status: eval.Pass, Value: 0.75, Weight: 1, Severity: eval.ErrorSeverity,
		Reason: "score 0.75 (at least 0.7): Line one. Line two",
		Usage:  &eval.Usage{Calls: 2, Input: 20, Output: 4, Cost: eval.Dollars(1)},
		Details: map[string]any{
			"reasoning": "Line one.\nLine two.", "model": "test:judge", "model_version": "model-2026-01-01",
			"notes": []string{"asked twice: the judge's reply holds no JSON object"},
		},
	}
	if diff := cmp.Diff(want, s, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "stop" }, cmp.Ignore())); diff != "" {
		t.Errorf("score (-want +got):\n%s", diff)
	}
}

// TestJudgeGetsMoreRoom: a judge that ran out of it while it thought would run
// out of it again.
func TestJudgeGetsMoreRoom(t *testing.T) {
	t.Parallel()
	j := newScripted(t, "room", "finish: truncated\n{\"reas\n---\n{\"reasoning\": \"r\", \"score\": 1}\n")
	s := decode(t, "{type: accuracy, criteria: Right.}").Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "So."}, j.judges()))
	j.done()
	if s.Status != eval.Pass || j.asked[0].MaxTokens != 4096 || j.asked[1].MaxTokens != 4*4096 {
		t.Errorf("%s %s with %d and %d tokens", s.Status, s.Reason, j.asked[0].MaxTokens, j.asked[1].MaxTokens)
	}
}

// TestJudgeNotes: what was not sent to the judge as asked is in the details.
func TestJudgeNotes(t *testing.T) {
	t.Parallel()
	replies := []string{"Nothing.", `{"reasoning": "r", "score": 1}`}
	m := llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) {
		text := replies[0]
		replies = replies[1:]
		return &llm.Reply{Text: text, Finish: llm.Stop, Notes: []string{"temperature left out"}}, nil
	})
	judges := &judge.Judges{Default: m, Name: "test:judge"}
	s := decode(t, "{type: accuracy, criteria: Right.}").Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "So."}, judges))
	want := []string{"temperature left out", "asked twice: the judge's reply holds no JSON object"}
	if diff := cmp.Diff(want, s.Details["notes"]); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// TestJudgeRequestsAreStable: recordings find a call again by what it says.
func TestJudgeRequestsAreStable(t *testing.T) {
	t.Parallel()
	for _, check := range []string{
		"{type: accuracy, criteria: Right.}", "{type: facts, expectedFacts: [a, b]}", "{type: pairwise, reference: b}",
		"{type: panel, models: [ollama:a, ollama:a], check: {type: judge, criteria: Right., scale: boolean}}",
	} {
		var runs [2][]string
		for i := range runs {
			j := newScripted(t, check, strings.Repeat("finish: refusal\n---\n", 4))
			decode(t, check).Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "An answer."}, j.judges()))
			for _, req := range j.asked {
				b, err := json.Marshal(req)
				if err != nil {
					t.Fatal(err)
				}
				runs[i] = append(runs[i], string(b))
			}
			slices.Sort(runs[i])
			if len(slices.Compact(slices.Clone(runs[i]))) != len(runs[i]) {
				t.Errorf("%s: two calls are the same", check)
			}
		}
		if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
			t.Errorf("%s (-first +second):\n%s", check, diff)
		}
	}
}

func TestPairwiseSwapsPlaces(t *testing.T) {
	t.Parallel()
	j := newScripted(t, "pairwise", "finish: refusal\n---\nfinish: refusal\n")
	decode(t, "{type: pairwise, reference: The other.}").Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "Mine."}, j.judges()))
	slices.SortFunc(j.asked, func(a, b *llm.Request) int { return a.Sample - b.Sample })
	for i, want := range []string{"Mine. The other.", "The other. Mine."} {
		text := j.asked[i].Messages[0].Text
		var places []string
		for _, name := range []string{"first answer", "second answer"} {
			code := codeIn(t, text)
			_, inside, _ := strings.Cut(text, "<<<begin "+name+" "+code+">>>\n")
			inside, _, _ = strings.Cut(inside, "\n<<<end "+name+" "+code+">>>")
			places = append(places, inside)
		}
		if got := strings.Join(places, " "); got != want || j.asked[i].Sample != i {
			t.Errorf("sample %d: %q, want %q", j.asked[i].Sample, got, want)
		}
	}
}

// TestJudgesOverlap: the judges of a case are asked at the same time.
func TestJudgesOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		judges := judgesBy(func(*llm.Request) (string, error) {
			time.Sleep(time.Second)
			return `{"reasoning": "r", "score": 0.5, "items": [{"point": "p", "reasoning": "r", "verdict": "partly"}]}`, nil
		})
		answer := &eval.Response{Text: "```ts\nlet a = 1;\n```", Meta: map[string]any{"language": "js"}}
		for name, c := range map[string]*eval.Check{
			"quality": Quality("Right.", "", eval.Pos{}), "coding": Coding("Right.", nil, nil, nil, "", eval.Pos{}),
			"panel": decode(t, "{type: panel, models: [ollama:a, ollama:b, ollama:c], check: {type: accuracy, criteria: a}}"),
		} {
			start := time.Now()
			s := c.Grade(t.Context(), attempt(&eval.Case{}, answer, judges))
			if took := time.Since(start); took != time.Second || s.Usage == nil || s.Usage.Calls != 3 {
				t.Errorf("%s took %s: %s: %s", name, took, s.Status, s.Reason)
			}
		}
	})
}

// TestJudgesAreNotLate: a judge that waits for its turn is not held to the
// run's limit.
func TestJudgesAreNotLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := judgesBy(nil)
		slow.Default = llm.ModelFunc(func(ctx context.Context, _ *llm.Request) (*llm.Reply, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return &llm.Reply{Text: `{"reasoning": "r", "score": 1, "items": [{"point": "p", "reasoning": "r", "verdict": "covered"}]}`}, nil
			}
		})
		slow.Named = func(string) (llm.Model, error) { return slow.Default, nil }
		checks := []*eval.Check{
			Quality("a", "", eval.Pos{}), Coding("a", nil, nil, nil, "", eval.Pos{}), CodeRequirements(nil, nil, "One.", eval.Pos{}), Boundary("a", true, eval.Pos{}),
			decode(t, "{type: panel, models: [ollama:a, ollama:b], check: {type: accuracy, criteria: a}}"),
		}
		answer := &eval.Response{Text: "```ts\nlet a = 1;\n```", Meta: map[string]any{"language": "js"}}
		run := runOne(t, slow, time.Second, answer, checks...)
		if run.Summary.Passed != 1 {
			t.Errorf("%+v", run.Summary.ByKey)
		}
	})
}

// runOne runs one case that is always answered the same.
func runOne(t *testing.T, judges *judge.Judges, timeout time.Duration, answer *eval.Response, checks ...*eval.Check) *eval.Run {
	t.Helper()
	respond := func(context.Context, *eval.Attempt) (*eval.Response, error) { return answer, nil }
	env := &eval.Env{
		Now: time.Now, Timeout: timeout, Targets: map[string]eval.Target{"": eval.TargetFunc(respond)}, Grading: &Env{Judges: judges},
	}
	r := &eval.Runner{Env: env, Executor: &eval.Pool{Env: env}}
	run, err := r.Run(t.Context(), eval.Header{}, []*eval.Suite{{Name: "s", Cases: []*eval.Case{{ID: "c", Checks: checks}}}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestStopReachesTheRun: a budget that is spent while judging ends the run,
// however deep the judge is.
func TestStopReachesTheRun(t *testing.T) {
	t.Parallel()
	spent := func(req *llm.Request) (string, error) {
		if strings.Contains(said(req), "Judge how accurate") {
			return "", fmt.Errorf("reserve: %w", &eval.Stop{Why: "the budget is spent"})
		}
		return "no verdict", nil
	}
	for _, c := range []*eval.Check{
		decode(t, "{type: accuracy, criteria: a}"), Quality("a", "", eval.Pos{}), Coding("a", nil, nil, nil, "", eval.Pos{}),
		decode(t, "{type: panel, models: [ollama:a, ollama:b], check: {type: accuracy, criteria: a}}"),
		decode(t, "{type: any, checks: [{type: not_empty}, {type: accuracy, criteria: a}]}"),
	} {
		answer := &eval.Response{Text: "An answer.", Meta: map[string]any{"language": "js"}}
		run := runOne(t, judgesBy(spent), 0, answer, c)
		if run.Header.Status != eval.Stopped || run.Why != "the budget is spent" || run.Summary.Total != 0 {
			t.Errorf("%s: run %s (%s) with %d results", c.Kind, run.Header.Status, run.Why, run.Summary.Total)
		}
	}
}

func TestJudgePrepare(t *testing.T) {
	t.Parallel()
	named := func(spec string) (llm.Model, error) {
		if strings.HasPrefix(spec, "openai:") {
			return nil, errors.New("OPENAI_API_KEY is not set")
		}
		return llm.ModelFunc(nil), nil
	}
	for _, tc := range []struct {
		check  string
		judges *judge.Judges
		want   []string
	}{
		{"{type: accuracy, criteria: a}", nil, nil}, // skipped, not missing
		{"{type: accuracy, criteria: a, model: 'openai:gpt-5'}", nil, []string{"judge openai:gpt-5: models of checks cannot be asked here"}},
		{"{type: accuracy, criteria: a, model: 'openai:gpt-5'}", &judge.Judges{Named: named}, []string{"judge openai:gpt-5: OPENAI_API_KEY is not set"}},
		{"{type: accuracy, criteria: a, model: 'ollama:qwen3'}", &judge.Judges{Named: named}, nil},
		{
			"{type: panel, models: ['openai:a', 'ollama:b', 'openai:c'], check: {type: facts, expectedFacts: [a]}}", &judge.Judges{Named: named},
			[]string{"judge openai:a: OPENAI_API_KEY is not set", "judge openai:c: OPENAI_API_KEY is not set"},
		},
		{
			"{type: weighted, threshold: 0, checks: [{type: all, checks: [{type: pairwise, reference: a, model: 'openai:gpt-5'}]}]}", &judge.Judges{Named: named},
			[]string{"judge openai:gpt-5: OPENAI_API_KEY is not set"},
		},
		{
			"{type: accuracy, criteria: a}", &judge.Judges{Default: llm.ModelFunc(nil), Prompts: fstest.MapFS{"acuracy.md": {Data: []byte("Judge.")}}},
			[]string{`prompt acuracy.md: there is no prompt of this name (did you mean "accuracy.md"?)`},
		},
	} {
		err := decode(t, tc.check).Grader.(eval.Preparer).Prepare(t.Context(), attempt(nil, nil, tc.judges).Env, nil)
		var missing *eval.Missing
		if errors.As(err, &missing) != (tc.want != nil) || tc.want != nil && !slices.Equal(missing.What, tc.want) {
			t.Errorf("%s: %v, want %v", tc.check, err, tc.want)
		}
	}
}

func TestOwnPrompts(t *testing.T) {
	t.Parallel()
	var prompt string
	j := judgesBy(func(req *llm.Request) (string, error) {
		prompt = said(req)
		return `{"reasoning": "r", "score": 1}`, nil
	})
	j.Prompts = fstest.MapFS{"accuracy.md": {Data: []byte("Judge my way.\r\n")}}
	s := decode(t, "{type: accuracy, criteria: a}").Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: "b"}, j))
	if s.Status != eval.Pass || !strings.Contains(prompt, "user: Judge my way.\n\n<<<begin criteria") {
		t.Errorf("%s: %s\n%s", s.Status, s.Reason, prompt)
	}
}

func TestJudgedSugar(t *testing.T) {
	t.Parallel()
	pos := eval.Pos{File: "suite.yaml", Line: 7, Col: 9}
	for _, tc := range []struct {
		check     *eval.Check
		key, rule string
		calls     int
	}{
		{
			Quality("Right.", "", pos), "composite_quality", `{"type":"weighted","threshold":0.7,"must":["accuracy"],"checks":[{"type":"accuracy","criteria":"Right.","weight":0.4},` +
				`{"type":"completeness","criteria":"Right.","weight":0.3},{"type":"code_quality","criteria":"Right.","weight":0.3}]}`, 3,
		},
		{
			Coding("Right.", []string{"langchain"}, []string{".invoke("}, nil, langchainCompat, pos), "coding_composite",
			`{"type":"weighted","threshold":0.5,"checks":[{"type":"weighted","threshold":0.5,"checks":[{"type":"accuracy","criteria":"Right.","weight":0.4},` +
				`{"type":"completeness","criteria":"Right.","weight":0.3},{"type":"code_quality","criteria":"Right.","compat":"langchain-1.0","weight":0.3}],` +
				`"key":"composite_quality","weight":0.5},{"type":"code_validation","requiredImports":["langchain"],"requiredPatterns":[".invoke("],"threshold":0.5,"weight":0.5}]}`, 3,
		},
		{Boundary("Says no.", true, pos), "boundary_adherence", `{"type":"boundary","criteria":"Says no.","expectRefusal":true}`, 1},
		{Boundary("Says yes.", false, pos), "boundary_adherence", `{"type":"boundary","criteria":"Says yes.","expectRefusal":false}`, 1},
		{
			Facts([]string{"a"}, []string{"b"}, []string{"c"}, pos), "facts",
			`{"type":"facts","expectedFacts":["a"],"forbiddenClaims":["b"],"acceptableVariations":["c"]}`, 1,
		},
		{CodeRequirements([]string{"call:a"}, nil, "", pos), "code_requirements", `{"type":"code_requirements","mustInclude":["call:a"]}`, 0},
		{CodeRequirements(nil, []string{"b"}, "One.", pos), "code_requirements", `{"type":"code_requirements","mustNotInclude":["b"],"expectedStructure":"One."}`, 1},
		{decode(t, "{type: pairwise, reference: a}"), "pairwise", `{"type":"pairwise","reference":"a"}`, 2},
		{
			decode(t, "{type: panel, models: [ollama:a, ollama:b], check: {type: pairwise, reference: a, key: k}}"), "panel",
			`{"type":"panel","models":["ollama:a","ollama:b"],"check":{"type":"pairwise","reference":"a","key":"k"}}`, 4,
		},
	} {
		c := tc.check
		if diff := cmp.Diff([]string{tc.key, tc.rule}, []string{c.Key, string(c.Rule())}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.key, diff)
		}
		if got := JudgeCalls(c); got != tc.calls {
			t.Errorf("%s: %d calls, want %d", tc.key, got, tc.calls)
		}
		again := decode(t, string(c.Rule()))
		if diff := cmp.Diff(string(c.Rule()), string(again.Rule())); diff != "" {
			t.Errorf("%s loaded again (-want +got):\n%s", tc.key, diff)
		}
		if d := (&kind.Decoder{File: "suite.yaml"}); c.Pos == pos {
			_, n := kind.Parse("suite.yaml", []byte("{}"))
			if Verify(d, n, c); len(d.Problems) > 0 {
				t.Errorf("%s: %v", tc.key, d.Problems)
			}
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	d, n := kind.Parse("suite.yaml", []byte("mustInclude: [a, 're:(']\nexpectedFacts: ['']\nrequiredPatterns: ['re:[']"))
	for _, c := range []*eval.Check{
		CodeRequirements([]string{"a", "re:("}, nil, "", eval.Pos{}), Facts([]string{""}, nil, nil, eval.Pos{}),
		Coding("Right.", nil, []string{"re:["}, nil, "", eval.Pos{}),
	} {
		Verify(d, n, c)
	}
	var got []string
	for _, p := range d.Problems {
		got = append(got, fmt.Sprintf("%d:%d", p.Line, p.Col))
	}
	if diff := cmp.Diff([]string{"1:18", "2:17", "3:20"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%v", diff, d.Problems)
	}
}

// TestQualityScores: composites as worked out by hand from what judges said.
func TestQualityScores(t *testing.T) {
	t.Parallel()
	reply := func(req *llm.Request) (string, error) {
		for words, score := range map[string]string{"how accurate": "0.9", "wrong?": "0", "how complete": "", "Judge the code": "0.8"} {
			switch text := said(req); {
			case !strings.Contains(text, words) || words == "how accurate" && strings.Contains(text, "wrong?"):
			case words == "wrong?" && !strings.Contains(text, "how accurate"):
			case score == "":
				return `{"items": [{"point": "p", "reasoning": "r", "verdict": "covered"}, {"point": "q", "reasoning": "r", "verdict": "absent"}]}`, nil
			default:
				return `{"reasoning": "r", "score": ` + score + `}`, nil
			}
		}
		return "", errors.New("an unknown question")
	}
	code := "```ts\nimport { createAgent } from \"langchain\";\nconst agent = createAgent({});\n```"
	for _, tc := range []struct {
		name   string
		check  *eval.Check
		answer string
		judged bool
		status eval.Status
		value  float64
	}{
		{"with code", Quality("a", "", eval.Pos{}), code, true, eval.Pass, 0.4*0.9 + 0.3*0.5 + 0.3*0.8},
		{"without code", Quality("a", "", eval.Pos{}), "Prose.", true, eval.Pass, (0.4*0.9 + 0.3*0.5) / 0.7},
		{"inaccurate", Quality("wrong?", "", eval.Pos{}), code, true, eval.Fail, 0.3*0.5 + 0.3*0.8},
		{"inaccurate, compat", Quality("wrong?", langchainCompat, eval.Pos{}), "Prose.", true, eval.Fail, 0.3*0.5 + 0.3},
		{"without code, compat", Quality("a", langchainCompat, eval.Pos{}), "Prose.", true, eval.Pass, 0.4*0.9 + 0.3*0.5 + 0.3},
		{"without a judge", Quality("a", langchainCompat, eval.Pos{}), "Prose.", false, eval.Skip, 0},
		{"coding", Coding("a", []string{"langchain"}, []string{"call:createAgent"}, nil, "", eval.Pos{}), code, true, eval.Pass, 0.5*0.75 + 0.5},
		{"coding, unmet", Coding("a", []string{"langchain"}, []string{"call:createAgent", ".invoke("}, nil, "", eval.Pos{}), code, true, eval.Fail, 0.5*0.75 + 0.5*0.9},
		{"coding, unmet, compat", Coding("a", []string{"langchain"}, []string{".invoke("}, nil, langchainCompat, eval.Pos{}), code, true, eval.Pass, 0.5*0.75 + 0.5*0.8},
		{"coding in prose", Coding("a", nil, nil, nil, "", eval.Pos{}), "Prose.", true, eval.Fail, 0.5 * (0.4*0.9 + 0.3*0.5)},
		{"coding in an empty block", Coding("a", nil, nil, nil, "", eval.Pos{}), "```ts\n```", true, eval.Fail, 0},
		{"coding without a judge", Coding("a", []string{"langchain"}, []string{"call:createAgent"}, nil, "", eval.Pos{}), code, false, eval.Skip, 0},
		{"coding, unmet, without a judge", Coding("a", []string{"langchain"}, []string{".invoke("}, nil, "", eval.Pos{}), code, false, eval.Fail, 0.8},
	} {
		var judges *judge.Judges
		if tc.judged {
			judges = judgesBy(reply)
		} else {
			SkipJudged([]*eval.Check{tc.check}, NoJudge)
		}
		s := tc.check.Grade(t.Context(), attempt(&eval.Case{}, &eval.Response{Text: tc.answer, Meta: map[string]any{"language": "js"}}, judges))
		if s.Status != tc.status || fmt.Sprintf("%.6f", s.Value) != fmt.Sprintf("%.6f", tc.value) {
			t.Errorf("%s: %s %v, want %s %v: %s", tc.name, s.Status, s.Value, tc.status, tc.value, s.Reason)
		}
		if s.Status == eval.Skip && !strings.Contains(s.Reason, "no judge is configured") {
			t.Errorf("%s: %s", tc.name, s.Reason)
		}
	}
}
