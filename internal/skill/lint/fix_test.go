package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/skill/skilltest"
)

// aloneValues reads each key of a frontmatter by itself, so that a mistake in one does not spoil the others: the lines from
// one that is not indented up to one at which they are YAML. What cannot be read so has no value.
func aloneValues(raw string) map[string]string {
	lines := strings.SplitAfter(raw, "\n")
	values := map[string]string{}
	for i := 0; i < len(lines); i++ {
		if l := lines[i]; strings.TrimSpace(l) == "" || strings.ContainsAny(l[:1], " \t#-]}") {
			continue
		}
		for end := i + 1; end <= min(len(lines), i+40); end++ {
			if end < len(lines) && strings.TrimSpace(lines[end]) != "" && strings.ContainsAny(lines[end][:1], " \t-]}") {
				continue // it belongs to the same key
			}
			var m map[string]yaml.Node
			if yaml.Unmarshal([]byte(strings.Join(lines[i:end], "")), &m) != nil || len(m) != 1 {
				continue
			}
			for key, n := range m {
				if _, twice := values[key]; !twice {
					values[key] = written(&n)
				}
			}
			i = end - 1
			break
		}
	}
	return values
}

// written is a value in a form that tells apart what is different.
func written(n *yaml.Node) string {
	out := fmt.Sprintf("%d %s %q", n.Kind, n.ShortTag(), n.Value)
	for _, c := range n.Content {
		out += " (" + written(c) + ")"
	}
	return out
}

// checkFixKeeps fixes a file and expects that the result parses and that each key that could be read by itself has the
// value it had, but for those that a fix of another kind than quoting rewrites on purpose.
func checkFixKeeps(t *testing.T, name, text string) {
	t.Helper()
	before, _ := skill.ParseFrontmatter(text)
	found, err := Lint([]*skill.Document{skill.Parse("skills/x/SKILL.md", []byte(text))}, Options{Profile: Strict})
	if err != nil {
		t.Fatal(err)
	}
	fixed, n := Apply(text, found)
	after, _ := skill.ParseFrontmatter(fixed)
	if n == 0 || after.Raw == before.Raw {
		return
	}
	var m map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(after.Raw), &m); err != nil {
		t.Errorf("%s: the fixed frontmatter is not YAML: %v\n%s", name, err, after.Raw)
		return
	}
	rewritten := map[string]bool{}
	for _, f := range found {
		for i := range before.Fields {
			if b := &before.Fields[i]; f.Fix != nil && f.Rule != frontmatterQuote.ID && f.Fix.touches(b) {
				rewritten[b.Key] = true
			}
		}
	}
	for key, want := range aloneValues(before.Raw) {
		n, ok := m[key]
		if !ok {
			t.Errorf("%s: key %q is lost\n%s", name, key, after.Raw)
		} else if got := written(&n); got != want && !rewritten[key] {
			t.Errorf("%s: key %q was %s and is %s\n%s", name, key, want, got, after.Raw)
		}
	}
}

var brokenFrontmatter = []string{
	"name: x\ndescription: Reads: files\nmetadata: {\"openclaw\": {\"emoji\": \"x\"}}\n",
	"name: x\ndescription: Reads: files\ntags: [a, [b]] # both\n",
	"name: x\ndescription: Reads: files\nmetadata: {\"a\": {\n  \"b\": 1 },\n  \"c\": 2\n}\n",
	"name: x\ndescription: Reads: files\n  version: 1.0\nlicense: MIT\n",
	"name: x\ndescription: Reads: files. license: MIT\n",
	"name: x\ndescription: Reads: files.allowed-tools: Read\nmetadata: {a: b}\n",
	"name: x\ndescription: Reads: files\nbase: &b [x]\nother: *b\n",
	"name: x\ndescription: Reads: files\nargument-hint: [file] [flag]\nmetadata: [{a: '}'}]\n",
	"name: x\ndescription: Reads: files\nempty: {}\nnested:\n  deep: {a: [1, 2], b: {c: d}}\n",
	"e:\ne: %\n",
	"name: x\ndescription: 'Reads: files'\nallowed-tools: [Read, \"Bash(git:*)\"]\nmetadata: {a: {b: c}}\n",
}

func TestFixKeepsOtherKeys(t *testing.T) {
	for i, raw := range brokenFrontmatter {
		checkFixKeeps(t, fmt.Sprint(i), "---\n"+raw+"---\n# X\n")
	}
}

// TestDoubtfulValuesAreNotQuoted: a key that ran into the value above it is for its author to take out again.
func TestDoubtfulValuesAreNotQuoted(t *testing.T) {
	for _, raw := range brokenFrontmatter[3:6] {
		text := "---\n" + raw + "---\n# X\n"
		found, err := Lint([]*skill.Document{skill.Parse("skills/x/SKILL.md", []byte(text))}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if fixed, n := Apply(text, found); fixed != text || n != 0 {
			t.Errorf("%q became %q", text, fixed)
		}
	}
}

// TestFixKeepsSample fixes every file of the sample, as it is and with one line of its frontmatter broken, beside lists and
// maps that are not.
func TestFixKeepsSample(t *testing.T) {
	_, docs := sample(t)
	broken := 0
	for _, d := range docs {
		checkFixKeeps(t, d.Path, d.Text)
		fm := &d.Frontmatter
		if !fm.Valid() {
			continue
		}
		for _, extra := range []string{"extra: a: b\n", "extra: a: b\nlist: [a, [b, c]] # c\nmap: {\"a\": {\"b\": [1]}}\n"} {
			at := strings.Index(d.Text, fm.Raw)
			checkFixKeeps(t, d.Path, d.Text[:at]+extra+d.Text[at:])
			checkFixKeeps(t, d.Path, d.Text[:at+len(fm.Raw)]+extra+d.Text[at+len(fm.Raw):])
			broken += 2
		}
	}
	t.Logf("%d files, and %d made of them", len(docs), broken)
}

func FuzzFixKeeps(f *testing.F) {
	for _, raw := range brokenFrontmatter {
		f.Add(raw)
	}
	skilltest.Seed(f, func(data []byte) {
		fm, _ := skill.ParseFrontmatter(string(data))
		f.Add(fm.Raw)
	}, "testdata/lint/*.txtar")
	if names, _ := filepath.Glob(filepath.Join(sampleFolder, "*/*/SKILL.md")); len(names) > 0 {
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil {
				fm, _ := skill.ParseFrontmatter(string(data))
				f.Add(fm.Raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) < 8<<10 {
			checkFixKeeps(t, "fuzz", "---\n"+raw+"\n---\n# X\n")
		}
	})
}
