package mcpclient

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/secret"
)

// The values of [Config.Transport].
const (
	TransportAuto       = "auto"
	TransportStreamable = "streamable"
	TransportSSE        = "sse"
	TransportStdio      = "stdio"
)

// Versions lists the protocol versions that can be insisted on.
func Versions() []string { return mcp.SupportedProtocolVersions() }

// Config says how to reach one server. Either URL or Command is set.
type Config struct {
	// URL is the http(s) endpoint.
	URL string
	// Command starts a server that talks over its standard streams.
	Command []string
	// Dir is the working directory of the process.
	Dir string
	// Env is the complete environment of the process; nothing is inherited.
	Env []string
	// Headers go with every request to the origin of URL, and to no other.
	Headers http.Header
	// Transport is one of the Transport constants; "" means auto.
	Transport string
	// Protocol pins the protocol version: a server that agrees on another one
	// is refused. "" negotiates.
	Protocol string
	// LenientNotifications takes a 4xx or 5xx answer to a notification as
	// accepted. Some servers reject notifications/initialized and work.
	LenientNotifications bool
	// Timeouts has a default for each zero field.
	Timeouts Timeouts
	// Retries is how often something that broke on the way is tried again.
	// 0 means 8 times, a negative number means never. Where a server asks for
	// patience (429, or Retry-After) only the deadline counts.
	Retries int
	// MaxMessage is the largest answer taken, in bytes; 0 means 16 MiB.
	MaxMessage int64
	// MaxConns is how many idle HTTP connections are kept, so that as many
	// parallel calls find one; 0 means 64. It does not limit parallel calls.
	MaxConns int
	// Proxy chooses a proxy for a request; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// OAuth gets access tokens where the server asks for them; nil does not.
	OAuth *OAuth
	// Elicit answers what a server asks the user in the middle of a call; nil
	// tells servers that there is nobody to ask.
	Elicit Elicit
	// Secrets are removed from everything the server says. The credentials of
	// the Config, and those that a session learns, are added to them. nil
	// stands for these alone.
	Secrets *secret.Redactor
	// Name and Version tell the server who is calling.
	Name, Version string
}

// Timeouts bounds each phase of a session; the context of a call bounds it too.
type Timeouts struct {
	// Start covers a process from its start to its first answer. The default is
	// Connect if that is set, else 60 s, because npx may have to download the
	// server first.
	Start time.Duration
	// Connect covers the handshake: over HTTP all of it, with a process what
	// follows its first answer (30 s).
	Connect time.Duration
	// Probe is how long a server may be silent to server/discover before the
	// handshake of the legacy era is tried as well (5 s).
	Probe time.Duration
	// List covers all pages of tools/list (30 s).
	List time.Duration
	// Call covers one call with its retries and waits (60 s).
	Call time.Duration
	// Close covers the end of the session; after half of it a process gets
	// SIGTERM, after all of it SIGKILL (2 s).
	Close time.Duration
}

const (
	// defaultRetries makes a call fail once in 25 million where 15 % of the
	// requests break (0.15^9). With 4 it would be one in 13,000, which a long
	// run would see.
	defaultRetries    = 8
	defaultMaxMessage = 16 << 20
	defaultMaxConns   = 64
)

func (t Timeouts) withDefaults() Timeouts {
	set := func(d *time.Duration, def time.Duration) {
		if *d <= 0 {
			*d = def
		}
	}
	set(&t.Start, cmp.Or(max(t.Connect, 0), 60*time.Second))
	set(&t.Connect, 30*time.Second)
	set(&t.Probe, 5*time.Second)
	set(&t.List, 30*time.Second)
	set(&t.Call, 60*time.Second)
	set(&t.Close, 2*time.Second)
	return t
}

func (cfg Config) withDefaults() Config {
	cfg.Timeouts = cfg.Timeouts.withDefaults()
	cfg.Headers = cfg.Headers.Clone()
	switch {
	case cfg.Retries == 0:
		cfg.Retries = defaultRetries
	case cfg.Retries < 0:
		cfg.Retries = 0
	}
	if cfg.MaxMessage <= 0 {
		cfg.MaxMessage = defaultMaxMessage
	}
	if cfg.MaxConns <= 0 {
		cfg.MaxConns = defaultMaxConns
	}
	if cfg.Name == "" {
		cfg.Name = "mcpclient"
	}
	if cfg.Transport == "" {
		cfg.Transport = TransportAuto
	}
	if cfg.Transport == TransportAuto && len(cfg.Command) > 0 {
		cfg.Transport = TransportStdio
	}
	return cfg
}

// check finds every contradiction that needs no network. It expects defaults
// to be applied and never quotes the URL, which may hold a token.
func (cfg Config) check() error {
	var errs []error
	switch {
	case cfg.URL == "" && len(cfg.Command) == 0:
		errs = append(errs, errors.New("neither a URL nor a command is given"))
	case cfg.URL != "" && len(cfg.Command) > 0:
		errs = append(errs, errors.New("both a URL and a command are given"))
	case cfg.URL != "":
		errs = append(errs, checkURL(cfg.URL))
	case cfg.Command[0] == "":
		errs = append(errs, errors.New("the command is empty"))
	}
	transports := []string{TransportAuto, TransportStreamable, TransportSSE, TransportStdio}
	if !slices.Contains(transports, cfg.Transport) {
		errs = append(errs, fmt.Errorf("unknown transport %q, want one of %s", cfg.Transport, strings.Join(transports, ", ")))
	} else if (cfg.Transport == TransportStdio) != (len(cfg.Command) > 0) {
		errs = append(errs, fmt.Errorf("transport %s does not fit the target: stdio needs a command, the others a URL", cfg.Transport))
	}
	if versions := mcp.SupportedProtocolVersions(); cfg.Protocol != "" && !slices.Contains(versions, cfg.Protocol) {
		errs = append(errs, fmt.Errorf("unknown protocol version %q, want one of %s", cfg.Protocol, strings.Join(versions, ", ")))
	}
	if cfg.OAuth != nil {
		errs = append(errs, cfg.OAuth.check())
	}
	return errors.Join(errs...)
}

func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("the URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL does not start with http:// or https://")
	case u.Host == "":
		return errors.New("the URL has no host")
	}
	return nil
}
