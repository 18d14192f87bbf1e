package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/llmtest"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-proj-test-ABCDEFGHIJ0123456789"

// serve starts a server and a model that asks it as if it were OpenAI's.
func serve(t *testing.T, o llmtest.Options) (*Model, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(o)
	t.Cleanup(s.Close)
	return model(t, Config{BaseURL: s.OpenAI()}), s
}

// compatible is the same for a server that speaks the same language.
func compatible(t *testing.T, o llmtest.Options) (*Model, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(o)
	t.Cleanup(s.Close)
	return model(t, Config{Provider: llm.Compatible, BaseURL: s.OpenAI()}), s
}

func model(t *testing.T, c Config) *Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c.Key, c.Model, c.HTTP = key, "gpt-test", &http.Client{Transport: transport}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func answer(a llmtest.Answer) llmtest.Options {
	return llmtest.Options{Answer: func(llmtest.Call) llmtest.Answer { return a }}
}

func ask(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

func ptr[T any](v T) *T { return &v }

func equal(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(llm.Reply{}, "Latency"), cmpopts.IgnoreFields(llm.Error{}, "Err")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// generate asks and fails the test when there is no reply or the server found
// fault with the request.
func generate(t *testing.T, m *Model, s *llmtest.Server, req *llm.Request) *llm.Reply {
	t.Helper()
	r, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if bad := s.Rejected(); len(bad) > 0 {
		t.Fatalf("the server turned down: %v", bad)
	}
	return r
}

func TestGenerate(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{
		Text: "Use createAgent.", Model: "gpt-test-2025-01-01",
		Usage:  llmtest.Usage{Input: 10, Output: 5, CacheRead: 100, CacheWrite: 20},
		Header: http.Header{"X-Ratelimit-Remaining-Tokens": {"149984"}, "X-Ratelimit-Reset-Tokens": {"6m0s"}},
	}))
	req := ask("How do I make an agent?")
	req.System, req.CacheSystem, req.Temperature, req.Seed, req.MaxTokens = "You read a skill.", true, ptr(0.0), ptr(int64(7)), 500
	got := generate(t, m, s, req)
	equal(t, &llm.Reply{
		Text: "Use createAgent.", Finish: llm.Stop, Model: "gpt-test-2025-01-01",
		Usage:  eval.Usage{Calls: 1, Input: 130, Output: 5, CacheRead: 100, CacheWrite: 20, Unpriced: 1},
		Limits: &llm.Limits{Requests: llm.Limit{Left: -1}, Tokens: llm.Limit{Left: 149984, Reset: 6 * time.Minute}},
	}, got)
	if got.Latency <= 0 {
		t.Error("no latency")
	}
	call := s.Log()[0]
	if call.System != req.System || call.MaxTokens != 500 || *call.Temperature != 0 || *call.Seed != 7 || !strings.Contains(string(call.Raw), "max_completion_tokens") {
		t.Errorf("asked for %s", call.Raw)
	}
}

func TestToolsRoundTrip(t *testing.T) {
	m, s := serve(t, llmtest.Options{Answer: func(c llmtest.Call) llmtest.Answer {
		if len(c.Messages) == 1 {
			return llmtest.Answer{Text: "Let me look.", Calls: []llmtest.ToolCall{
				{ID: "call_1", Name: "search", Input: json.RawMessage(`{"q":"agents"}`)},
				{ID: "call_2", Name: "now", Input: json.RawMessage(`{}`)},
			}}
		}
		return llmtest.Answer{Text: "Found it."}
	}})
	req := ask("Look it up.")
	req.Tools = []llm.Tool{
		{Name: "search", Description: "Search.", Input: json.RawMessage(`{"properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z"],"type":"object"}`)},
		{Name: "now"},
	}
	first := generate(t, m, s, req)
	if first.Finish != llm.ToolUse || first.Text != "Let me look." {
		t.Fatalf("first reply: %+v", first)
	}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls},
		llm.Message{Role: llm.User, Text: "Go on.", Results: []llm.ToolResult{{ID: "call_1", Text: "page 1"}, {ID: "call_2", Text: "no clock", IsError: true}}},
	)
	if second := generate(t, m, s, req); second.Finish != llm.Stop || second.Text != "Found it." {
		t.Errorf("second reply: %+v", second)
	}
	call := s.Log()[1]
	equal(t, []llmtest.Message{
		{Role: "user", Text: "Look it up."},
		{Role: "assistant", Text: "Let me look.", Calls: []llmtest.ToolCall{
			{ID: "call_1", Name: "search", Input: json.RawMessage(`{"q":"agents"}`)}, {ID: "call_2", Name: "now", Input: json.RawMessage(`{}`)},
		}},
		{Role: "user", Results: []llmtest.ToolResult{{ID: "call_1", Text: "page 1"}, {ID: "call_2", Text: "error: no clock"}}},
		{Role: "user", Text: "Go on."},
	}, call.Messages)
	equal(t, []llmtest.Tool{
		{Name: "search", Description: "Search.", Input: req.Tools[0].Input},
		{Name: "now", Input: json.RawMessage(`{"type":"object"}`)},
	}, call.Tools)
}

func TestOddToolCalls(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{Finish: "stop", Calls: []llmtest.ToolCall{ // as Ollama and Gemini end it
		{Name: "a", Input: json.RawMessage("")},
		{ID: "x", Name: "b", Input: json.RawMessage(`{"q": "agen`)},
	}}))
	got := generate(t, m, s, ask("?"))
	if got.Finish != llm.ToolUse {
		t.Errorf("finish %s", got.Finish)
	}
	equal(t, []llm.ToolCall{
		{ID: "call_0", Name: "a", Input: json.RawMessage("{}")},
		{ID: "x", Name: "b", Input: json.RawMessage(`"{\"q\": \"agen"`)},
	}, got.Calls)
}

const verdict = `{"type":"object","properties":{"reasoning":{"type":"string"},"a_score":{"type":"number"}},"required":["reasoning","a_score"],"additionalProperties":false}`

func judge() *llm.Request {
	req := ask("Rate it.")
	req.System, req.Schema = "You judge.", &llm.Schema{Name: "the verdict", Schema: json.RawMessage(verdict)}
	return req
}

func TestSchema(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{Text: `{"reasoning":"good","a_score":0.9}`}))
	if got := generate(t, m, s, judge()); got.Text != `{"reasoning":"good","a_score":0.9}` || got.Notes != nil {
		t.Errorf("%+v", got)
	}
	// The order of the properties is the order in which the model writes.
	if call := s.Log()[0]; call.Format != "json_schema" || !call.Strict || call.SchemaName != "the_verdict" || string(call.Schema) != verdict {
		t.Errorf("asked for %s %v %s %s", call.Format, call.Strict, call.SchemaName, call.Schema)
	}
}

func TestFinish(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer llmtest.Answer
		want   llm.Reply
	}{
		{"stop", llmtest.Answer{Text: "Yes."}, llm.Reply{Text: "Yes.", Finish: llm.Stop}},
		{"truncated", llmtest.Answer{Text: "Yes, becau", Finish: "truncated"}, llm.Reply{Text: "Yes, becau", Finish: llm.Truncated}},
		{"refusal", llmtest.Answer{Finish: "refusal", Refused: "I can't help."}, llm.Reply{Finish: llm.Refusal, Refused: "I can't help."}},
		{"filtered", llmtest.Answer{Text: "Yes, b", Finish: "filtered"}, llm.Reply{Text: "Yes, b", Finish: llm.Filtered}},
		{"filtered by Gemini", llmtest.Answer{Finish: "content_filter: SAFETY"}, llm.Reply{Finish: llm.Filtered}},
		{"empty", llmtest.Answer{}, llm.Reply{Finish: llm.Stop}},
		{"unheard of", llmtest.Answer{Text: "…", Finish: "load"}, llm.Reply{Text: "…", Finish: llm.Unknown}},
		{
			"the prompt is filtered by Azure",
			llmtest.Answer{Status: 400, Code: "content_filter", Message: "The response was filtered due to the prompt " + key},
			llm.Reply{Finish: llm.Filtered, Refused: "The response was filtered due to the prompt [key]"},
		},
		{
			"the prompt is flagged",
			llmtest.Answer{Status: 400, Code: "invalid_prompt", Message: "flagged as potentially violating our usage policy"},
			llm.Reply{Finish: llm.Filtered, Refused: "flagged as potentially violating our usage policy"},
		},
		{
			"parts",
			llmtest.Answer{Body: `{"model":"gpt-test","usage":{},"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"thinking","thinking":[]},{"type":"text","text":"Ye"},{"type":"text","text":"s."}]}}]}`},
			llm.Reply{Text: "Yes.", Finish: llm.Stop},
		},
		{
			"no count",
			llmtest.Answer{Text: "Yes.", Usage: llmtest.Usage{None: true}},
			llm.Reply{Text: "Yes.", Finish: llm.Stop, Notes: []string{"tokens unknown: the server does not count them"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, s := serve(t, answer(c.answer))
			got := generate(t, m, s, ask("?"))
			got.Usage, c.want.Model = eval.Usage{}, "gpt-test"
			equal(t, &c.want, got)
		})
	}
}

func TestErrors(t *testing.T) {
	const echo = "you sent " + key + " which is wrong"
	for _, c := range []struct {
		name   string
		answer llmtest.Answer
		want   llm.Error
	}{
		{"401", llmtest.Answer{Status: 401, Message: echo}, llm.Error{Class: llm.Auth, Status: 401, Message: "you sent [key] which is wrong"}},
		{"403", llmtest.Answer{Status: 403, Message: echo}, llm.Error{Class: llm.Auth, Status: 403, Message: "you sent [key] which is wrong"}},
		{"404", llmtest.Answer{Status: 404, Message: "no such model"}, llm.Error{Class: llm.NotFound, Status: 404, Message: "no such model"}},
		{"400", llmtest.Answer{Status: 400, Code: "context_length_exceeded", Message: "too long"}, llm.Error{Class: llm.Invalid, Status: 400, Message: "too long"}},
		{"402", llmtest.Answer{Status: 402, Message: "Insufficient credits"}, llm.Error{Class: llm.Quota, Status: 402, Message: "Insufficient credits"}},
		{"no money", llmtest.Answer{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "You exceeded your current quota"}, llm.Error{Class: llm.Quota, Status: 429, Message: "You exceeded your current quota"}},
		{"408", llmtest.Answer{Status: 408, Message: "late"}, llm.Error{Class: llm.Timeout, Status: 408, Message: "late"}},
		{"409", llmtest.Answer{Status: 409, Message: "busy"}, llm.Error{Class: llm.Server, Status: 409, Message: "busy"}},
		{"413", llmtest.Answer{Status: 413, Message: "too large"}, llm.Error{Class: llm.Invalid, Status: 413, Message: "too large"}},
		{"429", llmtest.Answer{Status: 429, Message: "slow down"}, llm.Error{Class: llm.RateLimited, Status: 429, Message: "slow down"}},
		{
			"429 with a wait",
			llmtest.Answer{Status: 429, Message: "slow down", Header: http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"1"}, "X-Ratelimit-Remaining-Requests": {"0"}}},
			llm.Error{Class: llm.RateLimited, Status: 429, Message: "slow down", RetryAfter: 250 * time.Millisecond, Limits: &llm.Limits{Requests: llm.Limit{}, Tokens: llm.Limit{Left: -1}}},
		},
		{
			"429 of Gemini",
			llmtest.Answer{Status: 429, Body: `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3s"}]}}]`},
			llm.Error{Class: llm.RateLimited, Status: 429, Message: "quota", RetryAfter: 3 * time.Second},
		},
		{"key of Gemini", llmtest.Answer{Status: 400, Body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`}, llm.Error{Class: llm.Auth, Status: 400, Message: "API key not valid. Please pass a valid API key."}},
		{"500", llmtest.Answer{Status: 500, Message: "oops"}, llm.Error{Class: llm.Server, Status: 500, Message: "oops"}},
		{"529", llmtest.Answer{Status: 529, Message: "Overloaded"}, llm.Error{Class: llm.Overloaded, Status: 529, Message: "Overloaded"}},
		{"502 in HTML", llmtest.Answer{Status: 502, Body: "<html><title>502 Bad Gateway " + key + "</title></html>"}, llm.Error{Class: llm.Server, Status: 502, Message: "an HTML page: 502 Bad Gateway [key]"}},
		{"503 in words", llmtest.Answer{Status: 503, Body: "upstream connect error"}, llm.Error{Class: llm.Server, Status: 503, Message: "upstream connect error"}},
		{"broken JSON", llmtest.Answer{Body: `{"choices":[{"mess`}, llm.Error{Class: llm.Malformed, Status: 200, Message: "the body is no JSON"}},
		{"HTML", llmtest.Answer{Body: "<!doctype html><title>Log in</title>" + key}, llm.Error{Class: llm.Malformed, Status: 200, Message: "an HTML page: Log in instead of JSON"}},
		{"no choices", llmtest.Answer{Body: `{"choices":[]}`}, llm.Error{Class: llm.Malformed, Status: 200, Message: "the reply has no choice with a message"}},
		{"other JSON", llmtest.Answer{Body: `[1,2]`}, llm.Error{Class: llm.Malformed, Status: 200}},
		{"an error with 200", llmtest.Answer{Body: `{"error":{"code":502,"message":"` + echo + `"}}`}, llm.Error{Class: llm.Server, Status: 502, Message: "you sent [key] which is wrong"}},
		{"an error in a choice", llmtest.Answer{Body: `{"choices":[{"finish_reason":"error","message":{"content":"half an ans"},"error":{"code":429,"message":"` + echo + `"}}]}`}, llm.Error{Class: llm.RateLimited, Status: 429, Message: "you sent [key] which is wrong"}},
		{"dropped", llmtest.Answer{Drop: true}, llm.Error{Class: llm.Transport, Message: "the connection ended before the reply did"}},
		{"cut", llmtest.Answer{Text: strings.Repeat("x", 1000), Cut: true}, llm.Error{Class: llm.Transport, Status: 200, Message: "the connection ended before the reply did"}},
		{"too long", llmtest.Answer{Body: strings.Repeat(" ", wire.MaxBody+1)}, llm.Error{Class: llm.Malformed, Status: 200, Message: "the body is longer than 32 MB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, s := serve(t, answer(c.answer))
			_, err := m.Generate(t.Context(), ask("?"))
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("%v (%T) is no *llm.Error", err, err)
			}
			if c.want.Message == "" {
				c.want.Message = e.Message
			}
			c.want.Provider, c.want.Model = "openai", "gpt-test"
			equal(t, &c.want, e)
			noKey(t, err)
			if s.Calls() != 1 {
				t.Errorf("%d calls: the scheduler owns the retries", s.Calls())
			}
		})
	}
}

// noKey looks through an error and all it wraps.
func noKey(t *testing.T, err error) {
	t.Helper()
	for ; err != nil; err = errors.Unwrap(err) {
		if s := err.Error(); strings.Contains(s, key) || strings.Contains(s, key[4:]) || strings.Contains(s, "ABCDEFGHIJ") {
			t.Errorf("the key is in %q", s)
		}
	}
}

func TestWrongKeyAndModel(t *testing.T) {
	m, _ := serve(t, llmtest.Options{Keys: []string{"another"}})
	_, err := m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.Auth || llm.ClassOf(m.Check(t.Context())) != llm.Auth {
		t.Errorf("wrong key: %v", err)
	}
	noKey(t, err)
	m, _ = serve(t, llmtest.Options{Models: []string{"gpt-other"}})
	_, err = m.Generate(t.Context(), ask("?"))
	check := m.Check(t.Context())
	if llm.ClassOf(err) != llm.NotFound || llm.ClassOf(check) != llm.NotFound || !strings.Contains(check.Error(), "gpt-other") {
		t.Errorf("wrong model: %v, %v", err, check)
	}
}

func TestCheckAndModels(t *testing.T) {
	for _, listed := range []string{"gpt-test", "gpt-test:latest", "models/gpt-test"} {
		m, s := serve(t, llmtest.Options{Models: []string{"gpt-other", listed}, Keys: []string{key}})
		if err := m.Check(t.Context()); err != nil {
			t.Error(err)
		}
		names, err := m.Models(t.Context())
		if err != nil {
			t.Error(err)
		}
		equal(t, []string{"gpt-other", listed}, names)
		if s.Calls() != 0 {
			t.Error("checking asked the model")
		}
	}
}

func TestCheckHelps(t *testing.T) {
	s := llmtest.New(nil)
	t.Cleanup(s.Close)
	m := model(t, Config{Provider: llm.Compatible, BaseURL: s.URL})
	if err := m.Check(t.Context()); llm.ClassOf(err) != llm.NotFound || !strings.Contains(err.Error(), "/v1") {
		t.Errorf("wrong base URL: %v", err)
	}
	m = model(t, Config{Provider: llm.Compatible, BaseURL: s.OpenAI()})
	if err := m.Check(t.Context()); llm.ClassOf(err) != llm.NotFound || !strings.Contains(err.Error(), "has no models") {
		t.Errorf("no models: %v", err)
	}
}

func TestOllama(t *testing.T) {
	s := llmtest.Start(llmtest.Options{
		Models: []string{"qwen3:latest", "gpt-test"}, Keys: []string{"unused"},
		Answer: func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: "ok"} },
	})
	t.Cleanup(s.Close)
	m := model(t, Config{Provider: Ollama, BaseURL: s.Ollama()})
	req := ask("?")
	req.MaxTokens = 100
	generate(t, m, s, req)
	if call := s.Log()[0]; call.Vendor != llmtest.Ollama || call.MaxTokens != 100 {
		t.Errorf("%+v", call)
	}
	m.config.Model = "qwen3"
	if err := m.Check(t.Context()); err != nil {
		t.Error(err)
	}
	m.config.Model = "absent"
	_, err := m.Generate(t.Context(), req)
	if llm.ClassOf(err) != llm.NotFound || !strings.Contains(err.Error(), "try pulling it first") {
		t.Errorf("%v", err)
	}
}

func TestCalledOff(t *testing.T) {
	for name, a := range map[string]llmtest.Answer{
		"in the body": {Text: strings.Repeat("x", 1000), Stall: true},
		"before it":   {Delay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			m, _ := serve(t, llmtest.Options{Answer: func(llmtest.Call) llmtest.Answer { close(asked); return a }})
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-asked; cancel() }()
			if _, err := m.Generate(ctx, ask("?")); !errors.Is(err, context.Canceled) || llm.ClassOf(err) != "" {
				t.Errorf("%v, want the context's error", err)
			}
		})
	}
}

func TestTimeLimit(t *testing.T) {
	s := llmtest.New(func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: strings.Repeat("x", 1000), Stall: true} })
	t.Cleanup(s.Close)
	m := model(t, Config{BaseURL: s.OpenAI(), Timeout: 50 * time.Millisecond})
	_, err := m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.Timeout || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a timeout that is not the caller's", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := m.Generate(ctx, ask("?")); !errors.Is(err, context.DeadlineExceeded) || llm.ClassOf(err) != llm.Timeout {
		t.Errorf("%v, want the caller's deadline", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var carried []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	m, _ := serve(t, answer(llmtest.Answer{Status: 308, Body: "moved", Header: http.Header{"Location": {other.URL + "/v1/chat?k=" + key}}}))
	_, err := m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.NotFound || !strings.Contains(err.Error(), other.URL+"/v1/chat,") || len(carried) > 0 {
		t.Errorf("%v, the other host got %q", err, carried)
	}
	noKey(t, err)
}

// What the vendor's client would take from the environment stays there.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"} {
		t.Setenv("OPENAI_"+name, "from-environment")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/environment")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-From: environment")
	for _, with := range []string{key, ""} {
		m, s := serve(t, answer(llmtest.Answer{Text: "ok"}))
		if with == "" {
			var err error
			if m, err = New(Config{Provider: Ollama, BaseURL: s.Ollama(), Model: "gpt-test", HTTP: m.config.HTTP}); err != nil {
				t.Fatal(err)
			}
		}
		generate(t, m, s, ask("?"))
		h := s.Log()[0].Header
		if got := strings.TrimPrefix(h.Get("Authorization"), "Bearer "); got != with {
			t.Errorf("key sent: %q, want %q", got, with)
		}
		for name, values := range h {
			if strings.Contains(strings.ToLower(name+strings.Join(values, " ")), "environment") {
				t.Errorf("%s: %s", name, values)
			}
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name     string
		config   Config
		endpoint string
		err      string
	}{
		{"openai", Config{Key: key, Model: "m"}, "https://api.openai.com/v1", ""},
		{"ollama", Config{Provider: Ollama, Model: "m"}, "http://localhost:11434/v1", ""},
		{"ollama elsewhere", Config{Provider: Ollama, Model: "m", BaseURL: "http://gpu:11434/"}, "http://gpu:11434/v1", ""},
		{"compatible", Config{Provider: llm.Compatible, Model: "m", BaseURL: "https://x.example/api/v1/"}, "https://x.example/api/v1", ""},
		{"no model", Config{Key: key}, "", "no model"},
		{"no key", Config{Model: "m"}, "", "no key"},
		{"no address", Config{Provider: llm.Compatible, Key: key, Model: "m"}, "", "no base URL"},
		{"a key no header carries", Config{Key: key + "\n", Model: "m"}, "", "no header can carry"},
		{"half an address", Config{Key: key, Model: "m", BaseURL: "gateway"}, "", "must begin with http"},
	} {
		m, err := New(c.config)
		switch {
		case c.err == "" && (err != nil || m.base.String() != c.endpoint):
			t.Errorf("%s: %v, want %s", c.name, err, c.endpoint)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		noKey(t, err)
	}
}

func TestSchemaName(t *testing.T) {
	for in, want := range map[string]string{"": "reply", "a b/ä": "a_b__", strings.Repeat("x", 100): strings.Repeat("x", 64)} {
		if got := schemaName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
