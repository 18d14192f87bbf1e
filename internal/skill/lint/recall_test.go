package lint

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mettle-eval/mettle/internal/skill"
)

// labelled is an input whose verdict is known.
type labelled struct {
	family string
	found  bool // something is wrong with it
	file   string
	text   string
	line   int // in the archive
}

// labelledInputs reads an archive of testdata/recall. A line "== family found|clean file" begins an input.
func labelledInputs(t testing.TB, archive string) []labelled {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/recall", archive))
	if err != nil {
		t.Fatal(err)
	}
	var all []labelled
	for i, line := range strings.Split(string(data), "\n") {
		if head, ok := strings.CutPrefix(line, "== "); ok {
			f := strings.Fields(head)
			if len(f) != 3 || f[1] != "found" && f[1] != "clean" {
				t.Fatalf("%s:%d: want == family found|clean file", archive, i+1)
			}
			all = append(all, labelled{family: f[0], found: f[1] == "found", file: f[2], line: i + 1})
		} else if len(all) > 0 {
			all[len(all)-1].text += line + "\n"
		}
	}
	for i := range all {
		all[i].text = randomised(all[i].text)
	}
	return all
}

var randomMark = regexp.MustCompile(`@\{(\w+):(\d+)\}`)

// randomised puts random characters in the place of marks such as @{hex:40}, the same ones in every run.
func randomised(text string) string {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	random := rand.New(rand.NewPCG(sum.Sum64(), 1))
	alphabets := map[string]string{"hex": "0123456789abcdef", "dig": "0123456789", "up": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}
	alphabets["b62"] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	alphabets["b64"] = alphabets["b62"] + "+/"
	return randomMark.ReplaceAllStringFunc(text, func(mark string) string {
		m := randomMark.FindStringSubmatch(mark)
		n, _ := strconv.Atoi(m[2])
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabets[m[1]][random.IntN(len(alphabets[m[1]]))]
		}
		return string(b)
	})
}

const neutralSkill = "---\nname: notes\ndescription: Keeps project notes in order. Use when the user asks for notes.\n---\n# Notes\n\nStart with [the guide](references/guide.md).\n\n"

// skill makes a small skill with the input as one of its files.
func (x *labelled) skill() *skill.Document {
	files := fstest.MapFS{
		"references/guide.md": {Data: []byte("# Guide\n\nText.\n\n## Set up\n\nText.\n\n## Error codes\n\nText.\n")},
		"scripts/run.py":      {Data: []byte("print('ok')\n")},
		"assets/logo.png":     {Data: []byte("\x89PNG\r\n\x1a\n")},
	}
	text := neutralSkill
	switch {
	case x.file == skill.FileName:
		text += x.text
	case strings.HasSuffix(x.file, ".md"):
		files[x.file] = &fstest.MapFile{Data: []byte("# Guide\n\n" + x.text)}
	default:
		files[x.file] = &fstest.MapFile{Data: []byte(x.text), Mode: 0o755}
	}
	files[skill.FileName] = &fstest.MapFile{Data: []byte(text)}
	d := skill.Parse("skills/notes/SKILL.md", []byte(text))
	d.Folder = files
	return d
}

// familyRules are the rules that speak of each family of inputs.
var familyRules = map[string][]string{
	"secrets":      {"security-secret"},
	"destructive":  {"security-destructive"},
	"concealment":  {"security-concealment", "security-obfuscation", "security-hidden-text", "security-zero-width"},
	"injection":    {"security-injection"},
	"exfiltration": {"security-exfiltration", "security-download", "security-insecure-download", "security-remote"},
	"links":        {"link-broken", "link-anchor", "link-mention"},
}

// measured counts verdicts on inputs.
type measured struct{ hits, found, alarms, clean int }

func (m measured) recall() float64 { return float64(m.hits) / float64(max(m.found, 1)) }

func (m measured) String() string {
	return fmt.Sprintf("found %d of %d, false alarms %d of %d", m.hits, m.found, m.alarms, m.clean)
}

// measure lints the inputs of an archive and counts by family. What is wrong is logged.
func measure(t testing.TB, archive string, verbose bool) map[string]measured {
	t.Helper()
	got := map[string]measured{}
	for _, x := range labelledInputs(t, archive) {
		found, err := Lint([]*skill.Document{x.skill()}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		hit := slices.ContainsFunc(found, func(f Finding) bool { return slices.Contains(familyRules[x.family], f.Rule) })
		m := got[x.family]
		switch {
		case x.found:
			m.found++
			if hit {
				m.hits++
			}
		default:
			m.clean++
			if hit {
				m.alarms++
			}
		}
		got[x.family] = m
		if verbose && hit != x.found {
			t.Logf("%s:%d: %s: found is %v, want %v: %s", archive, x.line, x.family, hit, x.found, strings.TrimSpace(x.text))
		}
	}
	return got
}

// TestRecall measures the rules on inputs that they were written from (developed.txt) and on inputs that they were not
// (heldout.txt, written before the rules were opened). A rule must never be changed because of a line of the second; that
// is why the test does not say which lines it missed.
func TestRecall(t *testing.T) {
	for _, archive := range []string{"developed.txt", "heldout.txt"} {
		got := measure(t, archive, archive == "developed.txt")
		for _, family := range slices.Sorted(maps.Keys(got)) {
			m := got[family]
			t.Logf("%s: %s: %s", archive, family, m)
			if m.recall() < 0.8 || m.alarms > m.clean/10 {
				t.Errorf("%s: %s: %s; want at least 80 %% found and at most 10 %% false alarms", archive, family, m)
			}
		}
	}
}
