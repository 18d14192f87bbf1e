package wire

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/llm"
)

func TestReadFault(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       Fault
	}{
		{"anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, Fault{Type: "overloaded_error", Message: "Overloaded"}},
		{"openai", `{"error":{"message":"no","type":"invalid_request_error","param":"seed","code":"unsupported_parameter"}}`, Fault{Type: "invalid_request_error", Code: "unsupported_parameter", Param: "seed", Message: "no"}},
		{"a string", `{"error":"model not found"}`, Fault{Message: "model not found"}},
		{"gemini", `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x"},{"retryDelay":"34.5s"}]}}]`, Fault{Type: "RESOURCE_EXHAUSTED", Code: "429", Message: "slow", Retry: 34500 * time.Millisecond}},
		{"vllm", `{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}`, Fault{Type: "BadRequestError", Code: "400", Message: "too long"}},
		{"fastapi words", `{"detail":"Not Found"}`, Fault{Message: "Not Found"}},
		{"fastapi list", `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted"}]}`, Fault{Message: "body.seed: extra fields not permitted"}},
		{"openrouter", `{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream died"}}}`, Fault{Code: "502", Message: "Provider returned error: upstream died"}},
		{"html", "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>", Fault{Message: "an HTML page: 502 Bad Gateway"}},
		{"html without a title", "<html><body>no</body></html>", Fault{Message: "an HTML page"}},
		{"text", "upstream connect error", Fault{Message: "upstream connect error"}},
		{"nothing", "", Fault{}},
		{"null", "null", Fault{}},
		{"empty list", "[]", Fault{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ReadFault([]byte(c.body))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		param string
		want  bool
	}{
		{Fault{Param: "max_tokens", Code: "unsupported_parameter", Message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}, "max_tokens", true},
		{Fault{Param: "max_tokens", Code: "unsupported_parameter", Message: "Use 'max_completion_tokens' instead."}, "max_completion_tokens", false},
		{Fault{Message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}, "max_tokens", true},
		{Fault{Param: "temperature", Code: "unsupported_value", Message: "'temperature' does not support 0 with this model. Only the default (1) value is supported."}, "temperature", true},
		{Fault{Message: "`temperature` is deprecated for this model."}, "temperature", true},
		{Fault{Message: "temperature is not supported for claude-x when set to non-default values"}, "temperature", true},
		{Fault{Message: `Invalid JSON payload received. Unknown name "seed": Cannot find field.`}, "seed", true},
		{Fault{Message: "UnsupportedParamsError: openai does not support parameters: ['temperature'], for model=gpt-5"}, "temperature", true},
		{Fault{Param: "temperature", Code: "decimal_above_max_value", Message: "Invalid 'temperature': expected a value <= 2"}, "temperature", false},
		{Fault{Message: "temperature: range: 0..1"}, "temperature", false},
		{Fault{Message: "unknown model linseed"}, "seed", false},
	} {
		if got := c.fault.Refuses(c.param); got != c.want {
			t.Errorf("%q refuses %s: %v, want %v", c.fault.Message, c.param, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		status int
		fault  Fault
		want   llm.Class
	}{
		{400, Fault{Message: "max_tokens: Field required"}, llm.Invalid},
		{400, Fault{Message: "Your credit balance is too low to access the Anthropic API."}, llm.Quota},
		{400, Fault{Message: "API key not valid. Please pass a valid API key."}, llm.Auth},
		{401, Fault{}, llm.Auth},
		{402, Fault{}, llm.Quota},
		{403, Fault{}, llm.Auth},
		{404, Fault{}, llm.NotFound},
		{405, Fault{}, llm.NotFound},
		{408, Fault{}, llm.Timeout},
		{409, Fault{}, llm.Server},
		{413, Fault{}, llm.Invalid},
		{422, Fault{}, llm.Invalid},
		{429, Fault{}, llm.RateLimited},
		{429, Fault{Code: "insufficient_quota"}, llm.Quota},
		{429, Fault{Message: "Request too large for gpt-x in organization on tokens per min"}, llm.Invalid},
		{500, Fault{}, llm.Server},
		{500, Fault{Type: "overloaded_error"}, llm.Overloaded},
		{502, Fault{}, llm.Server},
		{503, Fault{}, llm.Server},
		{503, Fault{Type: "UNAVAILABLE", Code: "503", Message: "The model is overloaded. Please try again later."}, llm.Overloaded},
		{503, Fault{Message: "server busy, please try again.  maximum pending requests exceeded"}, llm.Overloaded},
		{503, Fault{Type: "server_error", Code: "slow_down", Message: "Slow Down"}, llm.Overloaded},
		{400, Fault{Message: "overloaded functions are not supported"}, llm.Invalid},
		{504, Fault{}, llm.Server},
		{524, Fault{}, llm.Server},
		{529, Fault{}, llm.Overloaded},
	} {
		if got := classify(c.status, c.fault); got != c.want {
			t.Errorf("%d %v: %s, want %s", c.status, c.fault, got, c.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name  string
		h     map[string]string
		after time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"part of a second", map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "1500", "Retry-After": "7"}, 1500 * time.Millisecond},
		{"a date by the server's clock", map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 10 * time.Second},
		{"a date gone by", map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT", "Date": "Wed, 21 Oct 2015 07:29:00 GMT"}, 0},
		{"a date without a clock", map[string]string{"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0},
		{"absurd", map[string]string{"Retry-After": "1e300"}, longest},
		{"negative", map[string]string{"Retry-After": "-3"}, 0},
		{"no number", map[string]string{"Retry-After": "NaN"}, 0},
		{"words", map[string]string{"Retry-After": "soon"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := RetryAfter(header(c.h)); got != c.after {
				t.Errorf("%v, want %v", got, c.after)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		h    map[string]string
		want *llm.Limits
	}{
		{"silence", map[string]string{"X-Request-Id": "1"}, nil},
		{
			"anthropic",
			map[string]string{
				"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0",
				"anthropic-ratelimit-requests-reset": "2015-10-21T07:28:30Z", "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
				"anthropic-ratelimit-tokens-remaining": "1000",
			},
			&llm.Limits{Requests: llm.Limit{Most: 50, Left: 0, Reset: 30 * time.Second}, Tokens: llm.Limit{Left: 1000}},
		},
		{
			"openai",
			map[string]string{
				"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s",
				"x-ratelimit-limit-tokens": "150000", "x-ratelimit-remaining-tokens": "149984", "x-ratelimit-reset-tokens": "6m0s",
			},
			&llm.Limits{Requests: llm.Limit{Most: 60, Left: 59, Reset: time.Second}, Tokens: llm.Limit{Most: 150000, Left: 149984, Reset: 6 * time.Minute}},
		},
		{
			"seconds and nonsense",
			map[string]string{"x-ratelimit-remaining-requests": "-4", "x-ratelimit-limit-tokens": "many", "x-ratelimit-reset-tokens": "2.5"},
			&llm.Limits{Requests: llm.Limit{Left: -1}, Tokens: llm.Limit{Left: -1, Reset: 2500 * time.Millisecond}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Limits(header(c.h))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func header(m map[string]string) http.Header {
	h := http.Header{}
	for k, v := range m {
		h.Set(k, v)
	}
	return h
}

func TestLine(t *testing.T) {
	const key = "sk-test-ABCDEFGHIJ0123456789"
	for _, c := range []struct{ name, in, key, want string }{
		{"one line", "first\n\tsecond\r\n  third ", key, "first second third"},
		{"the key", "Incorrect API key provided: " + key + ".", key, "Incorrect API key provided: [key]."},
		{"twice", key + key, key, "[key][key]"},
		{"shortened", "key sk-test-AB****6789 is wrong", key, "key [key]****6789 is wrong"},
		{"its middle", "…DEFGHIJ012…", key, "…[key]…"},
		{"hidden by what is not printed", "sk-test-ABCD\x00EFGHIJ0123456789", key, "[key][key]"},
		{"control characters", "a\x1b[31mb\x00c", key, "a[31mbc"},
		{"not UTF-8", "a\xffb", key, "ab"},
		{"a placeholder", "ollama: unknown key ollama, ollamas", "ollama", "[key]: unknown key [key], ollamas"},
		{"no key", "as it is", "", "as it is"},
		{"long", strings.Repeat("ä", 400), key, strings.Repeat("ä", 299) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Line(c.in, c.key)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBare(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"bare", `{"a":1}`, `{"a":1}`},
		{"fenced", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"fenced without a language", "```\n{\"a\":1}\n```\n", `{"a":1}`},
		{"thinking", "<think>is it </think> or\nnot</think>\n\n{\"a\":1}", `{"a":1}`},
		{"both", "<think>so</think>```json\n{\"a\":1}\n```", `{"a":1}`},
		{"words", "I would say 1.", "I would say 1."},
		{"broken JSON in a fence", "```json\n{\"a\":\n```", "```json\n{\"a\":\n```"},
		{"a fence on one line", "```{}```", "```{}```"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Bare(c.in)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBaseURL(t *testing.T) {
	for _, c := range []struct{ in, want, err string }{
		{"https://api.example.com/v1/", "https://api.example.com/v1", ""},
		{"http://localhost:11434", "http://localhost:11434", ""},
		{"localhost:11434", "", "must begin with http"},
		{"ftp://x", "", "must begin with http"},
		{"https://", "", "must begin with http"},
		{"https://me:secret@x/v1", "", "holds a user or password"},
		{"https://x/v1?key=secret", "", "holds a query"},
		{"https://%zz", "", "is no URL"},
	} {
		u, err := BaseURL(c.in)
		switch {
		case c.err == "" && (err != nil || u.String() != c.want):
			t.Errorf("%s: %v, %v, want %s", c.in, u, err, c.want)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s: %v, want an error with %q and without the secret", c.in, err, c.err)
		}
	}
}

func TestCheckKey(t *testing.T) {
	for key, ok := range map[string]bool{"": true, "sk-abc_123=": true, "sk abc": false, "sk-abc\n": false, "sk-ä": false} {
		if got := CheckKey(key) == nil; got != ok {
			t.Errorf("%q: %v, want %v", key, got, ok)
		}
	}
}

// The key's letters are in no message, so whatever is found came from the key.
func FuzzLine(f *testing.F) {
	const key = "sk-test-ABCDEFGHIJ0123456789"
	f.Add("Incorrect key ", " provided", 0, len(key))
	f.Add("\x00", "\n", 3, 12)
	f.Fuzz(func(t *testing.T, before, after string, from, to int) {
		from, to = max(0, min(from, len(key))), max(0, min(to, len(key)))
		if to-from < fragment {
			return
		}
		got := Line(before+key[from:to]+after, key)
		for i := 0; i+fragment <= len(key); i++ {
			if strings.Contains(got, key[i:i+fragment]) {
				t.Fatalf("%q holds a part of the key", got)
			}
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x00") || utf8.RuneCountInString(got) > lineRunes {
			t.Fatalf("%q is no short line", got)
		}
	})
}

func FuzzReadFault(f *testing.F) {
	f.Add([]byte(`[{"error":{"code":429,"details":[{"retryDelay":"34.5s"}]}}]`))
	f.Add([]byte(`{"detail":[{"loc":["body",1],"msg":"x"}]}`))
	f.Add([]byte("<html><title>İİİİ</title>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := ReadFault(body)
		if got.Retry < 0 || got.Retry > longest {
			t.Errorf("wait of %v", got.Retry)
		}
		got.Refuses("temperature")
		classify(400, got)
	})
}

func FuzzBare(f *testing.F) {
	f.Add("```json\n{}\n```")
	f.Add("<think></think>1")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Bare(s); got != s && !json.Valid([]byte(got)) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
