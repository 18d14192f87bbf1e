package mcpclient

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// A challenge is a 401 or 403 of the server's origin, as far as it matters for
// getting a token.
type challenge struct {
	status int
	header []string            // WWW-Authenticate as it came
	parsed []oauthex.Challenge // nil where it makes no sense
	used   string              // the Authorization header that was refused
}

// challengeOf reads the challenge of a response, nil if it is none. One of
// another origin, where a redirect led, is not ours to answer.
func challengeOf(resp *http.Response, server *url.URL) *challenge {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil
	}
	if resp.Request == nil || !sameOrigin(resp.Request.URL, server) {
		return nil
	}
	ch := &challenge{
		status: resp.StatusCode, header: resp.Header.Values("WWW-Authenticate"),
		used: resp.Request.Header.Get("Authorization"),
	}
	// A header that cannot be read says nothing; the status still does.
	ch.parsed, _ = oauthex.ParseWWWAuthenticate(ch.header)
	return ch
}

// param gives a parameter of the bearer challenge.
func (ch *challenge) param(name string) string {
	for _, c := range ch.parsed {
		if c.Scheme == "bearer" && c.Params[name] != "" {
			return c.Params[name]
		}
	}
	return ""
}

func (ch *challenge) scopes() []string { return strings.Fields(ch.param("scope")) }

// wantsScope reports whether the token is good but allows too little.
func (ch *challenge) wantsScope() bool {
	return ch.status == http.StatusForbidden && ch.param("error") == "insufficient_scope"
}

// union joins lists of scopes, in order of appearance.
func union(lists ...[]string) (out []string) {
	for _, list := range lists {
		for _, s := range list {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}
