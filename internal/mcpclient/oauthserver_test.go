package mcpclient_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

const (
	oauthID     = "client-7"
	oauthSecret = "client-secret-5f3a9b"
)

// guarded is an MCP server with the authorization server it trusts, on one
// origin. It is strict: what OAuth wants of a client is checked, and each wish
// that is not met is a test error.
type guarded struct {
	*httptest.Server
	t testing.TB

	// How it behaves; set before the first request.
	challenge string                                                          // WWW-Authenticate of a 401; %s is the origin
	metadata  bool                                                            // describes itself at the well-known places
	need      map[string]string                                               // scope that a method needs
	methods   []string                                                        // how a client may show its secret at the token endpoint; nil says nothing
	life      int                                                             // expires_in of tokens, 0 for none
	stingy    bool                                                            // grants no scopes beyond the first
	before    func(w http.ResponseWriter, r *http.Request) bool               // may take over a request
	on        func(w http.ResponseWriter, r *http.Request, m *inMessage) bool // may answer a message

	mu      sync.Mutex
	serial  int
	tokens  map[string]string     // scopes by access token
	refresh map[string]string     // scopes by refresh token
	codes   map[string]url.Values // authorization requests by code
	forms   []url.Values          // what the token endpoint was sent
	paths   []string              // of all requests
}

func serveGuarded(t testing.TB, set func(*guarded)) *guarded {
	g := &guarded{
		t: t, metadata: true, challenge: `Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="read"`,
		tokens: map[string]string{}, refresh: map[string]string{}, codes: map[string]url.Values{},
	}
	if set != nil {
		set(g)
	}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *guarded) config() mcpclient.Config { return httpConfig(g.URL + "/mcp") }

// asClient is the config of a client that acts for itself.
func (g *guarded) asClient() mcpclient.Config {
	cfg := g.config()
	cfg.OAuth = &mcpclient.OAuth{ClientID: oauthID, ClientSecret: oauthSecret}
	return cfg
}

// asPerson is the config of a client that a person lets in.
func (g *guarded) asPerson() mcpclient.Config {
	cfg := g.config()
	cfg.OAuth = &mcpclient.OAuth{Register: true, RedirectURL: "http://127.0.0.1:1/back", Authorize: visit}
	return cfg
}

// visit is a person in a hurry.
func visit(_ context.Context, address string) (mcpclient.Redirect, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return mcpclient.Redirect{}, err
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return mcpclient.Redirect{}, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return mcpclient.Redirect{}, err
	}
	q := to.Query()
	return mcpclient.Redirect{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss")}, nil
}

func (g *guarded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.paths = append(g.paths, r.URL.Path)
	g.mu.Unlock()
	if g.before != nil && g.before(w, r) {
		return
	}
	switch {
	case r.URL.Path == "/mcp":
		g.serveMCP(w, r)
	case !g.metadata && strings.HasPrefix(r.URL.Path, "/.well-known/"):
		http.NotFound(w, r)
	case r.URL.Path == "/.well-known/oauth-protected-resource/mcp":
		g.json(w, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}, "scopes_supported": []string{"all"}})
	case r.URL.Path == "/.well-known/oauth-authorization-server":
		g.json(w, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"registration_endpoint": g.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"read", "write", "offline_access"},
			"authorization_response_iss_parameter_supported": true, "token_endpoint_auth_methods_supported": g.methods,
		})
	case r.URL.Path == "/register":
		w.WriteHeader(http.StatusCreated)
		g.json(w, map[string]any{"client_id": oauthID, "client_secret": oauthSecret, "token_endpoint_auth_method": "client_secret_basic", "redirect_uris": []string{"http://127.0.0.1:1/back"}})
	case r.URL.Path == "/authorize":
		g.serveAuthorize(w, r)
	case r.URL.Path == "/token":
		g.serveToken(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (g *guarded) json(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// serveMCP is a plain server of the legacy era behind a gate.
func (g *guarded) serveMCP(w http.ResponseWriter, r *http.Request) {
	var m inMessage
	_ = json.NewDecoder(r.Body).Decode(&m)
	g.mu.Lock()
	scopes, known := g.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	g.mu.Unlock()
	need := g.need[m.Method]
	switch {
	case !known:
		if g.challenge != "" {
			w.Header().Set("WWW-Authenticate", strings.ReplaceAll(g.challenge, "%s", g.URL))
		}
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case need != "" && !slices.Contains(strings.Fields(scopes), need):
		w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, need))
		http.Error(w, "you may not", http.StatusForbidden)
	case g.on == nil || !g.on(w, r, &m):
		(&odd{}).behave(w, &m, 1)
	}
}

func (g *guarded) serveAuthorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("state") == "" {
		g.t.Errorf("authorization request without PKCE or state: %v", q)
	}
	if q.Get("resource") != g.URL+"/mcp" || q.Get("client_id") != oauthID {
		g.t.Errorf("authorization request of %q for resource %q", q.Get("client_id"), q.Get("resource"))
	}
	g.mu.Lock()
	g.serial++
	code := fmt.Sprintf("code-%d-0a1b2c3d", g.serial)
	g.codes[code] = q
	g.mu.Unlock()
	back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {g.URL}}
	w.Header().Set("Location", q.Get("redirect_uri")+"?"+back.Encode())
	w.WriteHeader(http.StatusFound)
}

func (g *guarded) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	id, secret, basic := r.BasicAuth()
	if !basic && g.methods != nil {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forms = append(g.forms, r.PostForm)
	if id != oauthID || secret != oauthSecret {
		w.WriteHeader(http.StatusUnauthorized)
		g.json(w, map[string]any{"error": "invalid_client", "error_description": "no client " + id + " with secret " + secret})
		return
	}
	scope, ok := g.entitled(r.PostForm)
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		g.json(w, map[string]any{"error": "invalid_grant"})
		return
	}
	g.serial++
	token := map[string]any{"access_token": fmt.Sprintf("access-%d-deadbeef", g.serial), "token_type": "Bearer", "scope": scope}
	if g.stingy && len(g.forms) > 1 {
		scope = "read"
	}
	g.tokens[token["access_token"].(string)] = scope
	if g.life > 0 {
		token["expires_in"] = g.life
	}
	if r.PostForm.Get("grant_type") != "client_credentials" {
		fresh := fmt.Sprintf("refresh-%d-cafebabe", g.serial)
		token["refresh_token"], g.refresh[fresh] = fresh, scope
	}
	g.json(w, token)
}

// entitled says what a token request may have.
func (g *guarded) entitled(form url.Values) (scope string, ok bool) {
	switch form.Get("grant_type") {
	case "client_credentials":
		if form.Get("resource") != g.URL+"/mcp" {
			g.t.Errorf("token request for resource %q", form.Get("resource"))
		}
		return form.Get("scope"), true
	case "authorization_code":
		asked, known := g.codes[form.Get("code")]
		delete(g.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			g.t.Error("the code verifier does not fit its challenge")
		}
		return asked.Get("scope"), known
	case "refresh_token":
		scope, known := g.refresh[form.Get("refresh_token")]
		delete(g.refresh, form.Get("refresh_token"))
		return scope, known
	}
	return "", false
}

// revoke makes all access tokens void.
func (g *guarded) revoke() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.tokens)
}

// grants lists the grant types that the token endpoint was asked for.
func (g *guarded) grants() (types []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.forms {
		types = append(types, f.Get("grant_type"))
	}
	return types
}

// scopes lists the scopes that were asked for, sorted within each request.
func (g *guarded) scopes() (all []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range g.forms {
		s := strings.Fields(f.Get("scope"))
		slices.Sort(s)
		all = append(all, strings.Join(s, " "))
	}
	return all
}

func (g *guarded) visited(path string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.paths {
		if strings.HasPrefix(p, path) {
			n++
		}
	}
	return n
}
