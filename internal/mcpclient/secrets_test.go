package mcpclient_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

func containsAny(text string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// errorTexts is every text that can be got out of an error.
func errorTexts(err error) []string {
	if err == nil {
		return nil
	}
	texts := []string{err.Error(), fmt.Sprintf("%+v", err)}
	var e *mcpclient.Error
	if errors.As(err, &e) {
		texts = append(texts, e.Body)
	}
	var rpc *mcpclient.RPCError
	if errors.As(err, &rpc) {
		texts = append(texts, rpc.Message, string(rpc.Data))
	}
	switch u := err.(type) { //nolint:errorlint // it walks the whole tree itself
	case interface{ Unwrap() error }:
		texts = append(texts, errorTexts(u.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, inner := range u.Unwrap() {
			texts = append(texts, errorTexts(inner)...)
		}
	}
	return texts
}

// Tokens are longer than what an error quotes, so that one is likely to be cut
// in half; their first characters must not be seen either.
var (
	secretToken = tokenStart + strings.Repeat("abc123", 100)
	secretEnv   = envStart + strings.Repeat("xyz", 100)
)

const (
	tokenStart   = "tok-9f8e7d6c"
	envStart     = "env-0123456789"
	secretHeader = `he"ader-secret`
	secretUser   = "user-alice"
	secretPass   = "pass word/1"
	secretQuery  = "query-value-42"
	secretPath   = "s3cr3t0123456789abcdef"
)

var allSecrets = []string{
	tokenStart, secretHeader, `he\"ader-secret`, secretUser, secretPass, "pass%20word%2F1", secretQuery, secretPath, envStart,
}

func wantNoSecrets(t *testing.T, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, s := range allSecrets {
			if strings.Contains(text, s) {
				t.Errorf("%s shows %q: %s", what, s, text)
			}
		}
	}
}

// echo repeats everything the request says about itself.
func echo(r *http.Request) string {
	user, pass, _ := r.BasicAuth()
	return fmt.Sprintf("%s %s %v user %s pass %s", r.Method, r.URL, r.Header, user, pass)
}

// TestSecretsHTTP lets a server throw the credentials back in every way that
// ends up in an error.
func TestSecretsHTTP(t *testing.T) {
	t.Parallel()
	jsonEcho := func(r *http.Request, id, format string) string {
		quoted := strings.ReplaceAll(strings.ReplaceAll(echo(r), `\`, `\\`), `"`, `\"`)
		return fmt.Sprintf(format, id, quoted, quoted)
	}
	answers := map[string]func(w http.ResponseWriter, r *http.Request, id string){
		"status":   func(w http.ResponseWriter, r *http.Request, _ string) { http.Error(w, echo(r), 400) },
		"auth":     func(w http.ResponseWriter, r *http.Request, _ string) { http.Error(w, echo(r), 401) },
		"text":     func(w http.ResponseWriter, r *http.Request, _ string) { fmt.Fprint(w, echo(r)) },
		"dropped":  func(w http.ResponseWriter, _ *http.Request, _ string) { drop(w) },
		"hang":     func(_ http.ResponseWriter, r *http.Request, _ string) { hang(r) },
		"redirect": func(w http.ResponseWriter, r *http.Request, _ string) { http.Redirect(w, r, r.URL.String(), 302) },
		"id": func(w http.ResponseWriter, r *http.Request, id string) {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":{}}`, r.Header.Get("Authorization"))
		},
		"rpc": func(w http.ResponseWriter, r *http.Request, id string) {
			fmt.Fprint(w, jsonEcho(r, id, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"%s","data":["%s"]}}`))
		},
		"bad rpc": func(w http.ResponseWriter, r *http.Request, id string) {
			fmt.Fprint(w, jsonEcho(r, id, `{"jsonrpc":"2.0","id":%s,"error":{"code":"1","message":"%s","data":["%s"]}}`))
		},
	}
	for name, write := range answers {
		for _, when := range []string{"tools/call", "initialize", "notifications/initialized", "tools/list"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				srv := serveOdd(t, func(w http.ResponseWriter, r *http.Request, m *inMessage, _ int) bool {
					if m.Method == when {
						write(w, r, string(m.ID))
					}
					return m.Method == when
				})
				cfg := secretConfig(srv.URL)
				c, err := mcpclient.Dial(t.Context(), cfg)
				if c != nil {
					defer c.Close()
					_, listErr := c.Tools(t.Context())
					_, callErr := c.Call(t.Context(), "hello", nil)
					err = errors.Join(listErr, callErr)
					wantNoSecrets(t, "info", fmt.Sprintf("%+v", c.Info()))
				}
				if err == nil && when != "notifications/initialized" {
					t.Error("no error")
				}
				wantNoSecrets(t, "error", errorTexts(err)...)
			})
		}
	}
}

func secretConfig(base string) mcpclient.Config {
	url := strings.Replace(base, "http://", "http://"+secretUser+":pass%20word%2F1@", 1) +
		"/" + secretPath + "/mcp?token=" + secretQuery
	cfg := httpConfig(url)
	cfg.Headers = http.Header{"Authorization": {"Bearer " + secretToken}, "X-Key": {secretHeader}}
	cfg.Timeouts.Call, cfg.Timeouts.List, cfg.Timeouts.Connect = soon, soon, soon
	cfg.Retries = 1
	return cfg
}

// TestSecretsUnreachable has errors that come from the network and quote the
// URL.
func TestSecretsUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	srv.Close()
	_, err := mcpclient.Dial(t.Context(), secretConfig(srv.URL))
	wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassTransport)
	wantNoSecrets(t, "error", errorTexts(err)...)
}

// TestSecretsStdio lets a process print its environment before it dies.
func TestSecretsStdio(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "leaky")
	cfg.Env = append(cfg.Env, "SERVICE_API_KEY="+secretEnv)
	c := dial(t, cfg)
	_, err := c.Call(t.Context(), "hello", nil)
	e := wantClass(t, err, mcpclient.OpCall, mcpclient.ClassTransport)
	if !strings.Contains(e.Error(), "[redacted]") {
		t.Errorf("the last words are not there: %v", e)
	}
	wantNoSecrets(t, "error", errorTexts(err)...)
	wantNoSecrets(t, "info", fmt.Sprintf("%+v", c.Info()))
}
