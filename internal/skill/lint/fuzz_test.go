package lint

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/skill/skilltest"
)

// archives calls a function for each document of the archives.
func archives(f *testing.F, add func(data []byte)) {
	f.Helper()
	skilltest.Seed(f, add, "testdata/lint/*.txtar", "../testdata/document/*.txtar")
}

// linters has for each rule one with nothing else on, and one more in which the configuration suppresses it.
var linters = sync.OnceValue(func() (list []struct{ alone, silent *Linter }) {
	for _, r := range Rules() {
		only := map[string]Severity{}
		for _, other := range Rules() {
			only[other.ID] = Off
		}
		only[r.ID] = Warning
		opts := Options{Profile: ClaudeCode, Profiles: []Profile{{Name: ClaudeCode, Keys: []string{"language"}}}, Rules: only}
		alone, err := NewLinter(opts)
		if err != nil {
			panic(err)
		}
		opts.Suppress = []Suppression{{Rule: r.ID, Reason: "fuzz"}}
		silent, err := NewLinter(opts)
		if err != nil {
			panic(err)
		}
		list = append(list, struct{ alone, silent *Linter }{alone, silent})
	}
	return list
})

// only is what a linter finds with one rule in one file.
func only(l *Linter, d *skill.Document, id string) []Finding {
	found := l.File(d)
	l.entries = nil
	return slices.DeleteFunc(found, func(x Finding) bool { return x.Rule != id })
}

// FuzzRules runs every rule alone and all of them together, over a skill and over a file bundled with it. What a rule says
// does not depend on the others, each finding has its place, fixes come to an end, and suppressions silence.
func FuzzRules(f *testing.F) {
	seedPairs(f)
	all := map[string]Severity{}
	for _, r := range Rules() {
		all[r.ID] = Warning
	}
	together, err := NewLinter(Options{Profile: ClaudeCode, Profiles: []Profile{{Name: ClaudeCode, Keys: []string{"language"}}}, Rules: all})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data, other []byte) {
		d := skill.Parse("x/my-skill/SKILL.md", data)
		d.Folder = fstest.MapFS{
			"references/a.md": {Data: other}, "scripts/run.sh": {Data: other}, "evals/evals.json": {Data: other}, "tool": {Data: other},
		}
		byRule := map[string][]Finding{}
		for _, x := range together.File(d) {
			checkPlace(t, d, string(other), &x)
			byRule[x.Rule] = append(byRule[x.Rule], x)
		}
		together.entries = nil
		for i, l := range linters() {
			id := Rules()[i].ID
			found := only(l.alone, d, id)
			if strings.HasPrefix(id, "suppression-") {
				continue // what a suppression covers depends on what there is
			}
			if len(found)+len(byRule[id]) > 0 && !reflect.DeepEqual(byRule[id], found) && len(readIgnores(d)) == 0 {
				t.Fatalf("%s (-together +alone)\n%s", id, cmp.Diff(byRule[id], found))
			}
			checkFixes(t, l.alone, d, found)
			if len(found) > 0 {
				checkSuppressed(t, l.alone, l.silent, d, id)
			}
		}
	})
}

func seedPairs(f *testing.F) {
	f.Helper()
	archives(f, func(data []byte) { f.Add(data, data) })
	for _, h := range hostile {
		if text := h.text(300); len(text) < 1000 { // some have one size only
			f.Add([]byte(text), []byte(h.text(100)))
		}
	}
	for _, r := range Rules() {
		x, _ := r.Example()
		before, part, after := wholeExample(x.Text)
		other := ""
		for _, o := range x.Other {
			other += o.Text
		}
		f.Add([]byte(before+part+after), []byte(other))
	}
}

// checkPlace checks that a finding lies in its file and that its places agree.
func checkPlace(t *testing.T, d *skill.Document, other string, x *Finding) {
	t.Helper()
	text, lines := d.Text, d.Index
	if x.File != d.Path {
		text, lines = other, skill.NewIndex(other)
	}
	if x.Start < 0 || x.End < x.Start || x.End > len(text) {
		t.Fatalf("bytes %d to %d of %d: %+v", x.Start, x.End, len(text), x)
	}
	line, col := lines.Place(x.Start)
	endLine, endCol := lines.Place(x.End)
	if line != x.Line || col != x.Col || endLine != x.EndLine || endCol != x.EndCol {
		t.Fatalf("the bytes are at %d:%d-%d:%d: %+v", line, col, endLine, endCol, x)
	}
	if !utf8.ValidString(x.Excerpt) && utf8.ValidString(text) {
		t.Fatalf("the excerpt is cut inside a character: %+v", x)
	}
}

// checkFixes makes the fixes of a rule until it offers none, which must be soon, and the rule must not find more then.
func checkFixes(t *testing.T, l *Linter, d *skill.Document, found []Finding) {
	t.Helper()
	before := len(found)
	if before >= mostFindings {
		return // the rest is found when these are mended
	}
	for round := 0; ; round++ {
		fixed, n := Apply(d.Text, found)
		if n == 0 {
			break
		}
		if round == 4 {
			t.Fatalf("%s still offers fixes: %+v\n%q", found[0].Rule, found[0].Fix, skill.Shorten(d.Text, 2000))
		}
		again := skill.Parse(d.Path, []byte(fixed))
		again.Folder = d.Folder
		d, found = again, only(l, again, found[0].Rule)
	}
	if len(found) > before {
		t.Fatalf("%s: %d findings, %d after the fixes\n%q", found[0].Rule, before, len(found), skill.Shorten(d.Text, 2000))
	}
}

// checkSuppressed silences a rule in the configuration, and by a comment wherever the text takes one.
func checkSuppressed(t *testing.T, alone, silent *Linter, d *skill.Document, id string) {
	t.Helper()
	if len(only(silent, d, id)) > 0 {
		t.Fatalf("%s is not suppressed by the configuration", id)
	}
	comment := "\n\n<!-- mettle-ignore-file " + id + ": fuzz -->\n"
	commented := skill.Parse(d.Path, []byte(d.Text+comment))
	commented.Folder = d.Folder
	read := slices.ContainsFunc(readIgnores(commented), func(g ignore) bool { return g.whole && g.reason == "fuzz" && slices.Contains(g.rules, id) })
	if read && len(only(alone, commented, id)) > 0 {
		t.Fatalf("%s is not suppressed by a comment", id)
	}
}

// FuzzLint lints any text with the profiles as people use them, and scores it.
func FuzzLint(f *testing.F) {
	archives(f, func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		d := skill.Parse("x/my-skill/SKILL.md", data)
		d.Folder = fstest.MapFS{"references/a.md": {}}
		for _, p := range Profiles() {
			found, err := Lint([]*skill.Document{d}, Options{Profile: p.Name})
			if err != nil {
				t.Fatal(err)
			}
			Apply(d.Text, found)
		}
		for _, compat := range []string{"", skill.CompatLangChain} {
			s := skill.Score(d, skill.ScoreOptions{Compat: compat})
			for _, x := range []float64{s.FrontmatterValid, s.SectionsCompleteness, s.CodeQuality, s.SectionDepth, s.StructuralScore} {
				if x < 0 || x > 1 {
					t.Fatalf("scores %+v", s)
				}
			}
		}
	})
}
