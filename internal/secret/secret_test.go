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
		"user:pass word":                Mark,
		"user and pass word":            Mark + " and " + Mark,
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

// TestConfigured: what is taken out of answers decides verdicts, so that
// ordinary words stay.
func TestConfigured(t *testing.T) {
	t.Parallel()
	r := FromEnviron(nil)
	r.AddVariable("PROJECT", "documentation")
	r.AddVariable("DOCS", "/srv/docs-v2/pages")
	r.AddVariable("SERVER", "http://localhost:3000/mcp")
	r.AddVariable("TENANT", "acme-7731-prod")
	r.AddVariable("PASSWORD", "hunter2")
	r.AddVariable("DATABASE_URL", "postgres://postgres:s3cr3t@db.example/prod")
	r.AddSetting("Accept", "application/json, text/event-stream")
	r.AddSetting("X-Project", "solana-docs-2026")
	r.AddSetting("X-Tenant", "0123456789abcdef0123456789abcdef")
	r.AddSetting("Authorization", "Basic YWxpY2U6d29uZGVyMQ==")
	for text, want := range map[string]string{
		"documentation of /srv/docs-v2/pages at http://localhost:3000/mcp": "documentation of /srv/docs-v2/pages at http://localhost:3000/mcp",
		"application/json for solana-docs-2026 in postgres":                "application/json for solana-docs-2026 in postgres",
		"acme-7731-prod":                               "[TENANT]",
		"the password is hunter2":                      "the password is [PASSWORD]",
		"postgres://postgres:s3cr3t@db.example/prod":   "postgres://[DATABASE_URL]@db.example/prod",
		"0123456789abcdef0123456789abcdef":             Mark,
		"alice:wonder1, wonder1, YWxpY2U6d29uZGVyMQ==": Mark + ", " + Mark + ", " + Mark,
	} {
		if got := r.String(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestEscapesHideNothing: JSON has many ways to write a text.
func TestEscapesHideNothing(t *testing.T) {
	t.Parallel()
	r := FromEnviron(nil)
	r.AddVariable("API_KEY", "k/0123+abc")
	for _, raw := range []string{`{"a":"k\/0123+abc"}`, `{"a":"\u006b/0123+abc"}`, `{"a":"k\u002f0123\u002Babc"}`} {
		if got, found := r.Answer([]byte(raw)); string(got) != `{"a":"[API_KEY]"}` || !found {
			t.Errorf("%s becomes %s, %v", raw, got, found)
		}
	}
	const plain = `{"a":"\u00e9 \/ \n"}`
	if got, found := r.Answer([]byte(plain)); string(got) != plain || found {
		t.Errorf("%s becomes %s, %v", plain, got, found)
	}
	if got := r.String("https://h/?k=k%2F0123%2Babc"); got != "https://h/?k=[API_KEY]" {
		t.Error(got)
	}
}

// BenchmarkAnswer: an answer of 2 kB without secrets, and twenty secrets.
func BenchmarkAnswer(b *testing.B) {
	r := FromEnviron(nil)
	for i := range 20 {
		r.AddVariable("KEY", strings.Repeat(string(rune('a'+i)), 12)+"/0123456789")
	}
	raw := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("Accounts hold state, and programs own them.\\n", 45) + `"}]}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.Answer(raw)
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

// FuzzSearch: the quick search finds what a plain one finds.
func FuzzSearch(f *testing.F) {
	f.Add("a text with hunter22", "hunter22", "x")
	f.Add("abc", "bc", "abcd")
	f.Add("\x00\xff\x00\xff\x00", "\xff\x00\xff\x00", "")
	f.Fuzz(func(t *testing.T, text, a, b string) {
		var values []string
		want := false
		for _, v := range []string{a, b} {
			if v != "" {
				values = append(values, v)
				want = want || strings.Contains(text, v)
			}
		}
		s := newSearch(values)
		if finds(s, text) != want || finds(s, []byte(text)) != want {
			t.Fatalf("%q in %q: want %v", values, text, want)
		}
	})
}
