package target_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/target"
)

const agents = "---\nname: agents\ndescription: Build agents.\nlanguage: js\n---\n# Agents\n\nUse {{language}} and createAgent.\n"

func library() *skill.Library {
	return skill.NewLibrary(fstest.MapFS{
		"agents/js/SKILL.md": {Data: []byte(agents)},
		"plain/SKILL.md":     {Data: []byte("---\nname: plain\ndescription: d\n---\nText.\n")},
		"blank/SKILL.md":     {Data: []byte(" \n\n")},
	}, "the skills")
}

func askSkill(t *testing.T, input string, reply *llm.Reply) (*llm.Request, *eval.Response, error) {
	t.Helper()
	var seen *llm.Request
	s := new(target.Skill)
	model := llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) {
		seen = req
		return reply, nil
	})
	if err := s.Use(target.Supplies{Skills: library(), ModelName: "test:model", Model: model}); err != nil {
		t.Fatal(err)
	}
	c := &eval.Case{ID: "c", Input: json.RawMessage(input)}
	if err := s.CheckCase(c); err != nil {
		return nil, nil, err
	}
	resp, err := s.Respond(t.Context(), &eval.Attempt{Case: c})
	return seen, resp, err
}

func TestTheSkillIsTheOnlyContext(t *testing.T) {
	reply := &llm.Reply{Text: "Use createAgent.", Finish: llm.Stop, Model: "m-1", Latency: time.Second, Usage: eval.Usage{Calls: 1, Input: 10, Output: 3}}
	req, resp, err := askSkill(t, `{"skill": "agents/js/SKILL.md", "question": "How with {{skill}}?"}`, reply)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(req.System, "\n"+agents) || !strings.Contains(req.System, "in TypeScript") {
		t.Errorf("system prompt:\n%s", req.System)
	}
	if req.Messages[0].Text != "How with {{skill}}?" || len(req.Messages) != 1 || !req.CacheSystem || req.MaxTokens == 0 || req.Trial != 1 {
		t.Errorf("request %+v", req)
	}
	if resp.Text != reply.Text || resp.Context != agents || resp.Meta["language"] != "js" || resp.Meta["skill"] != "agents" || resp.Model != "m-1" || resp.Latency != time.Second || *resp.Usage != reply.Usage {
		t.Errorf("response %+v", resp)
	}
}

func TestAChallengeAsksForAProgram(t *testing.T) {
	req, _, err := askSkill(t, `{"skill": "agents/js", "challenge": "Write {{language}} soup."}`, &llm.Reply{Text: "x", Finish: llm.Stop})
	if err != nil {
		t.Fatal(err)
	}
	if text := req.Messages[0].Text; !strings.HasPrefix(text, "Write {{language}} soup.\n") || !strings.Contains(text, "complete program in TypeScript") {
		t.Errorf("the user's turn is %q", text)
	}
}

func TestWhatSaysNothingAboutTheSkillIsAnError(t *testing.T) {
	for class, reply := range map[string]*llm.Reply{
		"truncated": {Text: "half", Finish: llm.Truncated, Usage: eval.Usage{Calls: 1, Input: 10, Output: 8192, Cost: 7}},
		"empty":     {Text: " \n", Finish: llm.Stop},
	} {
		_, _, err := askSkill(t, `{"skill": "plain", "question": "q"}`, reply)
		if err == nil || eval.FaultOf(err).Class != class {
			t.Errorf("%s: %v", class, err)
		} else if used := eval.FaultOf(err).Usage; used == nil || *used != reply.Usage {
			t.Errorf("%s: it cost %v, want %v: it was paid for", class, used, reply.Usage)
		}
	}
	// Anthropic ends such a reply with refusal, OpenAI with content_filter.
	for _, finish := range []llm.Finish{llm.Refusal, llm.Filtered} {
		_, resp, err := askSkill(t, `{"skill": "plain", "question": "q"}`, &llm.Reply{Finish: finish, Refused: "policy"})
		if err != nil || !strings.Contains(resp.Text, "refused to answer: policy") || resp.Meta["finish"] != "refusal" {
			t.Errorf("%s is an answer, got %+v, %v", finish, resp, err)
		}
	}
}

func TestCasesAboutSkillsAreCheckedAtLoad(t *testing.T) {
	for input, want := range map[string]string{
		`{"question": "q"}`:  "names no skill",
		`{"skill": "plain"}`: "either a question or a challenge",
		`{"skill": "plain", "question": "q", "challenge": "c"}`: "either a question or a challenge",
		`{"skill": 3, "question": "q"}`:                         "read the case's input",
	} {
		if _, _, err := askSkill(t, input, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", input, err, want)
		}
	}
}

func TestAnEmptySkillIsNotAskedAbout(t *testing.T) {
	seen, _, err := askSkill(t, `{"skill": "blank", "question": "q"}`, nil)
	if seen != nil || err == nil || !strings.Contains(err.Error(), "blank") || eval.FaultOf(err).Class != "skill" {
		t.Errorf("a model was asked %v, and the error is %v", seen, err)
	}
}

func TestSkillPathsStayInTheLibrary(t *testing.T) {
	s := new(target.SkillFile)
	if err := s.Use(target.Supplies{Skills: library()}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../agents/js", "/etc/passwd", "agents/../../x", "gone"} {
		input, _ := json.Marshal(map[string]string{"skill": path})
		_, err := s.Respond(t.Context(), &eval.Attempt{Case: &eval.Case{Input: input}})
		if err == nil || eval.FaultOf(err).Class != "skill" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPromptsCanBeReplaced(t *testing.T) {
	s := new(target.Skill)
	prompts := fstest.MapFS{"skill.md": {Data: []byte("Own: no place for it")}}
	if err := s.Use(target.Supplies{Skills: library(), Prompts: prompts}); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "skill.md has no {{skill}}") {
		t.Errorf("a prompt without the skill: %v", err)
	}
	ours, _ := target.Prompts(nil)
	own, err := target.Prompts(fstest.MapFS{"skill.md": {Data: []byte("Own: {{skill}}")}})
	if err != nil || ours["skill.md"] == own["skill.md"] || ours["challenge.md"] != own["challenge.md"] {
		t.Errorf("digests %v and %v (%v)", ours, own, err)
	}
}

func TestASkillsStepIsComplete(t *testing.T) {
	reply := &llm.Reply{Text: "x", Finish: llm.Stop, Latency: time.Second, Usage: eval.Usage{Calls: 1, Input: 10, Output: 3}}
	start := time.Now()
	clock := []time.Duration{0, time.Second, 3 * time.Second} // the attempt, the call, its end
	s := new(target.Skill)
	model := llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) { return reply, nil })
	if err := s.Use(target.Supplies{Skills: library(), ModelName: "test:model", Model: model}); err != nil {
		t.Fatal(err)
	}
	var events []eval.Event
	env := &eval.Env{
		Targets: map[string]eval.Target{"": s}, Observe: func(e eval.Event) { events = append(events, e) },
		Now: func() time.Time {
			at := start.Add(clock[0])
			clock = clock[min(1, len(clock)-1):]
			return at
		},
	}
	res, err := eval.Evaluate(t.Context(), env, &eval.Case{ID: "c", Input: json.RawMessage(`{"skill": "plain", "question": "q"}`)}, "", 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []eval.Step{{ID: "1", Kind: eval.MessageStep, Name: "test:model", Start: time.Second, Duration: time.Second, Usage: &reply.Usage}}
	if diff := cmp.Diff(want, res.Response.Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if len(events) != 1 || events[0].Kind != eval.ModelEvent || events[0].Name != "test:model" || events[0].Duration != 2*time.Second || *events[0].Usage != reply.Usage {
		t.Errorf("events %+v", events)
	}
}

func TestTargetsDeclare(t *testing.T) {
	question := &eval.Case{ID: "c", Input: json.RawMessage(`{"skill": "plain", "question": "q"}`)}
	for _, tt := range []struct {
		target target.Target
		needs  target.Needs
		wrong  string // with the case above
		tokens bool
	}{
		{new(target.MCP), target.Needs{Server: true}, "the test has no tool, and there is none under defaults", false},
		{&target.Skill{ModelName: "openai:m"}, target.Needs{Model: true, ModelName: "openai:m", Skills: true}, "", true},
		{new(target.SkillFile), target.Needs{Skills: true}, "", false},
	} {
		if got := tt.target.Needs(); got != tt.needs {
			t.Errorf("%T needs %+v, want %+v", tt.target, got, tt.needs)
		}
		if err := tt.target.CheckCase(question); (err == nil) != (tt.wrong == "") || err != nil && err.Error() != tt.wrong {
			t.Errorf("%T: the case is %v, want %q", tt.target, err, tt.wrong)
		}
		if err := tt.target.Use(target.Supplies{Skills: library()}); err != nil {
			t.Errorf("%T: %v", tt.target, err)
		}
		tokens, err := tt.target.Estimate(question)
		if err != nil || (tokens.Input > 20) != tt.tokens || (tokens.Output == target.TypicalAnswer) != tt.tokens {
			t.Errorf("%T: an answer takes %+v, %v", tt.target, tokens, err)
		}
	}
}
