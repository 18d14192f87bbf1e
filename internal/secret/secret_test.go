package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "DocsToken": true, "Authorization": true, "X-Auth": true, "AUTH_HEADER": true, "Cookie": true, "PASSWD": true,
		"proxy_authorization": true, "HOME": false, "GIT_AUTHOR_NAME": false, "XAUTHORITY": false, "authors": false, "project": false,
	} {
		if got := Name(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"node": false, "--stdio": false, "--api-key=x": true, "https://h/mcp?k=v": true, "https://u:p@h/mcp": true, "https://h/mcp": false,
		"a1b2c3d4e5f6a7b8c9d0e1f2": true, "/usr/lib/a1b2c3d4e5f6a7b8c9d0e1f2": false, "@scope/server@1.2.3-beta.20240101": false, "%zz": true, "": false,
	} {
		if got := Word(word); got != want {
			t.Errorf("%q: %v, want %v", word, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		raw, want string
		secret    bool
	}{
		{"http://localhost:3000/mcp", "http://localhost:3000/mcp", false},
		{"https://u:p@h.example:8443/api/v1/abcdefghij0123456789/mcp?key=k#f", "https://h.example:8443/api/v1/…/mcp", true},
		{"https://docs-server-1.eu.example.com/mcp", "https://docs-server-1.eu.example.com/mcp", false},
		{"https://h/mcp?project=mina", "https://h/mcp", true},
		{"https://h/a%20bcdefghij0123456789", "https://h/…", true},
		{"https://h/mcp#abcdefghij0123456789", "https://h/mcp", true},
		{"https://h/mcp#top", "https://h/mcp", false},
		{"://", "", true},
		{"", "", false},
	} {
		if shown, secret := URL(tc.raw); shown != tc.want || secret != tc.secret {
			t.Errorf("%s: %q, %v, want %q, %v", tc.raw, shown, secret, tc.want, tc.secret)
		}
	}
}

// TestFromEnviron: a mark must not replace an ordinary word: the answer would
// be another one, and be judged as such.
func TestFromEnviron(t *testing.T) {
	t.Parallel()
	r := FromEnviron([]string{
		"DOCS_TOKEN=tok-3f9d2c77e1", "DB_PASSWORD=correcthorsebatterystaple", "SECRET_BACKEND=postgres", "API_KEY_MODE=production",
		"KEY_SHORT=a1b2c3", "OTHER_TOKEN=tok-3f9d2c77e1-and-more", "EDITOR=tok-of-nobody-1",
	})
	for text, want := range map[string]string{
		"with tok-3f9d2c77e1.":            "with [DOCS_TOKEN].",
		"tok-3f9d2c77e1-and-more":         "[OTHER_TOKEN]",
		"correcthorsebatterystaple":       "[DB_PASSWORD]",
		"use postgres in production":      "use postgres in production",
		"a1b2c3 and tok-of-nobody-1 stay": "a1b2c3 and tok-of-nobody-1 stay",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestRedactorForms(t *testing.T) {
	t.Parallel()
	r := NewRedactor(4)
	r.AddHeader("Bearer abc<\"def")
	r.AddURL("https://user:pass%20word@h/v1/abcdefghij0123456789?key=k%2Fey&project=mina&session=0123456789abcdef")
	for text, want := range map[string]string{
		`Bearer abc<"def`:               Mark,
		`token abc<"def`:                "token " + Mark,
		`{"t":"abc<\"def"}`:             `{"t":"` + Mark + `"}`,
		`{"t":"abc\u003c\"def"}`:        `{"t":"` + Mark + `"}`,
		"user:pass word":                Mark + ":" + Mark,
		"user:pass%20word":              Mark,
		"Basic dXNlcjpwYXNzIHdvcmQ=":    "Basic " + Mark,
		"/v1/abcdefghij0123456789 mina": "/v1/" + Mark + " mina",
		"k%2Fey k/ey 0123456789abcdef":  Mark + " " + Mark + " " + Mark,
		"nothing":                       "nothing",
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	var none *Redactor
	if none.String("abc") != "abc" || string(none.JSON([]byte(`"abc"`))) != `"abc"` {
		t.Error("nil replaces something")
	}
}

func TestRedactorJSON(t *testing.T) {
	t.Parallel()
	r := NewRedactor(Least)
	r.Add(Mark, "sk-\"quoted\"-1", "12345678")
	for _, tc := range []struct{ raw, json, answer string }{
		{`{"a": "x<\u00e9"}`, `{"a": "x<\u00e9"}`, `{"a": "x<\u00e9"}`},
		{`{"sk-\"quoted\"-1": ["<", "a sk-\"quoted\"-1 b"]}`, `{"[redacted]": ["<", "a [redacted] b"]}`, `{"[redacted]": ["<", "a [redacted] b"]}`},
		{`{"n": 12345678, "s": "12345678"}`, `{"n": 12345678, "s": "[redacted]"}`, `{"n": "[redacted]", "s": "[redacted]"}`},
		{`{"n": 1234567890}`, `{"n": 1234567890}`, `{}`},
	} {
		if got := string(r.JSON([]byte(tc.raw))); got != tc.json {
			t.Errorf("JSON of %s: %s, want %s", tc.raw, got, tc.json)
		}
		got, found := r.Answer([]byte(tc.raw))
		if string(got) != tc.answer || found != (tc.answer != tc.raw) {
			t.Errorf("Answer of %s: %s, %v, want %s", tc.raw, got, found, tc.answer)
		}
	}
}

// FuzzJSON: JSON stays JSON, and no string of it holds the secret.
func FuzzJSON(f *testing.F) {
	f.Add(`{"a": "hunter22 \"x\""}`, "hunter22")
	f.Add(`{"a": "x\"y", "b": ["\\", "\u00e9", "\ud800", 1, null]}`, "a value of no use")
	f.Add(`["\u0068unter22", 1234567890]`, "12345678")
	f.Fuzz(func(t *testing.T, raw, value string) {
		r := NewRedactor(Least)
		r.Add("*", value)
		out := r.JSON([]byte(raw))
		answer, _ := r.Answer([]byte(raw))
		if !json.Valid([]byte(raw)) {
			return
		}
		if same := NewRedactor(Least).JSON([]byte(raw)); string(same) != raw {
			t.Fatalf("without a secret %s becomes %s", raw, same)
		}
		if !json.Valid(out) || !json.Valid(answer) {
			t.Fatalf("%s becomes %s and %s", raw, out, answer)
		}
		value = strings.TrimSpace(value)
		var s string
		if len(value) >= Least && json.Unmarshal(out, &s) == nil && strings.Contains(s, value) {
			t.Fatalf("%s becomes %s, which holds %s", raw, out, value)
		}
	})
}
