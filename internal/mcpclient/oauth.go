package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// OAuth says how to get an access token from the authorization server that an
// MCP server names when it answers 401, or 403 for want of a scope.
//
// Credentials in the [Config] (an Authorization header, a user in the URL) go
// before it. And a 401 that leads to no authorization server stays a 401:
// nothing is guessed.
type OAuth struct {
	// ClientID and ClientSecret are those of a client that is registered with
	// the authorization server.
	ClientID, ClientSecret string
	// Issuer is the authorization server that knows them. With it, a server
	// that names another one does not get to see the secret.
	Issuer string
	// ClientDocument is the https address of a client id metadata document. It
	// is used instead of ClientID where the authorization server knows how.
	ClientDocument string
	// Register lets the client register itself where there is no other way.
	Register bool
	// Scopes are asked for instead of those that the server names.
	Scopes []string

	// TokenURL is the token endpoint for the client credentials grant. With it
	// nothing is discovered, and the token is there with the first request.
	TokenURL string

	// Authorize takes a person to an address and waits until the authorization
	// server has sent them back to RedirectURL. Without it the client acts for
	// itself, by the client credentials grant.
	Authorize   func(ctx context.Context, address string) (Redirect, error)
	RedirectURL string
	// DefaultEndpoints lets /authorize, /token and /register of the server be
	// tried where it describes none, as 2025-03-26 had it.
	DefaultEndpoints bool

	// Timeout bounds one authorization, the person's part in it included. The
	// default is 5 minutes with Authorize, 30 s without.
	Timeout time.Duration
}

// Redirect is what an authorization server sends a person back with: the
// parameters code, state and iss.
type Redirect struct{ Code, State, Issuer string }

func (o *OAuth) timeout() time.Duration {
	switch {
	case o.Timeout > 0:
		return o.Timeout
	case o.Authorize != nil:
		return 5 * time.Minute
	}
	return 30 * time.Second
}

// check finds what is missing for either grant.
func (o *OAuth) check() error {
	switch {
	case o.Authorize == nil && (o.ClientID == "" || o.ClientSecret == ""):
		return errors.New("oauth: the client credentials grant needs a client id and a client secret")
	case o.Authorize != nil && o.TokenURL != "":
		return errors.New("oauth: a token URL is for the client credentials grant, which asks nobody")
	case o.Authorize != nil && o.RedirectURL == "":
		return errors.New("oauth: a person cannot come back without a redirect URL")
	case o.Authorize != nil && o.ClientID == "" && o.ClientDocument == "" && !o.Register:
		return errors.New("oauth: neither a client id nor a client document is given, and registration is off")
	}
	if o.TokenURL != "" {
		if err := checkURL(o.TokenURL); err != nil {
			return fmt.Errorf("oauth: token endpoint: %w", err)
		}
	}
	return nil
}
