package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/docserver"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/version"
)

type serveOptions struct {
	docs    string
	addr    string
	prefix  string
	stdio   bool
	watch   bool
	origins []string
}

func newServeCmd(w *World) *cobra.Command {
	o := new(serveOptions)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a folder of Markdown pages as an MCP documentation server",
		Long: "Indexes Markdown pages and answers questions about them over MCP, by full-text\n" +
			"retrieval: the best passages with their sources, nothing made up. Without --docs the\n" +
			"pages that mettle carries are served. Set METTLE_TOKEN to ask for a bearer token.",
		Example: "  mettle serve\n  mettle serve --docs ./docs --prefix my_ --watch\n  mettle serve --docs ./docs --stdio",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.docs, "docs", "", "folder of Markdown pages (default: those mettle carries)")
	f.StringVar(&o.addr, "addr", "127.0.0.1:3000", "address to listen on")
	f.StringVar(&o.prefix, "prefix", "", "put before each tool's name (default crypto_ for the built-in pages)")
	f.BoolVar(&o.stdio, "stdio", false, "speak on standard input and output instead of HTTP")
	f.BoolVar(&o.watch, "watch", false, "index the pages again when they change")
	f.StringArrayVar(&o.origins, "origin", nil, "further Origin header to let in; repeat for more")
	withEnvironment(w, cmd, func(cmd *cobra.Command, _ []string) error {
		if o.docs == "" && !cmd.Flags().Changed("prefix") {
			o.prefix = builtinToolPrefix
		}
		return runServe(cmd.Context(), w, o)
	})
	return cmd
}

// builtinToolPrefix is what the tools of the built-in server start with.
const builtinToolPrefix = "crypto_"

func runServe(ctx context.Context, w *World, o *serveOptions) error {
	pages := builtin.Docs
	if o.docs != "" {
		dir := w.abs(o.docs)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usagef("--docs %s is not a folder", o.docs)
		}
		pages = os.DirFS(dir)
	} else if o.watch {
		return usagef("--watch needs --docs: the built-in pages do not change")
	}
	ix, skipped, err := docserver.Load(pages)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		w.printf("left out: %s\n", s)
	}
	if len(ix.Projects()) == 0 {
		return usagef("there are no Markdown pages in %s", o.docs)
	}
	srv := docserver.New(ix, docserver.Options{
		Prefix: o.prefix, Token: w.Getenv("METTLE_TOKEN"), Version: version.Version, Now: w.Now, Origins: o.origins,
	})
	if o.watch {
		go docserver.Watch(ctx, pages, time.Second, func(ix *docserver.Index, err error) {
			if err != nil {
				w.printf("the pages changed but cannot be indexed: %v\n", err)
				return
			}
			srv.Replace(ix)
			w.printf("the pages changed and were indexed again\n")
		})
	}
	if o.stdio {
		err := srv.RunStdio(ctx, &mcp.IOTransport{Reader: io.NopCloser(w.Stdin), Writer: nopCloser{w.Stdout}})
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return serveHTTP(ctx, w, o, srv, ix)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func serveHTTP(ctx context.Context, w *World, o *serveOptions, srv *docserver.Server, ix *docserver.Index) error {
	l, err := net.Listen("tcp", o.addr)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	h := &http.Server{Handler: srv.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	w.printf("serving %v on http://%s/mcp (health: /health)\n", ix.Projects(), l.Addr())
	if !l.Addr().(*net.TCPAddr).IP.IsLoopback() && w.Getenv("METTLE_TOKEN") == "" {
		w.printf("note: anyone who reaches this address can ask; set METTLE_TOKEN to ask for a token\n")
	}
	context.AfterFunc(ctx, func() { _ = h.Shutdown(context.WithoutCancel(ctx)) })
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// builtinServer is the documentation server that the binary carries, in this
// process on a loopback port, as a target: cases reach it through real HTTP.
type builtinServer struct {
	target.MCP
	http *http.Server
}

func startBuiltin(o *runOptions) (eval.Target, error) {
	ix, _, err := docserver.Load(fs.FS(builtin.Docs))
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the built-in server: %w", err)
	}
	srv := docserver.New(ix, docserver.Options{Prefix: builtinToolPrefix, Version: version.Version, Now: time.Now})
	b := &builtinServer{http: &http.Server{Handler: srv.Handler(), ReadHeaderTimeout: 10 * time.Second}}
	go func() { _ = b.http.Serve(l) }()
	b.URL = "http://" + l.Addr().String() + "/mcp"
	b.Tools.Prefix, b.Connections, b.Version = builtinToolPrefix, o.Concurrency, version.Version
	return b, nil
}

// Close ends the session, then the server.
func (b *builtinServer) Close() error { return errors.Join(b.MCP.Close(), b.http.Close()) }
