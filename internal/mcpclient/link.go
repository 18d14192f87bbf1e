package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The eras of the protocol, as [Info.Era] names them.
const (
	EraLegacy = "legacy" // initialize, sessions: up to 2025-11-25
	EraModern = "modern" // stateless: from 2026-07-28
)

const (
	firstModern = "2026-07-28"
	lastLegacy  = "2025-11-25"
)

func isModern(version string) bool { return version >= firstModern }

// A link is one connection with its handshake done.
type link struct {
	conn      conn
	session   *mcp.ClientSession
	hello     *mcp.InitializeResult
	transport string
	meta      []byte // the _meta that every modern request carries, nil before
}

// stop ends the link and what it started.
func (l *link) stop(politely bool) {
	l.conn.stop(politely)
	_ = l.session.Close() // its conn is gone already
}

// An opener makes a conn. Probe is how long server/discover may stay unanswered
// before the older handshake is tried; 0 is as long as it takes.
type opener func(ctx context.Context, probe time.Duration) (conn, *fault)

// given is the mcp.Transport that hands an existing conn to the SDK.
type given struct{ conn conn }

func (g given) Connect(context.Context) (mcp.Connection, error) { return g.conn, nil }

// connect makes a new link by the transport of the config. In auto mode what
// worked first is what later links use.
func (c *Client) connect(ctx context.Context) (*link, *fault) {
	if c.transport == TransportStdio {
		return c.negotiate(ctx, TransportStdio, c.openStdio)
	}
	ctx, cancel := c.tasks.bound(ctx, c.cfg.Timeouts.Connect)
	defer cancel()
	if c.transport == TransportSSE {
		return c.connectSSE(ctx)
	}
	l, f := c.negotiate(ctx, TransportStreamable, func(_ context.Context, probe time.Duration) (conn, *fault) {
		return openPost(c.web, probe), nil
	})
	if f == nil || c.transport != TransportAuto || !olderServer(f.status) {
		return l, f
	}
	l, sse := c.connectSSE(ctx)
	if sse == nil {
		return l, nil
	}
	f.text = "neither streamable HTTP nor HTTP+SSE is spoken here (the latter: " + sse.Error() + ")"
	return nil, f
}

// olderServer reports whether a POST was refused in a way that the server of
// an older transport refuses it.
func olderServer(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

func (c *Client) openStdio(_ context.Context, probe time.Duration) (conn, *fault) {
	c.stderr.reset()
	cn, err := openStdio(c.cfg, probe, c.greeting(), c.stderr, c.noise.add)
	if err != nil {
		return nil, &fault{class: ClassTransport, cause: err}
	}
	return cn, nil
}

// connectSSE offers a legacy version at once: the transport is older than
// server/discover.
func (c *Client) connectSSE(ctx context.Context) (*link, *fault) {
	version := c.cfg.Protocol
	if version == "" {
		version = lastLegacy
	}
	l, _, f := c.handshake(ctx, TransportSSE, version, 0, func(ctx context.Context, _ time.Duration) (conn, *fault) {
		var cn *sseConn
		_, f := retry(ctx, c.cfg.Retries, func() (f *fault) {
			cn, f = openSSE(ctx, c.web)
			return f
		})
		if f != nil {
			return nil, f
		}
		return cn, nil
	})
	return l, f
}

// negotiate finds the era of a server. A server of the legacy era may be
// silent when asked for server/discover, or exit. If it is silent, the older
// handshake follows on the same connection; a process that has ended is replaced
// by a fresh one. A process that runs is never ended before its time is over: it
// may be in the middle of its installation.
func (c *Client) negotiate(ctx context.Context, transport string, open opener) (*link, *fault) {
	if c.offer != "" {
		l, _, f := c.handshake(ctx, transport, c.offer, 0, open)
		return l, f
	}
	l, probe, f := c.handshake(ctx, transport, "", c.cfg.Timeouts.Probe, open)
	if f == nil || probe == probeNone || probe == probeAnswered || ctx.Err() != nil {
		return l, f
	}
	if transport == TransportStdio && f.class == ClassTimeout {
		f.text += "; for a server that hangs on methods it does not know, set protocol: \"" + lastLegacy + "\""
		return nil, f
	}
	if transport == TransportStdio && probe == probeAsked {
		l, _, f = c.handshake(ctx, transport, lastLegacy, 0, open)
	}
	if f != nil && (f.rpc != nil || f.class == ClassProtocol) && probe == probeSilent {
		// It answers, but does not know the old handshake: a modern server
		// that was merely slow to start.
		l, _, f = c.handshake(ctx, transport, "", 0, open)
	}
	return l, f
}

// handshake opens a conn and has the SDK agree with the server on a version;
// "" offers the newest.
func (c *Client) handshake(ctx context.Context, transport, version string, probe time.Duration, open opener) (*link, probeState, *fault) {
	cn, f := open(ctx, probe)
	if f != nil {
		return nil, probeNone, f
	}
	if process, ok := cn.(*stdioConn); ok {
		var cancel context.CancelFunc
		ctx, cancel = c.boundStart(ctx, process.heard)
		defer cancel()
	}
	session, err := c.sdk.Connect(ctx, given{cn}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		f := *connectFault(ctx, cn, err)
		cn.stop(false)
		if transport == TransportStdio && f.body == "" {
			// A question on stderr is what a start most often waits for.
			f.body = c.stderr.lastLine()
		}
		return nil, cn.probed(), &f
	}
	l := &link{conn: cn, session: session, hello: session.InitializeResult(), transport: transport}
	agreed := l.hello.ProtocolVersion
	if pin := c.cfg.Protocol; pin != "" && pin != agreed {
		l.stop(true)
		return nil, cn.probed(), protocolFault("the server agrees on version %s, but %s is pinned", agreed, pin)
	}
	cn.agreed(agreed)
	if isModern(agreed) {
		l.meta = c.requestMeta(agreed)
	}
	return l, cn.probed(), nil
}

// boundStart gives a process Timeouts.Start until heard, when it answers for the
// first time, and Timeouts.Connect from then on.
func (c *Client) boundStart(ctx context.Context, heard <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.tasks.ctx, func() { cancel(errClosed) })
	over := make(chan struct{})
	go func() {
		defer close(over)
		for late := (&lateError{"start", c.cfg.Timeouts.Start}); ; {
			timer := time.NewTimer(late.limit)
			select {
			case <-heard:
				heard, late = nil, &lateError{"connect", c.cfg.Timeouts.Connect}
			case <-timer.C:
				cancel(late)
				return
			case <-ctx.Done():
				timer.Stop()
				return
			}
			timer.Stop()
		}
	}()
	return ctx, func() {
		stop()
		cancel(nil)
		<-over
	}
}

// connectFault finds what really ended a handshake. What is neither a fault of
// the conn nor an error of the server is the SDK's complaint about what the
// server said.
func connectFault(ctx context.Context, cn conn, err error) *fault {
	var f *fault
	var wire *jsonrpc.Error
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		return ctxFault(ctx)
	case cn.ended() != nil:
		return cn.ended()
	case errors.As(err, &wire):
		return &fault{class: ClassRPC, rpc: &RPCError{Code: wire.Code, Message: wire.Message, Data: wire.Data}}
	}
	return &fault{class: ClassProtocol, text: "the handshake was not understood", cause: err}
}

// greeting is the request that opens a session of the legacy era.
func (c *Client) greeting() []byte {
	params, err := json.Marshal(map[string]any{
		"protocolVersion": lastLegacy, "capabilities": c.cfg.Elicit.capabilities(),
		"clientInfo": map[string]string{"name": c.cfg.Name, "version": c.cfg.Version},
	})
	if err != nil {
		return nil // strings and an object always marshal
	}
	return (&request{id: firstID, method: methodInitialize, params: params}).body()
}

// requestMeta is what a modern server wants to know with every request.
func (c *Client) requestMeta(version string) []byte {
	meta, err := json.Marshal(map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientInfo:         map[string]string{"name": c.cfg.Name, "version": c.cfg.Version},
		mcp.MetaKeyClientCapabilities: c.cfg.Elicit.capabilities(),
	})
	if err != nil {
		return nil // two strings and an empty object always marshal
	}
	return meta
}

// metaVersion reads the version a modern request of the SDK carries.
func metaVersion(params []byte) (version string) {
	fields(params, func(key string, value []byte) {
		if key != "_meta" {
			return
		}
		fields(value, func(key string, value []byte) {
			if key == mcp.MetaKeyProtocolVersion {
				version = unquote(value)
			}
		})
	})
	return version
}

// resultVersion reads the version out of the result of initialize.
func resultVersion(result []byte) (version string) {
	fields(result, func(key string, value []byte) {
		if key == "protocolVersion" {
			version = unquote(value)
		}
	})
	return version
}
