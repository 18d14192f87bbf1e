package target

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// OAuth lets mettle get access tokens for itself, by the client credentials
// grant: nobody is there to log in when a suite runs in CI.
type OAuth struct {
	ClientID     string   `yaml:"clientId" json:"clientId,omitempty" jsonschema:"id of the client at the authorization server" check:"required,min=1"`
	ClientSecret string   `yaml:"clientSecret" json:"clientSecret,omitempty" jsonschema:"secret of the client, best as ${NAME}" check:"required,min=1"`
	Issuer       string   `yaml:"issuer" json:"issuer,omitempty" jsonschema:"address of the authorization server; with it, a server that names another one is not trusted with the secret"`
	TokenURL     string   `yaml:"tokenUrl" json:"tokenUrl,omitempty" jsonschema:"token endpoint; without it, what the server says about itself leads there"`
	Scopes       []string `yaml:"scopes" json:"scopes,omitempty" jsonschema:"scopes to ask for instead of those the server names"`
}

func (o *OAuth) given() bool { return o.ClientID != "" }

// checkOAuth finds settings that make OAuth pointless.
func (m *MCP) checkOAuth() error {
	if !m.OAuth.given() {
		return nil
	}
	switch {
	case m.URL == "":
		return &kind.FieldError{Field: "oauth", Err: errors.New("oauth needs a url: a command takes its secrets from the environment")}
	case m.Token != "":
		return &kind.FieldError{Field: "oauth", Err: errors.New("the mcp target has both a token and oauth")}
	}
	for field, address := range map[string]string{"tokenUrl": m.OAuth.TokenURL, "issuer": m.OAuth.Issuer} {
		if address == "" || strings.Contains(address, "${") {
			continue
		}
		if _, err := Endpoint(address); err != nil {
			return &kind.FieldError{Field: "oauth", Err: fmt.Errorf("oauth.%s is not an http or https address", field)}
		}
	}
	for name := range m.Headers {
		if strings.EqualFold(name, "Authorization") {
			return &kind.FieldError{Field: "oauth", Err: errors.New("the mcp target has both an Authorization header and oauth")}
		}
	}
	return nil
}

func (o *OAuth) expand(e *expander) {
	o.ClientID, o.ClientSecret = e.text(o.ClientID), e.text(o.ClientSecret)
	o.Issuer, o.TokenURL = e.text(o.Issuer), e.text(o.TokenURL)
}

// client gives the settings as the client has them, nil without any.
func (o *OAuth) client() *mcpclient.OAuth {
	if !o.given() {
		return nil
	}
	return &mcpclient.OAuth{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, Issuer: o.Issuer, TokenURL: o.TokenURL, Scopes: o.Scopes,
	}
}

// elicit is how questions of a server are answered.
func (m *MCP) elicit() mcpclient.Elicit {
	if m.Elicitation != "accept" {
		return nil
	}
	return func(context.Context, mcpclient.Question) (map[string]any, bool) { return nil, true }
}
