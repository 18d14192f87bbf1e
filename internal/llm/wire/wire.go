// Package wire is what the clients of all vendors share: the HTTP underneath.
//
// A vendor's SDK writes the request and reads the reply. What lies between is
// done here, the same for everybody, by an [Exchange] that the SDK is given as
// its middleware: it follows no redirect, bounds and times the body, reads the
// vendor's own words out of an error in any of the forms servers use, and makes
// them an [llm.Error] without the key in it.
package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// MaxBody is the longest body that is read.
const MaxBody = 32 << 20

// Timeout is how long one call may take when nobody says otherwise.
const Timeout = 10 * time.Minute

var now = time.Now //nolint:forbidigo // the only clock of the package: the latency of a call, replaced in tests

// Client gives the HTTP client for calls with a key: a copy of base that
// follows no redirects, because net/http would carry headers such as X-Api-Key
// to any host. With base nil it makes one whose idle connections are kept for
// as many calls as run side by side.
func Client(base *http.Client) *http.Client {
	client := &http.Client{}
	if base != nil {
		*client = *base
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConns, t.MaxIdleConnsPerHost = 512, 256
		client.Transport = t
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Jar = nil
	return client
}

// BaseURL checks the address of an endpoint. It never shows what it turns
// down beyond the host: a password may be in it.
func BaseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, errors.New("the base URL is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the base URL must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, fmt.Errorf("the base URL of %s holds a user or password; keys are read from the environment", u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("the base URL of %s holds a query or fragment, which requests would not keep", u.Host)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// CheckKey tells whether a header can carry a key.
func CheckKey(key string) error {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return errors.New("the key holds a character that no header can carry, such as a space or a line break")
		}
	}
	return nil
}
