package mcpclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// web is what the two HTTP transports share: a pool of connections, the
// headers of the Config, and the reading of what is not an answer.
type web struct {
	cfg    Config
	url    *url.URL
	header http.Header // of every request; never modified
	client *http.Client
	base   *http.Transport
	tasks  *tasks
	auth   *authorizer            // nil without OAuth
	moved  atomic.Pointer[string] // the other host that requests were redirected to
}

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"

	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

func newWeb(cfg Config, t *tasks) *web {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		u = &url.URL{} // check has refused it
	}
	dialer := &net.Dialer{Timeout: cfg.Timeouts.Connect, KeepAlive: 30 * time.Second}
	w := &web{cfg: cfg, url: u, tasks: t, header: http.Header{}}
	w.base = &http.Transport{
		Proxy:               cfg.Proxy,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        cfg.MaxConns,
		MaxIdleConnsPerHost: cfg.MaxConns,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
	w.client = &http.Client{Transport: w.base, CheckRedirect: w.checkRedirect}
	w.header.Set("User-Agent", strings.TrimSuffix(cfg.Name+"/"+cfg.Version, "/"))
	for name, values := range cfg.Headers {
		w.header[http.CanonicalHeaderKey(name)] = values
	}
	return w
}

// checkRedirect keeps the Config's headers and the address with its query from
// leaving the origin, and a POST from becoming a GET, which would fetch some
// page instead of an answer.
func (w *web) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("stopped after 10 redirects")
	}
	if req.Method != via[0].Method {
		return http.ErrUseLastResponse
	}
	req.Header.Del("Referer") // the address, which may hold a key
	if !sameOrigin(req.URL, w.url) {
		for name := range w.cfg.Headers {
			req.Header.Del(name)
		}
		req.Header.Del("Authorization")
		req.Header.Del(headerSession)
	}
	return nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

// do sends one request. header is used as it is and must not change any more.
func (w *web) do(ctx context.Context, method string, target *url.URL, header http.Header, body []byte) (*http.Response, *fault) {
	if w.auth != nil {
		var f *fault
		if header, f = w.auth.sign(header); f != nil {
			return nil, f
		}
	}
	req := &http.Request{
		Method: method, URL: target, Header: header, Host: header.Get("Host"),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		req.Body, _ = req.GetBody()
	}
	resp, err := w.client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, brokenFault(ctx, err)
	}
	if to := resp.Request.URL; !sameOrigin(to, target) {
		origin := to.Scheme + "://" + to.Host
		w.moved.Store(&origin)
	}
	if w.auth != nil && resp.StatusCode/100 == 2 {
		w.auth.accepted(header.Get("Authorization"))
	}
	return resp, nil
}

// brokenFault judges an error of a connection. The *url.Error around it goes,
// because its text quotes the URL with its query.
func brokenFault(ctx context.Context, err error) *fault {
	if ctx.Err() != nil {
		return ctxFault(ctx)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	f := &fault{class: ClassTransport, cause: err, again: true}
	var certificate *tls.CertificateVerificationError
	var dns *net.DNSError
	if errors.As(err, &certificate) || errors.As(err, &dns) && dns.IsNotFound {
		f.again = false // the next try would see the same
	}
	return f
}

// statusFault reads an answer whose status is not 2xx. id is that of the
// request, 0 for a notification; inSession says that it carried a session id.
func (w *web) statusFault(resp *http.Response, id int64, inSession bool) *fault {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	code := resp.StatusCode
	f := &fault{
		class: ClassTransport, status: code, retryAfter: retryAfter(resp.Header),
		body: string(body),
	}
	msg, _ := parseMessage(body)
	rpc := rpcAnswer(&msg)
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		f.class, f.challenge = ClassAuth, challengeOf(resp, w.url)
		if f.challenge != nil && f.challenge.used == "" && f.challenge.param("resource_metadata") != "" {
			f.text = "the server takes OAuth tokens"
		}
	case inSession && sessionGone(code, body, &msg):
		f.text, f.again, f.lost = "the session is gone", true, true
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests,
		code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		f.again = true
		f.paced = code == http.StatusTooManyRequests || f.retryAfter > 0
	case code >= 500:
		// An error for this very request is what is reported in the end. One
		// without its id comes from something in front of the tool.
		f.again = true
		if n, ok := msg.number(); rpc != nil && ok && n == id {
			f.class, f.rpc, f.again = ClassRPC, rpc, !rpc.final()
		}
	case code >= 400 && rpc != nil:
		f.class, f.rpc = ClassRPC, rpc
	case code >= 300 && code < 400:
		f.text = "the server redirects" + redirectTarget(resp)
	}
	return f
}

// rpcAnswer gives the JSON-RPC error that msg is, or nil.
func rpcAnswer(msg *message) *RPCError {
	if !msg.isResponse() || msg.err == nil {
		return nil
	}
	return errorFault(msg.err).rpc
}

// sessionGone reports whether the server has forgotten the session. The
// protocol says 404; in the wild a 400 that talks about sessions is as common.
func sessionGone(code int, body []byte, msg *message) bool {
	switch code {
	case http.StatusNotFound:
		// With the id of the request in it, it is about the request.
		return msg.anonymous()
	case http.StatusBadRequest:
		return msg.anonymous() && bytes.Contains(bytes.ToLower(body), []byte("session"))
	}
	return false
}

func redirectTarget(resp *http.Response) string {
	if u, err := resp.Location(); err == nil {
		return " to " + shown(u)
	}
	return ""
}

// readAll reads a body of at most limit bytes.
func readAll(ctx context.Context, resp *http.Response, limit int64) ([]byte, *fault) {
	if resp.ContentLength > limit {
		return nil, tooLargeFault(limit)
	}
	var body []byte
	var err error
	if n := resp.ContentLength; n >= 0 {
		body = make([]byte, min(n, 1<<20)) // more is believed when it is seen
		seen, broken := io.ReadFull(resp.Body, body)
		if err = broken; err == nil && int64(seen) < n {
			body = append(make([]byte, 0, n), body...)[:n]
			_, err = io.ReadFull(resp.Body, body[seen:])
		}
	} else {
		body, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	}
	switch {
	case err != nil:
		f := brokenFault(ctx, err)
		f.text = "the answer breaks off"
		return nil, f
	case int64(len(body)) > limit:
		return nil, tooLargeFault(limit)
	}
	return body, nil
}

// discard reads the rest of a body that does not matter, within reason, so
// that the connection can be used again.
func discard(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	resp.Body.Close()
}

// mediaType is the content type without its parameters.
func mediaType(h http.Header) string {
	value := h.Get("Content-Type")
	if value == typeJSON || value == typeStream {
		return value
	}
	if t, _, err := mime.ParseMediaType(value); err == nil {
		return t
	}
	return strings.ToLower(strings.TrimSpace(value))
}
