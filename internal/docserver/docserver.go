// Package docserver is the documentation server that mettle carries: it
// indexes a folder of Markdown pages and answers questions about them over the
// Model Context Protocol, by plain full-text retrieval.
//
// It invents nothing. An answer is made of the best matching passages, each
// with its source; where nothing matches, it says so with a confidence of 0.
// That makes it an honest baseline: a server that does worse than this is not
// worth its tokens.
//
// [Load] reads pages; parsePage cuts each at its headings into chunks. An
// [Index] ranks chunks: words.go says what a word is, SQLite's FTS5 scores,
// rank.go and question.go rank a second time. answer.go and writer.go put the
// winners into the words of each tool, tools.go and arguments.go are the tools,
// and a [Server] speaks MCP.
package docserver

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Bounds of what is read, in bytes: a page over the first is left out, pages
// over the second in all are not indexed.
const (
	maxPage  = 2 << 20
	maxPages = 256 << 20
)

// Load reads every Markdown page below the root of fsys and indexes it. A page
// that cannot be used is told in skipped and does not keep the others out.
// Symbolic links are not followed, hidden folders and node_modules are not
// entered.
func Load(ctx context.Context, fsys fs.FS) (ix *Index, skipped []string, err error) {
	var chunks []chunk
	size := 0
	stamp, err := walk(ctx, fsys, func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			var b []byte
			var page []chunk
			if b, err = readPage(fsys, name, d); err == nil {
				size += len(b)
				page, err = parsePage(name, b)
				chunks = append(chunks, page...)
			}
		}
		switch {
		case err != nil:
			skipped = append(skipped, err.Error())
		case size > maxPages:
			return fmt.Errorf("there are more than %d MB of pages", maxPages>>20)
		}
		return nil
	})
	if err != nil {
		return nil, skipped, fmt.Errorf("read the pages: %w", err)
	}
	ix, err = newIndex(ctx, chunks)
	if err == nil {
		ix.stamp = stamp
	}
	return ix, skipped, err
}

// walk visits every page below the root of fsys, and every place that might
// hold some but cannot be read. Its stamp changes when a page does.
func walk(ctx context.Context, fsys fs.FS, visit func(name string, d fs.DirEntry, err error) error) (stamp uint64, err error) {
	h := fnv.New64a()
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err == nil && d.IsDir():
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case err == nil && !isMarkdown(name):
			return nil
		}
		if err == nil {
			if info, err := d.Info(); err == nil {
				fmt.Fprintf(h, "%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			}
		}
		if visit == nil {
			return nil
		}
		return visit(name, d, err)
	})
	return h.Sum64(), err
}

func isMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown":
		return true
	}
	return false
}

func readPage(fsys fs.FS, name string, d fs.DirEntry) ([]byte, error) {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: a symbolic link, which is not followed", name)
	case !d.Type().IsRegular():
		return nil, fmt.Errorf("%s: not a file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxPage+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxPage {
		return nil, fmt.Errorf("%s: %w", name, errTooLong)
	}
	return b, nil
}

var errTooLong = errors.New("more than 2 MB, which no page for people has")
