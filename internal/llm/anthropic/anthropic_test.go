package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

const key = "sk-ant-test-ABCDEFGHIJ0123456789"

// serve starts a server and a model that asks it.
func serve(t *testing.T, o llmtest.Options) (*Model, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(o)
	t.Cleanup(s.Close)
	return model(t, Config{BaseURL: s.Anthropic()}), s
}

func model(t *testing.T, c Config) *Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c.Key, c.Model, c.HTTP = key, "claude-test", &http.Client{Transport: transport}
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
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(llm.Reply{}, "Latency")); diff != "" {
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
		Text: "Use createAgent.", Model: "claude-test-20250101",
		Usage: llmtest.Usage{Input: 10, Output: 5, CacheRead: 100, CacheWrite: 20},
		Header: http.Header{
			"Anthropic-Ratelimit-Requests-Limit": {"50"}, "Anthropic-Ratelimit-Requests-Remaining": {"49"},
		},
	}))
	req := ask("How do I make an agent?")
	req.System, req.CacheSystem, req.Temperature, req.Seed = "You read a skill.", true, ptr(0.0), ptr(int64(7))
	got := generate(t, m, s, req)
	equal(t, &llm.Reply{
		Text: "Use createAgent.", Finish: llm.Stop, Model: "claude-test-20250101",
		Usage:  eval.Usage{Calls: 1, Input: 130, Output: 5, CacheRead: 100, CacheWrite: 20, Unpriced: 1},
		Notes:  []string{"seed left out: the vendor takes none"},
		Limits: &llm.Limits{Requests: llm.Limit{Most: 50, Left: 49}, Tokens: llm.Limit{Left: -1}},
	}, got)
	if got.Latency <= 0 {
		t.Error("no latency")
	}
	call := s.Log()[0]
	if call.System != req.System || !call.Cached || call.MaxTokens != defaultMaxTokens || *call.Temperature != 0 || call.Last() != "How do I make an agent?" {
		t.Errorf("asked for %+v", call)
	}
}

func TestToolsRoundTrip(t *testing.T) {
	m, s := serve(t, llmtest.Options{Answer: func(c llmtest.Call) llmtest.Answer {
		if len(c.Messages) == 1 {
			return llmtest.Answer{Text: "Let me look.", Calls: []llmtest.ToolCall{
				{ID: "toolu_1", Name: "search", Input: json.RawMessage(`{"q":"agents"}`)},
				{ID: "toolu_2", Name: "now", Input: json.RawMessage(`{}`)},
			}}
		}
		return llmtest.Answer{Text: "Found it."}
	}})
	req := ask("Look it up.")
	req.Tools = []llm.Tool{
		{Name: "search", Description: "Search.", Input: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z"]}`)},
		{Name: "now"},
	}
	first := generate(t, m, s, req)
	if first.Finish != llm.ToolUse || first.Text != "Let me look." {
		t.Fatalf("first reply: %+v", first)
	}
	equal(t, []llm.ToolCall{
		{ID: "toolu_1", Name: "search", Input: json.RawMessage(`{"q":"agents"}`)},
		{ID: "toolu_2", Name: "now", Input: json.RawMessage(`{}`)},
	}, first.Calls)

	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls},
		llm.Message{Role: llm.User, Text: "Go on.", Results: []llm.ToolResult{{ID: "toolu_1", Text: "page 1"}, {ID: "toolu_2", IsError: true}}},
	)
	if second := generate(t, m, s, req); second.Finish != llm.Stop || second.Text != "Found it." {
		t.Errorf("second reply: %+v", second)
	}
	call := s.Log()[1]
	equal(t, []llmtest.Message{
		{Role: "user", Text: "Look it up."},
		{Role: "assistant", Text: "Let me look.", Calls: []llmtest.ToolCall{
			{ID: "toolu_1", Name: "search", Input: json.RawMessage(`{"q":"agents"}`)}, {ID: "toolu_2", Name: "now", Input: json.RawMessage(`{}`)},
		}},
		{Role: "user", Text: "Go on.", Results: []llmtest.ToolResult{{ID: "toolu_1", Text: "page 1"}, {ID: "toolu_2", IsError: true}}},
	}, call.Messages)
	equal(t, []llmtest.Tool{
		{Name: "search", Description: "Search.", Input: req.Tools[0].Input},
		{Name: "now", Input: json.RawMessage(`{"type":"object"}`)},
	}, call.Tools)
}

const verdict = `{"type":"object","properties":{"reasoning":{"type":"string"},"a_score":{"type":"number"}},"required":["reasoning","a_score"],"additionalProperties":false}`

func TestSchema(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{Text: `{"reasoning":"good","a_score":0.9}`}))
	req := ask("Rate it.")
	req.Schema = &llm.Schema{Name: "verdict", Schema: json.RawMessage(verdict)}
	if got := generate(t, m, s, req); got.Text != `{"reasoning":"good","a_score":0.9}` || got.Notes != nil {
		t.Errorf("%+v", got)
	}
	// The order of the properties is the order in which the model writes.
	if call := s.Log()[0]; call.Format != "json_schema" || string(call.Schema) != verdict {
		t.Errorf("asked for %s %s", call.Format, call.Schema)
	}
}

func TestFinish(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer llmtest.Answer
		want   llm.Reply
	}{
		{"stop", llmtest.Answer{Text: "Yes."}, llm.Reply{Text: "Yes.", Finish: llm.Stop}},
		{"stop sequence", llmtest.Answer{Text: "Yes.", Finish: "stop_sequence"}, llm.Reply{Text: "Yes.", Finish: llm.Stop}},
		{"truncated", llmtest.Answer{Text: "Yes, becau", Finish: "truncated"}, llm.Reply{Text: "Yes, becau", Finish: llm.Truncated}},
		{"context", llmtest.Answer{Text: "Yes", Finish: "model_context_window_exceeded"}, llm.Reply{Text: "Yes", Finish: llm.Truncated}},
		{"refusal", llmtest.Answer{Finish: "refusal", Refused: "not this"}, llm.Reply{Finish: llm.Refusal, Refused: "not this"}},
		{"empty", llmtest.Answer{}, llm.Reply{Finish: llm.Stop}},
		{"unheard of", llmtest.Answer{Text: "…", Finish: "pause_turn"}, llm.Reply{Text: "…", Finish: llm.Unknown}},
		{
			"filtered",
			llmtest.Answer{Status: 400, Message: "Output blocked by content filtering policy, " + key},
			llm.Reply{Finish: llm.Filtered, Refused: "Output blocked by content filtering policy, [key]"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.answer.Usage = llmtest.Usage{Input: 1, Output: 1}
			m, s := serve(t, answer(c.answer))
			got := generate(t, m, s, ask("?"))
			got.Usage, c.want.Model = eval.Usage{}, "claude-test"
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
		{"404", llmtest.Answer{Status: 404, Message: "model: claude-test"}, llm.Error{Class: llm.NotFound, Status: 404, Message: "model: claude-test"}},
		{"400", llmtest.Answer{Status: 400, Message: "prompt is too long: 210000 tokens > 200000 maximum"}, llm.Error{Class: llm.Invalid, Status: 400, Message: "prompt is too long: 210000 tokens > 200000 maximum"}},
		{"no money", llmtest.Answer{Status: 400, Message: "Your credit balance is too low to access the Anthropic API."}, llm.Error{Class: llm.Quota, Status: 400, Message: "Your credit balance is too low to access the Anthropic API."}},
		{"402", llmtest.Answer{Status: 402, Message: "pay"}, llm.Error{Class: llm.Quota, Status: 402, Message: "pay"}},
		{"408", llmtest.Answer{Status: 408, Message: "late"}, llm.Error{Class: llm.Timeout, Status: 408, Message: "late"}},
		{"409", llmtest.Answer{Status: 409, Message: "busy"}, llm.Error{Class: llm.Server, Status: 409, Message: "busy"}},
		{"413", llmtest.Answer{Status: 413, Message: "too large"}, llm.Error{Class: llm.Invalid, Status: 413, Message: "too large"}},
		{"429", llmtest.Answer{Status: 429, Message: "slow down"}, llm.Error{Class: llm.RateLimited, Status: 429, Message: "slow down"}},
		{
			"429 with a wait",
			llmtest.Answer{Status: 429, Message: "slow down", Header: http.Header{"Retry-After": {"2"}, "Anthropic-Ratelimit-Tokens-Remaining": {"0"}}},
			llm.Error{Class: llm.RateLimited, Status: 429, Message: "slow down", RetryAfter: 2 * time.Second, Limits: &llm.Limits{Requests: llm.Limit{Left: -1}, Tokens: llm.Limit{}}},
		},
		{"500", llmtest.Answer{Status: 500, Message: "Internal server error"}, llm.Error{Class: llm.Server, Status: 500, Message: "Internal server error"}},
		{"529", llmtest.Answer{Status: 529, Message: "Overloaded"}, llm.Error{Class: llm.Overloaded, Status: 529, Message: "Overloaded"}},
		{"502 in HTML", llmtest.Answer{Status: 502, Body: "<html><title>502 Bad Gateway " + key + "</title></html>"}, llm.Error{Class: llm.Server, Status: 502, Message: "an HTML page: 502 Bad Gateway [key]"}},
		{"504 in silence", llmtest.Answer{Status: 504, Body: " "}, llm.Error{Class: llm.Server, Status: 504, Message: "Gateway Timeout"}},
		{"broken JSON", llmtest.Answer{Body: `{"type":"message","content":[{"type":"te`}, llm.Error{Class: llm.Malformed, Status: 200, Message: "the body is no JSON"}},
		{"HTML", llmtest.Answer{Body: "<!doctype html><title>Log in</title>" + key}, llm.Error{Class: llm.Malformed, Status: 200, Message: "an HTML page: Log in instead of JSON"}},
		{"nothing", llmtest.Answer{Body: "\n"}, llm.Error{Class: llm.Malformed, Status: 200, Message: "an empty body instead of JSON"}},
		{"other JSON", llmtest.Answer{Body: `{"hello":"` + key + `"}`}, llm.Error{Class: llm.Malformed, Status: 200, Message: "the reply has no content or no usage"}},
		{"a list", llmtest.Answer{Body: `[1,2]`}, llm.Error{Class: llm.Malformed, Status: 200}},
		{"an error with 200", llmtest.Answer{Body: `{"type":"error","error":{"type":"overloaded_error","message":"` + echo + `"}}`}, llm.Error{Class: llm.Server, Status: 200, Message: "the body holds an error: you sent [key] which is wrong"}},
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
			c.want.Provider, c.want.Model = "anthropic", "claude-test"
			equal(t, &c.want, ignoreErr(e))
			noKey(t, err)
			if s.Calls() != 1 {
				t.Errorf("%d calls: the scheduler owns the retries", s.Calls())
			}
		})
	}
}

func ignoreErr(e *llm.Error) *llm.Error {
	c := *e
	c.Err = nil
	return &c
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
	m, _ = serve(t, llmtest.Options{Models: []string{"claude-other"}})
	_, err = m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.NotFound || llm.ClassOf(m.Check(t.Context())) != llm.NotFound {
		t.Errorf("wrong model: %v", err)
	}
}

func TestCheckAndModels(t *testing.T) {
	m, s := serve(t, llmtest.Options{Models: []string{"claude-test", "claude-other"}, Keys: []string{key}})
	if err := m.Check(t.Context()); err != nil {
		t.Error(err)
	}
	names, err := m.Models(t.Context())
	if err != nil {
		t.Error(err)
	}
	equal(t, []string{"claude-test", "claude-other"}, names)
	if s.Calls() != 0 {
		t.Error("checking asked the model")
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
	m := model(t, Config{BaseURL: s.Anthropic(), Timeout: 50 * time.Millisecond})
	_, err := m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.Timeout || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a timeout that is not the caller's", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := m.Generate(ctx, ask("?")); !errors.Is(err, context.DeadlineExceeded) || llm.ClassOf(err) != llm.Timeout {
		t.Errorf("%v, want the caller's deadline", err)
	}
	paced := llm.NewScheduler(llm.Pace{Timeout: 50 * time.Millisecond, Tries: 1}, nil).Wrap(model(t, Config{BaseURL: s.Anthropic()}))
	if _, err := paced.Generate(t.Context(), ask("?")); err == nil || err.Error() != "anthropic:claude-test: no reply within 50ms" {
		t.Errorf("%v, want to know whose reply", err)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	var carried []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Header.Get("X-Api-Key"))
	}))
	t.Cleanup(other.Close)
	m, _ := serve(t, answer(llmtest.Answer{Status: 307, Body: "moved", Header: http.Header{"Location": {other.URL + "/v1/messages?k=" + key}}}))
	_, err := m.Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.NotFound || !strings.Contains(err.Error(), other.URL+"/v1/messages,") || len(carried) > 0 {
		t.Errorf("%v, the other host got %q", err, carried)
	}
	noKey(t, err)
}

func TestNobodyThere(t *testing.T) {
	s := llmtest.New(nil)
	s.Close()
	_, err := model(t, Config{BaseURL: s.Anthropic()}).Generate(t.Context(), ask("?"))
	if llm.ClassOf(err) != llm.Transport {
		t.Errorf("%v", err)
	}
}

// What the vendor's client would take from the environment stays there.
func TestEnvironmentIsNotRead(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY":        "sk-from-environment",
		"ANTHROPIC_AUTH_TOKEN":     "token-from-environment",
		"ANTHROPIC_BASE_URL":       "http://127.0.0.1:1/environment",
		"ANTHROPIC_CUSTOM_HEADERS": "X-From: environment",
		"ANTHROPIC_PROFILE":        "environment",
		"ANTHROPIC_CONFIG_DIR":     "/environment",
	} {
		t.Setenv(name, value)
	}
	m, s := serve(t, answer(llmtest.Answer{Text: "ok"}))
	generate(t, m, s, ask("?"))
	h := s.Log()[0].Header
	if h.Get("X-Api-Key") != key || h.Get("Authorization") != "" {
		t.Errorf("keys sent: %q %q", h.Get("X-Api-Key"), h.Get("Authorization"))
	}
	for name, values := range h {
		if strings.Contains(strings.ToLower(name+strings.Join(values, " ")), "environment") {
			t.Errorf("%s: %s", name, values)
		}
	}
}

func TestLearnsWhatTheModelRefuses(t *testing.T) {
	m, s := serve(t, llmtest.Options{
		Refuse: []string{"temperature", "json_schema"},
		Answer: func(llmtest.Call) llmtest.Answer {
			return llmtest.Answer{Text: "```json\n{\"reasoning\":\"x\",\"a_score\":1}\n```"}
		},
	})
	req := ask("Rate it.")
	req.System, req.CacheSystem, req.Temperature = "You judge.", true, ptr(0.0)
	req.Schema = &llm.Schema{Name: "verdict", Schema: json.RawMessage(verdict)}
	for range 2 {
		got, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != `{"reasoning":"x","a_score":1}` {
			t.Errorf("text %q", got.Text)
		}
		equal(t, []string{
			"temperature left out: the model does not take it",
			"schema asked for in words: the model does not take one",
		}, got.Notes)
	}
	if len(s.Rejected()) != 2 || s.Calls() != 2 {
		t.Errorf("%d calls, turned down: %v", s.Calls(), s.Rejected())
	}
	if c := s.Log()[1]; !c.Has(verdict) || !c.Cached || !strings.HasPrefix(c.System, "You judge.") {
		t.Errorf("the system text is %q", c.System)
	}
}

func TestLearnsSideBySide(t *testing.T) {
	m, s := serve(t, llmtest.Options{Refuse: []string{"temperature"}, Answer: func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: "ok"} }})
	req := ask("?")
	req.Temperature = ptr(0.5)
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

func TestLearnsHowMuchTheModelMayWrite(t *testing.T) {
	m, s := serve(t, llmtest.Options{Answer: func(c llmtest.Call) llmtest.Answer {
		if c.MaxTokens > 4096 {
			return llmtest.Answer{Status: 400, Message: "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-test"}
		}
		return llmtest.Answer{Text: "ok"}
	}})
	generate(t, m, s, ask("?"))
	if last := s.Log()[1]; last.MaxTokens != 4096 {
		t.Errorf("asked for %d tokens", last.MaxTokens)
	}
	req := ask("?")
	req.MaxTokens = 10000 // what the caller says is not for us to change
	if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid {
		t.Errorf("%v", err)
	}
}

// A schema that is wrong, and a value out of range, are errors to be seen.
func TestKeepsErrorsOfTheCaller(t *testing.T) {
	m, _ := serve(t, answer(llmtest.Answer{Text: "{}"}))
	req := ask("?")
	req.Schema = &llm.Schema{Name: "s", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","minimum":0}},"additionalProperties":false}`)}
	if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid || !strings.Contains(err.Error(), "minimum") {
		t.Errorf("wrong schema: %v", err)
	}
	req = ask("?")
	req.Temperature = ptr(1.5)
	if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid {
		t.Errorf("wrong temperature: %v", err)
	}
	for name, req := range map[string]*llm.Request{
		"says nothing": {Messages: []llm.Message{{Role: llm.User}}},
		"nobody":       {Messages: []llm.Message{{Role: "system", Text: "x"}}},
		"schema":       {Messages: []llm.Message{{Role: llm.User, Text: "x"}}, Schema: &llm.Schema{Schema: json.RawMessage("{")}},
		"tool":         {Messages: []llm.Message{{Role: llm.User, Text: "x"}}, Tools: []llm.Tool{{Name: "x", Input: json.RawMessage("{")}}},
		"input":        {Messages: []llm.Message{{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "1", Name: "input", Input: json.RawMessage("{")}}}}},
	} {
		if _, err := m.Generate(t.Context(), req); llm.ClassOf(err) != llm.Invalid || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Replies that may take longer than the client's ten minutes are asked for
// all the same.
func TestLongReplies(t *testing.T) {
	m, s := serve(t, answer(llmtest.Answer{Text: "ok"}))
	req := ask("?")
	req.MaxTokens = 64000
	generate(t, m, s, req)
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		err    string
	}{
		{"the vendor's own", Config{Key: key, Model: "m"}, ""},
		{"a gateway without a key", Config{BaseURL: "http://gateway/anthropic/v1", Model: "m"}, ""},
		{"no model", Config{Key: key}, "no model"},
		{"no key", Config{Model: "m"}, "no key"},
		{"a key no header carries", Config{Key: key + "\n", Model: "m"}, "no header can carry"},
		{"no address", Config{Key: key, Model: "m", BaseURL: "gateway"}, "must begin with http"},
	} {
		_, err := New(c.config)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
		noKey(t, err)
	}
}

func TestBaseURLMayEndInV1(t *testing.T) {
	s := llmtest.New(func(llmtest.Call) llmtest.Answer { return llmtest.Answer{Text: "ok"} })
	t.Cleanup(s.Close)
	generate(t, model(t, Config{BaseURL: s.Anthropic() + "/v1/"}), s, ask("?"))
}
