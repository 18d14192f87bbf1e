package docserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody is the size, in bytes, over which no request is read.
const maxBody = 1 << 20

// grace is how long requests that are being answered may take when the server
// stops.
const grace = 2 * time.Second

// Serve answers HTTP requests on l until ctx ends. Then streams end, and calls
// that are being answered are given a moment.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler:           endStreams(ctx, s.Handler()),
		ReadHeaderTimeout: 10 * time.Second, // that of bodies is the handler's, since one here would cut streams
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if h.Shutdown(ctx) != nil {
			_ = h.Close()
		}
	})
	err := h.Serve(l)
	if stop() { // it ended by itself
		return err
	}
	<-stopped
	return nil
}

// endStreams ends the streams on which clients listen for changes when ctx
// ends: they would go on for ever. Other requests are left alone.
func endStreams(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			stream, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			r = r.WithContext(stream)
		}
		next.ServeHTTP(w, r)
	})
}

// Handler serves /mcp and /health.
//
// Browsers are kept from reaching it on behalf of other sites: by the Origin
// header, and on a loopback address by the Host header too, which tells a name
// that was made to point here.
func (s *Server) Handler() http.Handler {
	stream := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.Handle("/mcp", s.authorized(whole(acceptAll(stream))))
	return s.inTime(s.sameOrigin(mux))
}

// bodyTime is how long a client may take to send the body of a request.
const bodyTime = 30 * time.Second

// inTime bounds the time for the body of a request, read or not.
func (s *Server) inTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			deadline := now().Add(cmp.Or(s.opts.BodyTime, bodyTime))
			_ = http.NewResponseController(w).SetReadDeadline(deadline) // fails in tests without a connection
		}
		next.ServeHTTP(w, r)
	})
}

// now is the clock of connections.
var now = time.Now //nolint:forbidigo // deadlines of connections are those of the machine

// whole reads the body before it is looked at, and lifts the limit that
// [Server.inTime] has set: the answer may be a stream.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			var large *http.MaxBytesError
			switch {
			case errors.As(err, &large):
				http.Error(w, fmt.Sprintf("the body is larger than %d bytes", maxBody), http.StatusRequestEntityTooLarge)
				return
			case err != nil:
				w.Header().Set("Connection", "close")
				http.Error(w, "the body did not come in time, or broke off", http.StatusRequestTimeout)
				return
			}
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	status := map[string]any{"status": "ok", "server": serverName, "version": s.opts.Version}
	if s.mayAsk(r) {
		s.mu.RLock()
		status["projects"] = s.index.names()
		s.mu.RUnlock()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(status) // the client is gone if this fails
}

// acceptAll lets clients in that do not say, or not fully, which content types
// they take: the answer is JSON, which all of them do.
func acceptAll(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept := strings.Join(r.Header.Values("Accept"), ",")
		if accept == "" || strings.Contains(accept, "*/*") || strings.Contains(accept, "application/json") {
			r.Header.Set("Accept", "application/json, text/event-stream")
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.mayAsk(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+serverName+`"`)
			http.Error(w, "send the server's token as Authorization: Bearer …", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mayAsk tells whether a request has the token, if there is one.
func (s *Server) mayAsk(r *http.Request) bool {
	if s.opts.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	same := subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(s.opts.Token)) == 1
	return strings.EqualFold(scheme, "Bearer") && same
}

// sameOrigin refuses what a browser sends for another site, and answers what it
// asks before it sends something for one that is let in.
func (s *Server) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hostFits(r) {
			http.Error(w, "the Host header names another machine", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !s.knownOrigin(origin) {
				http.Error(w, "this origin is not let in; mettle serve --origin lets it in", http.StatusForbidden)
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Add("Vary", "Origin")
			if r.Method == http.MethodOptions {
				w.Header().Set("Access-Control-Allow-Methods", "POST, GET")
				w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hostFits tells whether a request that came in on a loopback address was
// meant for one.
func hostFits(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	host, _, err := net.SplitHostPort(local.String())
	return err != nil || !isLoopback(host) || isLoopback(hostname(r.Host))
}

// hostname is the host of a Host header, whether it has a port or not.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		return h
	}
	return strings.Trim(host, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func (s *Server) knownOrigin(origin string) bool {
	if slices.Contains(s.opts.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLoopback(u.Hostname())
}

// URL is the address of a server that listens at a, as a client on this machine
// can use it.
func URL(a *net.TCPAddr) string {
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = "localhost"
	}
	return fmt.Sprintf("http://%s/mcp", net.JoinHostPort(host, fmt.Sprint(a.Port)))
}
