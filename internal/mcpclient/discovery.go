package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// A resource is what a server says about the tokens it takes.
type resource struct {
	id     string // what a token is asked for, by RFC 8707
	issuer string
	scopes []string
}

// errNoOAuth means that a server wants credentials but leads to no
// authorization server, which is how most that take API keys behave.
var errNoOAuth = errors.New("the server names no authorization server")

// discover finds the authorization server of an MCP server: by the metadata
// document that its challenge names, else by those at the well-known places,
// else (2025-03-26) at the server's own origin.
func discover(ctx context.Context, client *http.Client, server *url.URL, ch *challenge) (*resource, error) {
	var refused error
	for _, p := range metadataPlaces(server, ch.param("resource_metadata")) {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.url, p.resource, client)
		switch {
		case err != nil && p.named:
			refused = fmt.Errorf("read the server's resource metadata: %w", err)
		case err != nil:
			// Where it was only a guess, there is mostly nothing.
		case len(meta.AuthorizationServers) == 0:
			return nil, errors.New("the server's resource metadata names no authorization server")
		default:
			return &resource{id: meta.Resource, issuer: meta.AuthorizationServers[0], scopes: meta.ScopesSupported}, nil
		}
	}
	if refused != nil {
		return nil, refused
	}
	origin := &url.URL{Scheme: server.Scheme, Host: server.Host}
	if meta, err := auth.GetAuthServerMetadata(ctx, origin.String(), client); err == nil && meta != nil {
		return &resource{id: withoutUser(server), issuer: origin.String()}, nil
	}
	return nil, errNoOAuth
}

// A place is where metadata about a resource may be.
type place struct {
	url, resource string
	named         bool // by the server itself
}

func metadataPlaces(server *url.URL, named string) (places []place) {
	id := withoutUser(server)
	if named != "" {
		places = append(places, place{named, id, true})
	}
	at := func(path string) string {
		u := url.URL{Scheme: server.Scheme, Host: server.Host, Path: path, RawQuery: server.RawQuery}
		return u.String()
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	if path := strings.Trim(server.Path, "/"); path != "" {
		places = append(places, place{at(wellKnown + "/" + path), id, false})
	}
	origin := url.URL{Scheme: server.Scheme, Host: server.Host}
	return append(places, place{at(wellKnown), origin.String(), false})
}

func withoutUser(u *url.URL) string {
	v := *u
	v.User, v.Fragment = nil, ""
	return v.String()
}
