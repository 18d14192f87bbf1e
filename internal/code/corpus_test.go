package code

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var corpus = flag.String("corpus", "", "folder of Markdown files whose code blocks TestCorpus lists")

// TestCorpus checks the code blocks of the built-in skills, or with -corpus those of a folder, and lists languages,
// counts and problems under -v. The built-in skills must have none but elisions.
func TestCorpus(t *testing.T) {
	dir := "../../builtin/skills"
	if *corpus != "" {
		dir = *corpus
	}
	table := map[string]*corpusRow{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, b := range Blocks(string(text)) {
			row := table[b.Lang]
			if row == nil {
				row = &corpusRow{}
				table[b.Lang] = row
			}
			if p := row.add(b); p != nil {
				line, _ := b.Place(p.Line, p.Col)
				t.Logf("%s:%d: %s: %s (%s)", path, line, b.Lang, p.Message, p.Checker)
				if *corpus == "" {
					t.Errorf("%s:%d: the %s does not parse", path, line, b.Lang)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, lang := range slices.Sorted(maps.Keys(table)) {
		t.Log(table[lang].String(lang))
	}
}

// corpusRow counts the blocks of a language.
type corpusRow struct{ blocks, valid, elided, wrong, unchecked int }

// add counts a block and returns its first problem, if that is no elision.
func (r *corpusRow) add(b Block) *Problem {
	r.blocks++
	problems, checked := Syntax(b.Lang, b.Text)
	switch {
	case !checked:
		r.unchecked++
	case len(problems) == 0:
		r.valid++
	case problems[0].Elision:
		r.elided++
	default:
		r.wrong++
		return &problems[0]
	}
	return nil
}

func (r *corpusRow) String(lang string) string {
	return fmt.Sprintf("%-12s %4d blocks: %4d valid, %3d with an elision, %3d wrong, %4d not checked", lang, r.blocks, r.valid, r.elided, r.wrong, r.unchecked)
}
