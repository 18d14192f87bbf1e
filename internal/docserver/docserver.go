// Package docserver is the documentation server that mettle carries: it
// indexes a folder of Markdown pages and answers questions about them over the
// Model Context Protocol, by plain full-text retrieval.
//
// It invents nothing. An answer is made of the best matching passages, each
// with its source; where nothing matches, it says so with a confidence of 0.
// That makes it an honest baseline: a server that does worse than this is not
// worth its tokens.
//
// A page ([parsePage]) is cut at its headings into chunks; an [Index] ranks
// chunks with SQLite's FTS5; answer.go puts the winners into the words of each
// tool; server.go speaks MCP.
package docserver

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxPage is the size over which a page is left out of the index.
const maxPage = 2 << 20

// Load reads every Markdown page below the root of fsys and indexes it. A
// page that cannot be used is told in skipped and does not keep the others out.
func Load(fsys fs.FS) (ix *Index, skipped []string, err error) {
	var chunks []chunk
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case !isMarkdown(name) || !d.Type().IsRegular():
			return nil
		}
		page, err := readPage(fsys, name, d)
		if err != nil {
			skipped = append(skipped, err.Error())
			return nil
		}
		chunks = append(chunks, page...)
		return nil
	})
	if err != nil {
		return nil, skipped, fmt.Errorf("read the pages: %w", err)
	}
	ix, err = newIndex(chunks)
	return ix, skipped, err
}

func isMarkdown(name string) bool {
	return slices.Contains([]string{".md", ".mdx", ".markdown"}, strings.ToLower(path.Ext(name)))
}

func readPage(fsys fs.FS, name string, d fs.DirEntry) ([]chunk, error) {
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPage {
		return nil, fmt.Errorf("%s: %d bytes are more than the %d allowed", name, info.Size(), maxPage)
	}
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	return parsePage(name, b)
}
