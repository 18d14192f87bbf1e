package docserver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverName is how the server calls itself.
const serverName = "mettle-docs"

// Options says how a [Server] presents itself.
type Options struct {
	Prefix  string   // before each tool's name, such as crypto_
	Token   string   // bearer token that HTTP requests must carry; "" for none
	Origins []string // further values of the Origin header that are let in
	Version string
	Now     func() time.Time

	BodyTime time.Duration // for a client to send a request's body; 0 for 30 s
}

// Check finds what is wrong with the options.
func (o *Options) Check() error {
	const longest = 64
	bad := strings.IndexFunc(o.Prefix, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	})
	switch {
	case bad >= 0:
		return fmt.Errorf("prefix %q: only letters, digits and any of _-. are allowed in the name of a tool", o.Prefix)
	case len(o.Prefix) > longest:
		return fmt.Errorf("prefix %q is longer than %d characters", o.Prefix, longest)
	}
	return nil
}

// Server answers MCP requests from an index, which can be replaced while it
// runs. It is safe for concurrent use.
type Server struct {
	opts Options
	mcp  *mcp.Server

	// mu is held for reading while a call uses the index, so that it is not
	// closed under it.
	mu    sync.RWMutex
	index *Index
}

// New makes a server that answers from ix, which it closes in the end.
func New(ix *Index, opts Options) *Server {
	s := &Server{opts: opts, index: ix}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: serverName, Title: "mettle documentation server", Version: opts.Version}, &mcp.ServerOptions{
		Instructions: "Full-text search over documentation pages. Answers quote the pages and cite them, nothing is made up; confidence 0 means that they have no answer.",
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.mcp.AddReceivingMiddleware(onlyTools)
	s.addTools()
	return s
}

// onlyTools refuses what the server does not announce. The SDK would answer for
// prompts and resources that there are none, and so claim to have them.
func onlyTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if strings.HasPrefix(method, "prompts/") || strings.HasPrefix(method, "resources/") {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", method)}
		}
		return next(ctx, method, req)
	}
}

// Replace answers from another index from now on, and closes the one before
// once the calls that use it are done.
func (s *Server) Replace(ix *Index) error {
	s.mu.Lock()
	old := s.index
	s.index = ix
	s.mu.Unlock()
	return old.Close()
}

// Close closes the index once the calls that use it are done. Calls that come
// later fail.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.Close()
}

// RunStdio serves one client that writes to in and reads from out, until it
// closes in or ctx ends.
func (s *Server) RunStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := s.mcp.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: keepOpen{out}, MaxLineLength: maxBody})
	if ctx.Err() == nil {
		return err
	}
	return nil // it was told to end
}

// keepOpen is a writer that is somebody else's to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
