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
		if err != nil {
			skipped = append(skipped, err.Error())
			return nil
		}
		page, n, err := loadPage(fsys, name, d)
		if err != nil {
			skipped = append(skipped, err.Error())
			return nil
		}
		if size += n; size > maxPages {
			return fmt.Errorf("there are more than %d MB of them", maxPages>>20)
		}
		chunks = append(chunks, page...)
		return nil
	})
	if err != nil {
		return nil, skipped, fmt.Errorf("read the pages: %w", err)
	}
	ix, err = newIndex(ctx, chunks)
	if err != nil {
		return nil, skipped, err
	}
	ix.stamp = stamp
	return ix, skipped, nil
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

// loadPage reads a page of so many bytes and cuts it into chunks.
func loadPage(fsys fs.FS, name string, d fs.DirEntry) (page []chunk, size int, err error) {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		return nil, 0, fmt.Errorf("%s: a symbolic link, which is not followed", name)
	case !d.Type().IsRegular():
		return nil, 0, fmt.Errorf("%s: not a file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, 0, err // says the name
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxPage+1))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxPage {
		return nil, 0, fmt.Errorf("%s: more than %d MB, which no page for people has", name, maxPage>>20)
	}
	page, err = parsePage(name, b)
	return page, len(b), err
}
