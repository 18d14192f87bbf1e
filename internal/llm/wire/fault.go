package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/llm"
)

// Fault is what a vendor says went wrong, in its own words: the key may be
// among them.
type Fault struct {
	Type    string // overloaded_error, insufficient_quota, …
	Code    string
	Param   string // the parameter it is about
	Message string
	Retry   time.Duration // Google says in the body how long to wait
}

// ReadFault reads the body of an error. The forms met so far:
//
//	{"type": "error", "error": {"type", "message"}}       Anthropic
//	{"error": {"message", "type", "param", "code"}}       OpenAI and most others
//	{"error": "words"}                                    Ollama's own API, some gateways
//	[{"error": {"code", "message", "status", "details"}}] Gemini's compatible endpoint
//	{"object": "error", "message", "type", "code"}        vLLM
//	{"detail": "words" or [{"msg", "loc"}]}               FastAPI
//	HTML or plain text                                    whatever stands in between
func ReadFault(body []byte) Fault {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return Fault{Message: plain(body)}
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	top, ok := v.(map[string]any)
	if !ok {
		return Fault{Message: text(v)}
	}
	switch e := top["error"].(type) {
	case map[string]any:
		return faultOf(e)
	case string:
		f := faultOf(top)
		f.Message = e
		return f
	}
	f := faultOf(top)
	if f.Message == "" {
		f.Message = detail(top["detail"])
	}
	return f
}

func faultOf(m map[string]any) Fault {
	f := Fault{Type: text(m["type"]), Code: text(m["code"]), Param: text(m["param"]), Message: text(m["message"])}
	if f.Type == "" {
		f.Type = text(m["status"])
	}
	if meta, ok := m["metadata"].(map[string]any); ok { // OpenRouter: what the provider behind it said
		if raw := text(meta["raw"]); raw != "" {
			f.Message += ": " + raw
		}
	}
	details, _ := m["details"].([]any)
	for _, d := range details {
		if one, ok := d.(map[string]any); ok {
			if wait, err := time.ParseDuration(text(one["retryDelay"])); err == nil {
				f.Retry = min(max(wait, 0), longest)
			}
		}
	}
	return f
}

func detail(v any) string {
	list, ok := v.([]any)
	if !ok {
		return text(v)
	}
	var all []string
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			all = append(all, text(e))
			continue
		}
		where, _ := m["loc"].([]any)
		var path []string
		for _, p := range where {
			path = append(path, text(p))
		}
		all = append(all, strings.Join(path, ".")+": "+text(m["msg"]))
	}
	return strings.Join(all, "; ")
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// plain is what a body that is no JSON says: a page by its title.
func plain(body []byte) string {
	if !isHTML(body) {
		return string(body)
	}
	lower := bytes.ToLower(body)
	from := bytes.Index(lower, []byte("<title>"))
	to := bytes.Index(lower, []byte("</title>"))
	if from < 0 || to < from || to > len(body) { // ToLower may change lengths outside ASCII
		return "an HTML page"
	}
	return "an HTML page: " + string(body[from+len("<title>"):to])
}

func isHTML(body []byte) bool {
	head := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// Has tells whether the vendor's words hold one of these, in any case.
func (f Fault) Has(words ...string) bool {
	all := strings.ToLower(strings.Join([]string{f.Type, f.Code, f.Param, f.Message}, "\n"))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
}

// Refuses tells whether the vendor does not take a parameter at all, whatever
// its value. A value out of range is another matter: that is the caller's error.
func (f Fault) Refuses(param string) bool {
	about := hasWord(f.Message, param)
	if f.Param != "" {
		about = f.Param == param
	}
	return about && f.Has("unsupported", "not support", "n't support", "unknown", "unrecognized", "extra inputs",
		"extra fields", "not permitted", "not allowed", "deprecated", "may only be set", "cannot find field")
}

// hasWord tells whether s names w, not as a part of another name.
func hasWord(s, w string) bool {
	for {
		i := strings.Index(s, w)
		if i < 0 {
			return false
		}
		before, after := s[:i], s[i+len(w):]
		if !endsInWord(before) && !strings.HasSuffix(before, "_") && !startsWithWord(after) && !strings.HasPrefix(after, "_") {
			return true
		}
		s = after
	}
}

// classify says which class of error a status and the vendor's words are.
// Some vendors say with a general status what has a status of its own.
func classify(status int, f Fault) llm.Class {
	switch {
	case f.Has("insufficient_quota", "billing_error", "billing_hard_limit", "billing_not_active", "credit balance is too low"):
		return llm.Quota
	case f.Has("overloaded_error"), status >= 500 && f.Has("overloaded", "slow down", "slow_down", "server busy"):
		return llm.Overloaded // Gemini, OpenAI and Ollama say it with 503
	case status == http.StatusBadRequest && f.Has("api key not valid", "api_key_invalid", "invalid api key"):
		return llm.Auth
	case status == http.StatusTooManyRequests && f.Has("request too large"): // it will not be smaller the next time
		return llm.Invalid
	}
	return byStatus(status)
}

func byStatus(status int) llm.Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llm.Auth
	case http.StatusPaymentRequired:
		return llm.Quota
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return llm.NotFound
	case http.StatusRequestTimeout:
		return llm.Timeout
	case http.StatusTooManyRequests:
		return llm.RateLimited
	case http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly:
		return llm.Server // the vendors' own clients try these again
	case 529: // Anthropic's own
		return llm.Overloaded
	}
	if status >= 500 {
		return llm.Server
	}
	return llm.Invalid
}
