package openai

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/llmtest"
)

func TestSchemaForServersThatTakeLess(t *testing.T) {
	for _, c := range []struct {
		name, format, note string
		refuse             []string
		rejected           int
	}{
		{"json_object", "json_object", "schema asked for in words: the server takes json_object only", []string{"json_schema"}, 1},
		{"words", "", "schema asked for in words: the server takes no response_format", []string{"json_schema", "json_object"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, s := compatible(t, llmtest.Options{Refuse: c.refuse, Answer: func(llmtest.Call) llmtest.Answer {
				return llmtest.Answer{Text: "<think>hm</think>\n```json\n{\"reasoning\":\"x\",\"a_score\":1}\n```"}
			}})
			for range 2 {
				got, err := m.Generate(t.Context(), judge())
				if err != nil {
					t.Fatal(err)
				}
				equal(t, `{"reasoning":"x","a_score":1}`, got.Text)
				equal(t, []string{c.note}, got.Notes)
			}
			if len(s.Rejected()) != c.rejected || s.Calls() != 2 {
				t.Errorf("%d calls, turned down: %v", s.Calls(), s.Rejected())
			}
			if call := s.Log()[1]; call.Format != c.format || !call.Has(verdict) || !strings.HasPrefix(call.System, "You judge.") {
				t.Errorf("asked for %q by %q", call.Format, call.System)
			}
		})
	}
}

// What servers really say when they do not take a schema.
func TestWordsOfServersThatTakeLess(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		`{"error":"'response_format.type' must be 'text'"}`,
		`{"error":{"code":400,"message":"response_format type must be one of \"text\" or \"json_object\", but got: json_schema","type":"invalid_request_error"}}`,
		`{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","code":400}`,
		`{"detail":[{"loc":["body","response_format","type"],"msg":"unexpected value"}]}`,
	} {
		m, _ := compatible(t, llmtest.Options{Answer: func(c llmtest.Call) llmtest.Answer {
			if c.Format == "json_schema" {
				return llmtest.Answer{Status: 400, Body: body}
			}
			return llmtest.Answer{Text: "{}"}
		}})
		if got, err := m.Generate(t.Context(), judge()); err != nil || got.Text != "{}" {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestLearnsWhatTheModelRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		serve  func(*testing.T, llmtest.Options) (*Model, *llmtest.Server)
		refuse []string
		sent   string // of the limit's name
		notes  []string
	}{
		{"a reasoning model", serve, []string{"temperature", "max_tokens"}, "max_completion_tokens", []string{"temperature left out: the model does not take it"}},
		{"a reasoning model behind a gateway", compatible, []string{"temperature", "max_tokens"}, "max_completion_tokens", []string{"temperature left out: the model does not take it"}},
		{"an old server", serve, []string{"max_completion_tokens"}, "max_tokens", nil},
		{"a bare one", compatible, []string{"max_completion_tokens", "max_tokens", "seed"}, "", []string{"seed left out: the model does not take it", "limit of tokens left out: the model does not take it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, s := c.serve(t, llmtest.Options{Refuse: c.refuse, Answer: func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: "ok"} }})
			req := ask("?")
			req.Temperature, req.MaxTokens, req.Seed = ptr(0.0), 100, ptr(int64(1))
			before := 0
			for i := range 2 {
				got, err := m.Generate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, c.notes, got.Notes)
				if i == 1 && len(s.Rejected()) != before {
					t.Error("nothing was remembered")
				}
				before = len(s.Rejected())
			}
			raw := string(s.Log()[1].Raw)
			if c.sent != "" && !strings.Contains(raw, `"`+c.sent+`":100`) || c.sent == "" && strings.Contains(raw, "tokens") {
				t.Errorf("sent %s", raw)
			}
		})
	}
}

func TestLearnsSideBySide(t *testing.T) {
	m, s := compatible(t, llmtest.Options{
		Refuse: []string{"temperature", "max_tokens", "json_schema"},
		Answer: func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: "{}"} },
	})
	req := judge()
	req.Temperature, req.MaxTokens = ptr(0.5), 10
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if s.Calls() != 32 {
		t.Errorf("%d calls", s.Calls())
	}
}

// A schema that OpenAI finds wrong, and a value out of range, are errors to be
// seen.
func TestKeepsErrorsOfTheCaller(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{Text: "{}"}))
	req := ask("?")
	req.Schema = &llm.Schema{Name: "s", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number"}}}`)}
	if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid || !strings.Contains(err.Error(), "additionalProperties") {
		t.Errorf("wrong schema: %v", err)
	}
	req = ask("?")
	req.Temperature = ptr(2.5)
	if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid {
		t.Errorf("wrong temperature: %v", err)
	}
	if len(s.Rejected()) != 2 {
		t.Errorf("turned down: %v", s.Rejected())
	}
	for name, req := range map[string]*llm.Request{
		"says nothing": {Messages: []llm.Message{{Role: llm.User}}},
		"nobody":       {Messages: []llm.Message{{Role: "system", Text: "x"}}},
		"schema":       {Messages: []llm.Message{{Role: llm.User, Text: "x"}}, Schema: &llm.Schema{Schema: json.RawMessage("{")}},
		"tool":         {Messages: []llm.Message{{Role: llm.User, Text: "x"}}, Tools: []llm.Tool{{Name: "x", Input: json.RawMessage("{")}}},
	} {
		if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
