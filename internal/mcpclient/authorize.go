package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// An authorizer has the access token of a session: it puts it on requests and
// gets a new one when the server wants that, once for all callers.
type authorizer struct {
	cfg     *OAuth
	server  *url.URL
	client  *http.Client // speaks to authorization servers
	tasks   *tasks
	secrets *secrets
	person  *auth.AuthorizationCodeHandler // nil for the client credentials grant

	mu      sync.Mutex
	source  oauth2.TokenSource
	current string          // the Authorization header last used
	worked  bool            // the server has taken it
	asked   map[string]bool // scopes that a token was got for in vain
	granted []string
	stepUp  bool // the authorization under way is for more scopes
	running *authorization
}

// authorization is one attempt at a token, shared by all who need it.
type authorization struct {
	done  chan struct{}
	fault *fault
}

// checkGrantRedirect keeps a request for a token, whose body holds the client's
// secret, at its host.
func checkGrantRedirect(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer")
	switch {
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	case via[0].Method != http.MethodGet && !sameOrigin(req.URL, via[0].URL):
		return fmt.Errorf("the authorization server redirects to another host, %s://%s", req.URL.Scheme, req.URL.Host)
	}
	return nil
}

// newAuthorizer gives nil where the Config has credentials of its own.
func newAuthorizer(cfg Config, w *web, s *secrets) (*authorizer, error) {
	if cfg.OAuth == nil || w.url.User != nil || w.header.Get("Authorization") != "" {
		return nil, nil
	}
	a := &authorizer{
		cfg: cfg.OAuth, server: w.url, tasks: w.tasks, secrets: s, asked: map[string]bool{},
		client: &http.Client{Transport: w.base, Timeout: cfg.Timeouts.Connect, CheckRedirect: checkGrantRedirect},
	}
	if cfg.OAuth.TokenURL != "" {
		a.source = a.credentials(cfg.OAuth.TokenURL, withoutUser(w.url), cfg.OAuth.Scopes, oauth2.AuthStyleAutoDetect)
	}
	if cfg.OAuth.Authorize == nil {
		return a, nil
	}
	var err error
	a.person, err = auth.NewAuthorizationCodeHandler(a.handlerConfig(cfg.Name))
	return a, err
}

func (a *authorizer) handlerConfig(name string) *auth.AuthorizationCodeHandlerConfig {
	o := a.cfg
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: o.RedirectURL, Client: a.client, RequestRefreshToken: true,
		AuthorizationCodeFetcher: a.sendPerson, ScopeFilter: a.chooseScopes,
	}
	if o.ClientDocument != "" {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.ClientDocument}
	}
	if o.ClientID != "" {
		cfg.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID, Issuer: o.Issuer}
		if o.ClientSecret != "" {
			cfg.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
		}
	}
	if o.Register {
		cfg.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: name, RedirectURIs: []string{o.RedirectURL},
				GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
			},
		}
	}
	return cfg
}

// sendPerson has the caller of the package get an authorization code.
func (a *authorizer) sendPerson(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	back, err := a.cfg.Authorize(ctx, args.URL)
	if err != nil {
		return nil, err
	}
	a.secrets.learn(back.Code)
	return &auth.AuthorizationResult{Code: back.Code, State: back.State, Iss: back.Issuer}, nil
}

// chooseScopes prefers the Config's scopes to those that were discovered. What
// the server says is missing is always asked for.
func (a *authorizer) chooseScopes(discovered []string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.cfg.Scopes) == 0:
		return discovered
	case a.stepUp:
		return union(a.cfg.Scopes, discovered)
	}
	return a.cfg.Scopes
}

// sign gives the header of a request with the token, if there is one. A token
// that has run out is refreshed here.
func (a *authorizer) sign(header http.Header) (http.Header, *fault) {
	for {
		a.mu.Lock()
		source := a.source
		a.mu.Unlock()
		if source == nil {
			return header, nil
		}
		token, err := source.Token()
		if err != nil && a.person != nil && deniedByServer(err) {
			a.drop(source) // the server will ask for a new one
			return header, nil
		}
		if err != nil {
			return nil, tokenFault(err)
		}
		a.mu.Lock()
		replaced := a.source != source
		if !replaced {
			header = header.Clone()
			header.Set("Authorization", a.use(token))
		}
		a.mu.Unlock()
		if !replaced {
			return header, nil
		}
	}
}

// drop forgets a source that gives no more tokens.
func (a *authorizer) drop(source oauth2.TokenSource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.source == source {
		a.source, a.current = nil, ""
	}
}

// accepted notes that the server took the request with this header.
func (a *authorizer) accepted(value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if value != "" && value == a.current {
		a.worked = true
	}
}

// renew gets a token that answers the challenge. It reports whether the
// request is worth another try; if not, the fault says why, and nil that the
// challenge itself is all there is to say.
func (a *authorizer) renew(ctx context.Context, ch *challenge) (bool, *fault) {
	a.mu.Lock()
	if a.current != ch.used {
		a.mu.Unlock()
		return true, nil // another request was faster
	}
	run := a.running
	if run == nil {
		if a.hopeless(ch) {
			a.mu.Unlock()
			return false, nil
		}
		run = &authorization{done: make(chan struct{})}
		if !a.tasks.spawn(func(ctx context.Context) { a.authorize(ctx, ch, run) }) {
			a.mu.Unlock()
			return false, nil // the client is closing
		}
		a.running, a.stepUp = run, ch.wantsScope()
	}
	a.mu.Unlock()
	select {
	case <-run.done:
		return run.fault == nil, run.fault
	case <-ctx.Done():
		return false, ctxFault(ctx)
	}
}

// hopeless finds challenges that a token cannot answer: a new token that was
// never taken, or scopes that were granted and are still asked for. Without
// it each call of a run would ask for a token again.
func (a *authorizer) hopeless(ch *challenge) bool {
	if ch.status == http.StatusForbidden {
		return !ch.wantsScope() || a.asked[ch.param("scope")]
	}
	return a.current != "" && !a.worked
}

// authorize gets a token and tells all who wait for it.
func (a *authorizer) authorize(ctx context.Context, ch *challenge, run *authorization) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.timeout())
	defer cancel()
	source, err := a.grant(ctx, ch)
	var token *oauth2.Token
	if err == nil {
		token, err = source.Token()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		run.fault = tokenFault(err)
	} else {
		a.source = source
		a.use(token)
		if ch.wantsScope() {
			a.asked[ch.param("scope")] = true
		} else {
			clear(a.asked) // a new start, perhaps with fewer scopes
		}
	}
	a.running = nil
	close(run.done)
}

// use notes the token that requests carry from now on, and gives their header.
func (a *authorizer) use(token *oauth2.Token) string {
	value := token.Type() + " " + token.AccessToken
	if value != a.current {
		a.current, a.worked = value, false
		a.secrets.learn(token.AccessToken, token.RefreshToken)
	}
	return value
}

// grant gets a source of tokens, by way of a person or without one.
func (a *authorizer) grant(ctx context.Context, ch *challenge) (oauth2.TokenSource, error) {
	if a.person == nil {
		return a.grantClient(ctx, ch)
	}
	if ch.status == http.StatusUnauthorized && !a.cfg.DefaultEndpoints {
		// The SDK's handler would try default endpoints.
		if _, err := discover(ctx, a.client, a.server, ch); err != nil {
			return nil, err
		}
	}
	bare := *a.server
	bare.User, bare.Fragment = nil, ""
	resp := &http.Response{StatusCode: ch.status, Header: http.Header{"Www-Authenticate": ch.header}, Body: http.NoBody}
	if err := a.person.Authorize(ctx, &http.Request{URL: &bare}, resp); err != nil {
		return nil, err
	}
	return a.person.TokenSource(ctx)
}

// grantClient gets a token by the client credentials grant. The SDK's handler
// for it is not used: it names no resource, and its refresh dies with ctx.
func (a *authorizer) grantClient(ctx context.Context, ch *challenge) (oauth2.TokenSource, error) {
	endpoint, id, style := a.cfg.TokenURL, withoutUser(a.server), oauth2.AuthStyleAutoDetect
	scopes := union(a.cfg.Scopes)
	if endpoint == "" {
		res, err := discover(ctx, a.client, a.server, ch)
		if err != nil {
			return nil, err
		}
		if want := a.cfg.Issuer; want != "" && strings.TrimSuffix(want, "/") != strings.TrimSuffix(res.issuer, "/") {
			return nil, fmt.Errorf("the server names the authorization server %s, but the client is known to %s", res.issuer, want)
		}
		meta, err := auth.GetAuthServerMetadata(ctx, res.issuer, a.client)
		if err != nil {
			return nil, fmt.Errorf("read the metadata of the authorization server: %w", err)
		}
		if meta == nil || meta.TokenEndpoint == "" {
			return nil, fmt.Errorf("the authorization server %s describes no token endpoint", res.issuer)
		}
		endpoint, id, style = meta.TokenEndpoint, res.id, tokenStyle(meta.TokenEndpointAuthMethodsSupported)
		if len(scopes) == 0 && len(ch.scopes()) == 0 {
			scopes = res.scopes
		}
	}
	if len(scopes) == 0 || ch.wantsScope() {
		scopes = union(a.granted, scopes, ch.scopes())
	}
	a.granted = scopes
	return a.credentials(endpoint, id, scopes, style), nil
}

// credentials is the source of tokens of the client credentials grant.
func (a *authorizer) credentials(endpoint, id string, scopes []string, style oauth2.AuthStyle) oauth2.TokenSource {
	cfg := clientcredentials.Config{
		ClientID: a.cfg.ClientID, ClientSecret: a.cfg.ClientSecret, TokenURL: endpoint, Scopes: scopes,
		EndpointParams: url.Values{"resource": {id}}, AuthStyle: style,
	}
	// The source lives as long as the client, and refreshes by itself.
	return cfg.TokenSource(context.WithValue(a.tasks.ctx, oauth2.HTTPClient, a.client))
}

// tokenStyle is how the client shows its secret: in the way the authorization
// server says it takes, basic where it says nothing (RFC 8414).
func tokenStyle(methods []string) oauth2.AuthStyle {
	for _, m := range methods {
		switch m {
		case "client_secret_basic":
			return oauth2.AuthStyleInHeader
		case "client_secret_post":
			return oauth2.AuthStyleInParams
		}
	}
	return oauth2.AuthStyleInHeader
}

// tokenFault is a token that could not be had. What broke on the way to the
// authorization server may be tried again, what it refused may not.
func tokenFault(err error) *fault {
	f := &fault{class: ClassAuth, text: "get an access token", cause: err}
	var wrapped *url.Error
	var answer *oauth2.RetrieveError
	switch {
	case errors.As(err, &answer):
		f.again = answer.Response != nil && answer.Response.StatusCode >= 500
	case errors.As(err, &wrapped):
		f.cause = fmt.Errorf("the authorization server: %w", wrapped.Err) // without its URL
		f.again = !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	return f
}

// deniedByServer reports whether an authorization server turned a refresh down.
func deniedByServer(err error) bool {
	var answer *oauth2.RetrieveError
	return errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode < 500
}
