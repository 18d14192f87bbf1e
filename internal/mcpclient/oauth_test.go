package mcpclient_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// callTogether calls a tool from eight goroutines at once.
func callTogether(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if res, err := c.Call(t.Context(), "hello", nil); err != nil || res.Text() != "hello" {
				t.Errorf("call: %v", err)
			}
		})
	}
	wg.Wait()
}

// TestClientCredentials lets a client in that acts for itself.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	t.Run("discovered", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		callTogether(t, dial(t, g.asClient()))
		if diff := cmp.Diff([]string{"read"}, g.scopes()); diff != "" {
			t.Errorf("scopes of token requests (-want +got):\n%s", diff)
		}
	})
	t.Run("no challenge", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.challenge = "" })
		callTogether(t, dial(t, g.asClient()))
		if diff := cmp.Diff([]string{"all"}, g.scopes()); diff != "" {
			t.Errorf("scopes of token requests (-want +got):\n%s", diff)
		}
	})
	t.Run("own scopes", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		cfg := g.asClient()
		cfg.OAuth.Scopes = []string{"b", "a"}
		callTogether(t, dial(t, cfg))
		if diff := cmp.Diff([]string{"a b"}, g.scopes()); diff != "" {
			t.Errorf("scopes of token requests (-want +got):\n%s", diff)
		}
	})
	t.Run("token URL", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.metadata, g.challenge = false, "" })
		cfg := g.asClient()
		cfg.OAuth.TokenURL = g.URL + "/token"
		callTogether(t, dial(t, cfg))
		if n := g.visited("/.well-known/"); n > 0 || len(g.grants()) != 1 {
			t.Errorf("%d metadata requests, tokens by %v", n, g.grants())
		}
	})
	t.Run("secret in the form", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.methods = []string{"private_key_jwt", "client_secret_post"} })
		callTogether(t, dial(t, g.asClient()))
		if g.forms[0].Get("client_secret") != oauthSecret {
			t.Errorf("the token request is %v", g.forms[0])
		}
	})
	t.Run("runs out", func(t *testing.T) {
		t.Parallel()
		// Tokens count as expired some seconds before they are.
		g := serveGuarded(t, func(g *guarded) { g.life = 1 })
		c := dial(t, g.asClient())
		before := len(g.grants())
		wantText(t, call(t, c, "hello"))
		if after := len(g.grants()); after <= before {
			t.Errorf("%d token requests before the call, %d after", before, after)
		}
	})
}

// TestAuthorizationCode lets a client in that a person vouches for.
func TestAuthorizationCode(t *testing.T) {
	t.Parallel()
	t.Run("registered on the way", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		callTogether(t, dial(t, g.asPerson()))
		if diff := cmp.Diff([]string{"authorization_code"}, g.grants()); diff != "" || g.visited("/register") != 1 {
			t.Errorf("%d registrations, grants (-want +got):\n%s", g.visited("/register"), diff)
		}
	})
	t.Run("registered before", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		cfg := g.asPerson()
		cfg.OAuth.ClientID, cfg.OAuth.ClientSecret, cfg.OAuth.Issuer = oauthID, oauthSecret, g.URL
		callTogether(t, dial(t, cfg))
		if g.visited("/register") != 0 {
			t.Error("it registered although it is known")
		}
	})
	t.Run("refresh", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.life = 1 })
		c := dial(t, g.asPerson())
		wantText(t, call(t, c, "hello"))
		grants := g.grants()
		if grants[0] != "authorization_code" || len(grants) < 2 {
			t.Fatalf("grants: %v", grants)
		}
		for _, grant := range grants[1:] {
			if grant != "refresh_token" {
				t.Errorf("grants: %v", grants)
			}
		}
	})
	t.Run("refresh refused", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.life = 1 })
		c := dial(t, g.asPerson())
		g.mu.Lock()
		clear(g.refresh)
		g.mu.Unlock()
		wantText(t, call(t, c, "hello"))
		if n := g.visited("/authorize"); n != 2 {
			t.Errorf("the person was asked %d times", n)
		}
	})
	t.Run("own scopes", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.need = map[string]string{"tools/call": "write"} })
		cfg := g.asPerson()
		cfg.OAuth.Scopes = []string{"mine"}
		var asked []string
		cfg.OAuth.Authorize = func(ctx context.Context, address string) (mcpclient.Redirect, error) {
			u, _ := url.Parse(address)
			scopes := strings.Fields(u.Query().Get("scope"))
			slices.Sort(scopes)
			asked = append(asked, strings.Join(scopes, " "))
			return visit(ctx, address)
		}
		wantText(t, call(t, dial(t, cfg), "hello"))
		if diff := cmp.Diff([]string{"mine offline_access", "mine offline_access write"}, asked); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
	})
	t.Run("a person takes time", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		cfg := g.asPerson()
		cfg.Timeouts.Connect, cfg.Timeouts.Probe = 2*time.Second, time.Second
		cfg.OAuth.Authorize = func(ctx context.Context, address string) (mcpclient.Redirect, error) {
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) < time.Minute {
				t.Errorf("the person has until %v", deadline)
			}
			return visit(ctx, address)
		}
		wantText(t, call(t, dial(t, cfg), "hello"))
	})
}

// TestTokenRevoked has a token taken back in the middle: all callers notice,
// and one new token serves them.
func TestTokenRevoked(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]func(*guarded) mcpclient.Config{"client": (*guarded).asClient, "person": (*guarded).asPerson} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := serveGuarded(t, nil)
			c := dial(t, config(g))
			for want := 2; want <= 3; want++ {
				g.revoke()
				callTogether(t, c)
				if n := len(g.grants()); n != want {
					t.Errorf("%d token requests, want %d", n, want)
				}
			}
		})
	}
}

// TestStepUp has a server that wants another scope for a call than for the
// rest.
func TestStepUp(t *testing.T) {
	t.Parallel()
	need := map[string]string{"tools/call": "write"}
	for name, config := range map[string]func(*guarded) mcpclient.Config{"client": (*guarded).asClient, "person": (*guarded).asPerson} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := serveGuarded(t, func(g *guarded) { g.need = need })
			c := dial(t, config(g))
			callTogether(t, c)
			callTogether(t, c)
			if n := len(g.grants()); n != 2 {
				t.Errorf("%d token requests", n)
			}
		})
		t.Run(name+" in vain", func(t *testing.T) {
			t.Parallel()
			g := serveGuarded(t, func(g *guarded) { g.need, g.stingy = need, true })
			c := dial(t, config(g))
			for range 5 {
				if e := callErr(t, c, "hello", mcpclient.ClassAuth); e.Status != http.StatusForbidden {
					t.Errorf("status %d", e.Status)
				}
			}
			if n := len(g.grants()); n != 2 {
				t.Errorf("%d token requests", n)
			}
		})
	}
	t.Run("again after a new start", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.need = need })
		cfg := g.asClient()
		cfg.OAuth.Scopes = []string{"read"}
		c := dial(t, cfg)
		for range 2 {
			wantText(t, call(t, c, "hello"))
			g.revoke()
		}
	})
	t.Run("keeps what was granted", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, func(g *guarded) { g.need = need })
		wantText(t, call(t, dial(t, g.asClient()), "hello"))
		if diff := cmp.Diff([]string{"read", "read write"}, g.scopes()); diff != "" {
			t.Errorf("scopes of token requests (-want +got):\n%s", diff)
		}
	})
}

// TestNoOAuth lists the cases in which a 401 is just that.
func TestNoOAuth(t *testing.T) {
	t.Parallel()
	nobody := func(context.Context, string) (mcpclient.Redirect, error) {
		return mcpclient.Redirect{}, errors.New("nobody should be asked")
	}
	tests := map[string]struct {
		server func(*guarded)
		config func(*mcpclient.Config)
	}{
		"nothing to discover": {server: func(g *guarded) { g.metadata, g.challenge = false, "" }},
		"another scheme":      {server: func(g *guarded) { g.metadata, g.challenge = false, `Basic realm="docs"` }},
		"a key of its own":    {server: func(g *guarded) { g.metadata, g.challenge = false, `Bearer realm="docs", error="invalid_token"` }},
		"a broken challenge":  {server: func(g *guarded) { g.metadata, g.challenge = false, `"Bearer =, resource_metadata=` }},
		"a static token": {config: func(c *mcpclient.Config) {
			c.Headers = http.Header{"Authorization": {"Bearer stale-static-token"}}
		}},
		"a user in the URL": {config: func(c *mcpclient.Config) { c.URL = strings.Replace(c.URL, "http://", "http://me:pass@", 1) }},
		"no OAuth":          {config: func(c *mcpclient.Config) { c.OAuth = nil }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := serveGuarded(t, test.server)
			cfg := g.asPerson()
			cfg.OAuth.Authorize = nobody
			if test.config != nil {
				test.config(&cfg)
			}
			_, err := mcpclient.Dial(t.Context(), cfg)
			e := wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth)
			if e.Status != http.StatusUnauthorized || e.Attempts != 1 {
				t.Errorf("status %d after %d attempts: %v", e.Status, e.Attempts, e)
			}
			for _, path := range []string{"/register", "/authorize", "/token"} {
				if n := g.visited(path); n > 0 {
					t.Errorf("%s was visited %d times", path, n)
				}
			}
		})
	}
	t.Run("said to those with", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), serveGuarded(t, tests["nothing to discover"].server).asClient())
		if err == nil || !strings.Contains(err.Error(), "names no authorization server") || !strings.Contains(err.Error(), "who are you?") {
			t.Errorf("the error does not say what is missing: %v", err)
		}
	})
	t.Run("said to those without", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), serveGuarded(t, nil).config())
		if err == nil || !strings.Contains(err.Error(), "takes OAuth tokens") {
			t.Errorf("the error does not say what is missing: %v", err)
		}
	})
}

// TestTokenTrouble has authorization servers that do not do their part.
func TestTokenTrouble(t *testing.T) {
	t.Parallel()
	t.Run("wrong secret", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		cfg := g.asClient()
		cfg.OAuth.ClientSecret = tokenStart + "-not-the-secret"
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth)
		wantNoSecrets(t, "the error", errorTexts(err)...)
		if n := len(g.grants()); n != 1 {
			t.Errorf("%d token requests: a refusal was tried again", n)
		}
	})
	t.Run("another issuer", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		cfg := g.asClient()
		cfg.OAuth.Issuer = "https://login.example"
		_, err := mcpclient.Dial(t.Context(), cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth)
		if len(g.grants()) > 0 {
			t.Error("a server that is not trusted was sent the secret")
		}
	})
	t.Run("another resource", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, "/.well-known/oauth-protected-resource") {
				return false
			}
			g.json(w, map[string]any{"resource": "https://elsewhere.example/mcp", "authorization_servers": []string{g.URL}})
			return true
		}
		_, err := mcpclient.Dial(t.Context(), g.asClient())
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth)
		if len(g.grants()) > 0 {
			t.Error("a token for another resource was asked for")
		}
	})
	t.Run("down for a moment", func(t *testing.T) {
		t.Parallel()
		var down atomic.Int64
		g := serveGuarded(t, func(g *guarded) { g.metadata, g.challenge = false, "" })
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/token" || down.Add(1) > 2 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		cfg := g.asClient()
		cfg.OAuth.TokenURL = g.URL + "/token"
		wantText(t, call(t, dial(t, cfg), "hello"))
	})
	t.Run("a token that is not taken", func(t *testing.T) {
		t.Parallel()
		g := serveGuarded(t, nil)
		g.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "" && r.URL.Path == "/mcp" {
				g.revoke()
			}
			return false
		}
		_, err := mcpclient.Dial(t.Context(), g.asClient())
		if e := wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth); e.Status != http.StatusUnauthorized {
			t.Errorf("status %d", e.Status)
		}
		if n := len(g.grants()); n != 1 {
			t.Errorf("%d token requests", n)
		}
	})
	t.Run("a person who gives up", func(t *testing.T) {
		t.Parallel()
		gone := errors.New("no, thanks")
		cfg := serveGuarded(t, nil).asPerson()
		cfg.OAuth.Authorize = func(context.Context, string) (mcpclient.Redirect, error) { return mcpclient.Redirect{}, gone }
		_, err := mcpclient.Dial(t.Context(), cfg)
		if wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassAuth); !errors.Is(err, gone) {
			t.Errorf("the reason is lost: %v", err)
		}
	})
	t.Run("a person who does not come back", func(t *testing.T) {
		t.Parallel()
		cfg := serveGuarded(t, nil).asPerson()
		ctx, cancel := context.WithCancel(t.Context())
		cfg.OAuth.Authorize = func(ctx context.Context, _ string) (mcpclient.Redirect, error) {
			cancel()
			<-ctx.Done()
			return mcpclient.Redirect{}, ctx.Err()
		}
		_, err := mcpclient.Dial(ctx, cfg)
		wantClass(t, err, mcpclient.OpConnect, mcpclient.ClassCanceled)
	})
}

// TestTokensStaySecret has a server that repeats the token it was sent, in an
// answer and in an error.
func TestTokensStaySecret(t *testing.T) {
	t.Parallel()
	g := serveGuarded(t, nil)
	g.on = func(w http.ResponseWriter, r *http.Request, m *inMessage) bool {
		if m.Method != "tools/call" {
			return false
		}
		said := "you are " + r.Header.Get("Authorization")
		if strings.Contains(string(m.Params), "fail") {
			http.Error(w, said, http.StatusTeapot)
		} else {
			answer(w, 200, "application/json", `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`+said+`"}]}}`, string(m.ID))
		}
		return true
	}
	c := dial(t, g.asClient())
	res := call(t, c, "hello")
	wantFinding(t, res, "the answer held a configured secret; it is removed")
	if got := res.Text(); got != "you are Bearer [redacted]" {
		t.Errorf("the answer is %q", got)
	}
	_, err := c.Call(t.Context(), "fail", nil)
	for _, text := range append(errorTexts(err), string(res.Response)) {
		if strings.Contains(text, "deadbeef") {
			t.Errorf("the token is seen: %s", text)
		}
	}
	if err == nil || !strings.Contains(err.Error(), "you are Bearer [redacted]") {
		t.Errorf("the error is %v", err)
	}
}

// TestTokenStaysAtHome has a server that redirects to another origin.
func TestTokenStaysAtHome(t *testing.T) {
	t.Parallel()
	other := serveOdd(t, nil)
	g := serveGuarded(t, nil)
	g.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/mcp" || r.Header.Get("Authorization") == "" {
			return false
		}
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		return true
	}
	wantText(t, call(t, dial(t, g.asClient()), "hello"))
	if got := other.headers("tools/call").Get("Authorization"); got != "" {
		t.Errorf("the other origin was sent %q", got)
	}
}

// TestOAuthConfig lists what cannot work.
func TestOAuthConfig(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		oauth mcpclient.OAuth
		want  string
	}{
		"nothing":          {mcpclient.OAuth{}, "client id and a client secret"},
		"no secret":        {mcpclient.OAuth{ClientID: "x"}, "client id and a client secret"},
		"no way back":      {mcpclient.OAuth{Authorize: visit, Register: true}, "redirect URL"},
		"no client":        {mcpclient.OAuth{Authorize: visit, RedirectURL: "http://127.0.0.1/"}, "neither a client id"},
		"token URL, asked": {mcpclient.OAuth{Authorize: visit, TokenURL: "https://x/"}, "asks nobody"},
		"bad token URL":    {mcpclient.OAuth{ClientID: "x", ClientSecret: "y", TokenURL: "ftp://x"}, "token endpoint"},
		"bad document":     {mcpclient.OAuth{Authorize: visit, RedirectURL: "http://127.0.0.1/", ClientDocument: "http://x/y"}, "HTTPS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := httpConfig("http://127.0.0.1:1/mcp")
			cfg.OAuth = &test.oauth
			_, err := mcpclient.Dial(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestTokenRequestsStayAtTheirHost: the client's secret is in the body, which
// a redirect would carry along.
func TestTokenRequestsStayAtTheirHost(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	tokens := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer tokens.Close()
	g := serveGuarded(t, nil)
	cfg := g.asClient()
	cfg.OAuth.TokenURL = tokens.URL + "/token?key=abcdefgh"
	if c, err := mcpclient.Dial(t.Context(), cfg); err == nil {
		c.Close()
		t.Error("it got a token")
	} else if !strings.Contains(err.Error(), "redirects to another host") {
		t.Error(err)
	}
	if asked.Load() != 0 {
		t.Error("the other host was asked")
	}
}
