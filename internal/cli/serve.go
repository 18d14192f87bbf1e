package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/docserver"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
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
		Short: "Serve Markdown pages as an MCP documentation server",
		Long: "Indexes Markdown pages and answers questions about them over MCP, by full-text\n" +
			"retrieval: the best passages with their sources, nothing made up. Without --docs the\n" +
			"pages that mettle carries are served.\n\n" +
			"A page may start with front matter that gives its title, url and project; without it\n" +
			"the first heading, the path and the topmost folder stand in.\n\n" +
			"Over HTTP the server is at /mcp, its state at /health, on this machine only unless\n" +
			"--addr says otherwise. Set METTLE_TOKEN to have clients send it as a bearer token.",
		Example: "  mettle serve\n  mettle serve --docs ./docs --prefix my_ --watch\n  mettle serve --docs ./docs --stdio",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&o.docs, "docs", "", "folder of Markdown pages (default: those mettle carries)")
	f.StringVar(&o.addr, "addr", "127.0.0.1:3000", "address to listen on; port 0 takes a free one")
	f.StringVar(&o.prefix, "prefix", "", "put before each tool's name (default "+session.BuiltinToolPrefix+" for the built-in pages)")
	f.BoolVar(&o.stdio, "stdio", false, "speak on standard input and output instead of HTTP")
	f.BoolVar(&o.watch, "watch", false, "index the pages again when they change")
	f.StringArrayVar(&o.origins, "origin", nil, "site whose pages in a browser may ask, such as https://example.org; repeat for more")
	withEnvironment(w, cmd, func(cmd *cobra.Command, _ []string) error {
		if o.docs == "" && !cmd.Flags().Changed("prefix") {
			o.prefix = session.BuiltinToolPrefix
		}
		if o.stdio && cmd.Flags().Changed("addr") {
			return usagef("--stdio and --addr cannot be used together")
		}
		return runServe(cmd.Context(), w, o)
	})
	return cmd
}

func runServe(ctx context.Context, w *World, o *serveOptions) (err error) {
	opts := docserver.Options{
		Prefix: o.prefix, Token: w.Getenv("METTLE_TOKEN"), Origins: o.origins, Version: version.Version, Now: w.Now,
	}
	if err := opts.Check(); err != nil {
		return &usageError{Err: err}
	}
	pages, closePages, err := o.pages(w)
	if err != nil {
		return err
	}
	defer closePages()
	ix, err := loadPages(ctx, w, pages)
	switch {
	case ctx.Err() != nil:
		return nil // asked to stop before it began
	case err != nil:
		return err
	case len(ix.Projects()) == 0:
		return errors.Join(usagef("there are no Markdown pages (.md, .mdx or .markdown) in %s", o.docs), ix.Close())
	}
	projects := ix.Projects() // the index is the server's from here on
	srv := docserver.New(ix, opts)
	defer func() { err = errors.Join(err, srv.Close()) }()
	if o.watch {
		stop := watchPages(ctx, w, srv, pages)
		defer stop()
	}
	if o.stdio {
		w.printf("serving %s on standard input and output\n", projectText(projects))
		return srv.RunStdio(ctx, w.Stdin, term.Unguarded(w.Stdout))
	}
	return serveHTTP(ctx, w, o.addr, srv, projects)
}

// pages opens the folder to serve. Nothing outside of it can be reached
// through it, whatever links there are.
func (o *serveOptions) pages(w *World) (pages fs.FS, closePages func(), err error) {
	if o.docs == "" {
		if o.watch {
			return nil, nil, usagef("--watch needs --docs: the built-in pages do not change")
		}
		return builtin.Docs, func() {}, nil
	}
	root, err := os.OpenRoot(w.abs(o.docs))
	if err != nil {
		return nil, nil, usagef("--docs: %w", err)
	}
	return root.FS(), func() { _ = root.Close() }, nil
}

func loadPages(ctx context.Context, w *World, pages fs.FS) (*docserver.Index, error) {
	ix, skipped, err := docserver.Load(ctx, pages)
	reportSkipped(w, skipped)
	return ix, err
}

func reportSkipped(w *World, skipped []string) {
	for _, s := range skipped {
		w.printf("left out: %s\n", s)
	}
}

// watchPages indexes the pages again when they change, until stop is called.
func watchPages(ctx context.Context, w *World, srv *docserver.Server, pages fs.FS) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Watch(ctx, pages, time.Second, func(skipped []string, err error) {
			reportSkipped(w, skipped)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				w.printf("the pages changed but cannot be indexed, the ones before are served on: %v\n", err)
			default:
				w.printf("the pages changed and were indexed again\n")
			}
		})
	}()
	return func() {
		cancel()
		<-done
	}
}

func serveHTTP(ctx context.Context, w *World, addr string, srv *docserver.Server, projects []docserver.Project) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w; if another program is there, choose another port with --addr, or a free one with --addr 127.0.0.1:0", err)
	}
	host := l.Addr().(*net.TCPAddr)
	if !host.IP.IsLoopback() && w.Getenv("METTLE_TOKEN") == "" {
		w.printf("note: whoever reaches this machine can ask; set METTLE_TOKEN to have clients send a token\n")
	}
	w.printf("serving %s at %s (stop with Ctrl-C)\n", projectText(projects), docserver.URL(host))
	return srv.Serve(ctx, l)
}

// projectText says in a line what is served.
func projectText(projects []docserver.Project) string {
	const shown = 8
	var names []string
	pages := 0
	for i, p := range projects {
		pages += p.Pages
		switch {
		case i < shown:
			names = append(names, p.Name)
		case i == shown:
			names = append(names, "…")
		}
	}
	noun := "pages"
	if pages == 1 {
		noun = "page"
	}
	return fmt.Sprintf("%d %s about %s", pages, noun, strings.Join(names, ", "))
}
