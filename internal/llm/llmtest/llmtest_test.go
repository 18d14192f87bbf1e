package llmtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s := Start(o)
	t.Cleanup(s.Close)
	return s
}

// post sends a body as a vendor's client would, and gives status and body.
func post(t *testing.T, s *Server, v Vendor, body string, change ...func(http.Header)) (int, string) {
	t.Helper()
	url := map[Vendor]string{
		Anthropic: s.Anthropic() + "/v1/messages", OpenAI: s.OpenAI() + "/chat/completions", Ollama: s.Ollama() + "/chat/completions",
	}[v]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	switch v {
	case Anthropic:
		req.Header.Set("X-Api-Key", "k")
		req.Header.Set("Anthropic-Version", "2023-06-01")
	case OpenAI:
		req.Header.Set("Authorization", "Bearer k")
	}
	for _, f := range change {
		f(req.Header)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func TestStrictness(t *testing.T) {
	const (
		a = `"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`
		o = `"model":"m","messages":[{"role":"user","content":"hi"}]`
	)
	s := start(t, Options{Refuse: []string{"seed"}})
	for _, c := range []struct {
		name   string
		vendor Vendor
		body   string
		want   string // in the error; "" for none
	}{
		{"good", Anthropic, `{` + a + `}`, ""},
		{"unknown field", Anthropic, `{` + a + `,"seed":1}`, "seed: Extra inputs are not permitted"},
		{"unknown field of a block", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"hi","x":1}]}]}`, "x: Extra inputs"},
		{"no JSON", Anthropic, `{`, "not valid JSON"},
		{"no model", Anthropic, `{"max_tokens":9}`, "model: Field required"},
		{"no max_tokens", Anthropic, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, "max_tokens: Field required"},
		{"max_tokens of 0", Anthropic, `{"model":"m","max_tokens":0}`, "greater than or equal to 1"},
		{"no messages", Anthropic, `{"model":"m","max_tokens":9}`, "at least one message"},
		{"the assistant first", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"hi"}]}`, "first message must use"},
		{"a role", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"system","content":"x"}]}`, "messages.1.role"},
		{"no text", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":""}]}`, "must be non-empty"},
		{"no content", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[]}]}`, "non-empty content"},
		{"a block", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_use"}]}]}`, "content.0.type"},
		{"temperature", Anthropic, `{` + a + `,"temperature":1.5}`, "temperature: range"},
		{"stream", Anthropic, `{` + a + `,"stream":true}`, "does not stream"},
		{"cache", Anthropic, `{` + a + `,"system":[{"type":"text","text":"x","cache_control":{"type":"forever"}}]}`, "cache_control.type"},
		{"tool's name", Anthropic, `{` + a + `,"tools":[{"name":"a b","input_schema":{"type":"object"}}]}`, "tools.0.custom.name"},
		{"tool's schema", Anthropic, `{` + a + `,"tools":[{"name":"a","input_schema":{}}]}`, "input_schema.type"},
		{"schema", Anthropic, `{` + a + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}}`, "additionalProperties"},
		{"bounds", Anthropic, `{` + a + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{"l":{"type":"array","items":{"type":"number","maximum":1}}}}}}}`, "context=().l.items, property 'maximum'"},
		{"call without result", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]}]}`, "without `tool_result`"},
		{"result without call", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1"}]}]}`, "do not belong together"},
		{"result after text", Anthropic, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"1"}]}]}`, "must come before"},

		{"good", OpenAI, `{` + o + `}`, ""},
		{"unknown field", OpenAI, `{` + o + `,"top_k":1}`, "Unrecognized request argument supplied: top_k"},
		{"no JSON", OpenAI, `{`, "could not parse"},
		{"no model", OpenAI, `{}`, "must provide a model"},
		{"no messages", OpenAI, `{"model":"m","messages":[]}`, "empty array"},
		{"a role", OpenAI, `{"model":"m","messages":[{"role":"robot","content":"x"}]}`, "Invalid value: 'robot'"},
		{"no content", OpenAI, `{"model":"m","messages":[{"role":"user","content":null}]}`, "got null"},
		{"temperature", OpenAI, `{` + o + `,"temperature":2.5}`, "between 0 and 2"},
		{"refused", OpenAI, `{` + o + `,"seed":1}`, "Unsupported parameter: 'seed'"},
		{"two limits", OpenAI, `{` + o + `,"max_tokens":1,"max_completion_tokens":1}`, "at the same time"},
		{"schema's name", OpenAI, `{` + o + `,"response_format":{"type":"json_schema","json_schema":{"name":"a b"}}}`, "json_schema.name"},
		{"strict", OpenAI, `{` + o + `,"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","additionalProperties":false,"properties":{"a":{}},"required":[]}}}}`, "Missing 'a'"},
		{"not strict", OpenAI, `{` + o + `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}}}`, ""},
		{"the word json", OpenAI, `{` + o + `,"response_format":{"type":"json_object"}}`, "must contain the word 'json'"},
		{"format", OpenAI, `{` + o + `,"response_format":{"type":"yaml"}}`, "Invalid value: 'yaml'"},
		{"call without result", OpenAI, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]}]}`, "must be followed by tool messages"},
		{"result without call", OpenAI, `{"model":"m","messages":[{"role":"tool","tool_call_id":"1","content":"x"}]}`, "must be a response to"},
		{"tool's schema", OpenAI, `{` + o + `,"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"string"}}}]}`, "Invalid schema for function 't'"},

		{"unknown field", Ollama, `{` + o + `,"top_k":1}`, ""},
		{"no messages", Ollama, `{"model":"m"}`, "empty array"},
	} {
		t.Run(string(c.vendor)+" "+c.name, func(t *testing.T) {
			status, body := post(t, s, c.vendor, c.body)
			if c.want == "" && status != 200 || c.want != "" && (status != 400 || !strings.Contains(body, jsonText(c.want))) {
				t.Errorf("%d %s, want %q", status, body, c.want)
			}
			if !json.Valid([]byte(body)) {
				t.Errorf("%s is no JSON", body)
			}
		})
	}
}

// jsonText is s as it stands inside JSON.
func jsonText(s string) string {
	b, _ := json.Marshal(s)
	return strings.Trim(string(b), `"`)
}

func TestHeaders(t *testing.T) {
	s := start(t, Options{Keys: []string{"k"}})
	for _, c := range []struct {
		name   string
		vendor Vendor
		change func(http.Header)
		status int
		want   string
	}{
		{"no version", Anthropic, func(h http.Header) { h.Del("Anthropic-Version") }, 400, "header is required"},
		{"another version", Anthropic, func(h http.Header) { h.Set("Anthropic-Version", "2022") }, 400, "not a valid version"},
		{"no key", Anthropic, func(h http.Header) { h.Del("X-Api-Key") }, 401, "authentication_error"},
		{"wrong key", Anthropic, func(h http.Header) { h.Set("X-Api-Key", "x") }, 401, "invalid x-api-key"},
		{"no key", OpenAI, func(h http.Header) { h.Del("Authorization") }, 401, "invalid_api_key"},
		{"wrong key", OpenAI, func(h http.Header) { h.Set("Authorization", "Bearer sk-0123456789") }, 401, "sk-01234****6789"},
		{"no key", Ollama, func(http.Header) {}, 200, "fp_ollama"},
	} {
		status, body := post(t, s, c.vendor, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, c.change)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d %q", c.vendor, c.name, status, body, c.status, c.want)
		}
	}
	if got := len(s.Rejected()); got != 6 {
		t.Errorf("%d rejected: %q", got, s.Rejected())
	}
}

const hello = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`

func TestShareOf429(t *testing.T) {
	s := start(t, Options{Share429: 0.2, RetryAfter: 1500 * time.Millisecond})
	got := map[int]int{}
	for range 100 {
		status, _ := post(t, s, OpenAI, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`)
		got[status]++
	}
	if diff := cmp.Diff(map[int]int{200: 80, 429: 20}, got); diff != "" {
		t.Error(diff)
	}
	if s.Limited() != 20 || s.Calls() != 80 || len(s.Rejected()) != 0 {
		t.Errorf("limited %d, calls %d, rejected %v", s.Limited(), s.Calls(), s.Rejected())
	}
}

func TestRate(t *testing.T) {
	clock := time.Unix(0, 0)
	now = func() time.Time { return clock }
	t.Cleanup(func() { now = time.Now })
	s := start(t, Options{PerSecond: 2})
	var got []int
	for _, step := range []time.Duration{0, 0, 250 * time.Millisecond, 250 * time.Millisecond, 10 * time.Second, 0} {
		clock = clock.Add(step)
		status, _ := post(t, s, Anthropic, hello)
		got = append(got, status)
	}
	if diff := cmp.Diff([]int{200, 429, 429, 200, 200, 429}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMostAtOnce(t *testing.T) {
	var all, in sync.WaitGroup
	in.Add(8)
	s := start(t, Options{Answer: func(Call) Answer { in.Done(); in.Wait(); return Answer{Text: "ok"} }})
	for range 8 {
		all.Go(func() { post(t, s, Anthropic, hello) })
	}
	all.Wait()
	if got := s.MostAtOnce(); got != 8 {
		t.Errorf("%d at once", got)
	}
}

func TestCloseEndsWhatStalls(t *testing.T) {
	stalled := make(chan struct{})
	s := Start(Options{Answer: func(Call) Answer { close(stalled); return Answer{Text: "half", Stall: true} }})
	done := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, s.Ollama()+"/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
		res, err := client.Do(req)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		done <- err
	}()
	<-stalled
	s.Close()
	if err := <-done; err == nil {
		t.Error("the body came through whole")
	}
}

func TestModels(t *testing.T) {
	s := start(t, Options{Models: []string{"m", "a/b"}})
	for path, want := range map[string]string{
		"/v1/models":            `"object":"list"`,
		"/v1/models/a/b":        `"id":"a/b"`,
		"/v1/models/x":          "model_not_found",
		"/ollama/v1/models/x":   "try pulling it first",
		"/ollama/v1/models":     `"id":"m"`,
		"/v1/models?limit=1000": `"id":"a/b"`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer k")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if !strings.Contains(string(b), want) {
			t.Errorf("%s: %s, want %s", path, b, want)
		}
	}
}

func TestScript(t *testing.T) {
	answer, err := Script(`
== TensorFlow ==
@finish refusal
@refused not here
It is not
in the skill.
== rate this ==
@times 1
@status 429
@message slow
@retry-after 0.5
@delay 1ms
== rate this ==
{"score": 0.8}
@not a setting
== look ==
@call search {"q": 1}
@model other
== drop ==
@drop
@cut
@stall
`)
	if err != nil {
		t.Fatal(err)
	}
	call := func(words string) Answer { return answer(Call{Messages: []Message{{Role: "user", Text: words}}}) }
	for _, c := range []struct {
		words string
		want  Answer
	}{
		{"about TensorFlow?", Answer{Text: "It is not\nin the skill.", Finish: "refusal", Refused: "not here"}},
		{"rate this", Answer{Status: 429, Message: "slow", Header: http.Header{"Retry-After": {"0.5"}}, Delay: time.Millisecond}},
		{"rate this", Answer{Text: "{\"score\": 0.8}\n@not a setting"}},
		{"look", Answer{Model: "other", Calls: []ToolCall{{ID: "call_1", Name: "search", Input: json.RawMessage(`{"q": 1}`)}}}},
		{"drop", Answer{Drop: true, Cut: true, Stall: true}},
		{"else", Answer{Status: 400, Message: `the script has no answer to "else"`}},
	} {
		if diff := cmp.Diff(c.want, call(c.words)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.words, diff)
		}
	}
	if all, err := Script("== * ==\nyes"); err != nil || all(Call{}).Text != "yes" {
		t.Errorf("* fits not all: %v", err)
	}
}

func TestScriptErrors(t *testing.T) {
	for text, want := range map[string]string{
		"words":                   "line 1 of the script is in no block",
		"== a ==\n@statu 3":       "line 2 of the script: there is no @statu",
		"== a ==\n@status x":      "invalid syntax",
		"== a ==\n@status 99":     "is no status",
		"== a ==\n@delay long":    "invalid duration",
		"== a ==\n@call f {":      "the input of f is no JSON",
		"== a ==\n@times often":   "invalid syntax",
		"\n\n== a ==\n@stat us\n": "line 4",
	} {
		if _, err := Script(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzScript(f *testing.F) {
	f.Add("== a ==\n@times 2\n@call f {}\ntext\n== * ==\n")
	f.Fuzz(func(t *testing.T, text string) {
		answer, err := Script(text)
		if err == nil {
			answer(Call{Messages: []Message{{Text: "a"}}})
		}
	})
}

// Whatever comes in, the server has an answer in the vendor's form.
func FuzzRead(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"x"}]}],"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object"}}}}`))
	f.Add([]byte(`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"x"}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []dialect{anthropic{}, openai{}, ollama{}} {
			call, p := d.read(body, Options{})
			if p != nil {
				encode(d.fail(*p))
				continue
			}
			call.Last()
			encode(d.reply(call, Answer{Text: "x"}))
		}
	})
}
