package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/builtin"
	"github.com/mettle-eval/mettle/internal/docserver"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/version"
)

// builtinPrefix marks the paths of suites in the binary.
const builtinPrefix = "builtin:"

// BuiltinSuites lists the suites in the binary by the name they have on the
// command line, with their paths. Those about skills have no folder in theirs.
func BuiltinSuites() (names []string, paths map[string]string) {
	paths = map[string]string{}
	_ = fs.WalkDir(builtin.Suites, ".", func(path string, d fs.DirEntry, err error) error {
		if name, ok := strings.CutSuffix(path, ".yaml"); ok && err == nil && !d.IsDir() {
			name = strings.TrimPrefix(name, "skills/")
			names = append(names, name)
			paths[name] = path
		}
		return nil
	})
	return names, paths
}

// builtinFiles reads the built-in suite with a name, or all below it.
func builtinFiles(name string) (files []suite.File, err error) {
	name = strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(name, builtinPrefix)), ".yaml")
	names, paths := BuiltinSuites()
	for _, n := range names {
		if name != "" && n != name && !strings.HasPrefix(n, name+"/") {
			continue
		}
		b, err := fs.ReadFile(builtin.Suites, paths[n])
		if err != nil {
			return nil, err
		}
		files = append(files, suite.File{Path: builtinPrefix + n + ".yaml", Data: b})
	}
	return files, nil
}

func nearBuiltin(arg string) string {
	names, _ := BuiltinSuites()
	if near := kind.Near(arg, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// BuiltinToolPrefix is what the tools of the built-in server start with.
const BuiltinToolPrefix = "crypto_"

// builtinServer is the documentation server in the binary, in this process on a
// loopback port, as a target: cases reach it through real HTTP.
type builtinServer struct {
	target.MCP
	server *docserver.Server
	cancel context.CancelFunc
	done   chan error
}

func startBuiltin(now func() time.Time) (*builtinServer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	ix, _, err := docserver.Load(ctx, builtin.Docs)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start the built-in server: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("start the built-in server: %w", err), ix.Close())
	}
	b := &builtinServer{
		server: docserver.New(ix, docserver.Options{Prefix: BuiltinToolPrefix, Version: version.Version, Now: now}),
		cancel: cancel,
		done:   make(chan error, 1),
	}
	go func() { b.done <- b.server.Serve(ctx, l) }()
	b.URL = docserver.URL(l.Addr().(*net.TCPAddr))
	b.Tools.Prefix = BuiltinToolPrefix
	return b, nil
}

// Close ends the session, then the server.
func (b *builtinServer) Close() error {
	err := b.MCP.Close()
	b.cancel()
	return errors.Join(err, <-b.done, b.server.Close())
}
