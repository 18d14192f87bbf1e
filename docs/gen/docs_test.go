package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	blocks "github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
)

// documents gives the Markdown that people read, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	repo := os.DirFS(root)
	docs := map[string]string{}
	read := func(name string) {
		b, err := fs.ReadFile(repo, name)
		if err != nil {
			t.Fatal(err)
		}
		docs[name] = string(b)
	}
	read("README.md")
	err := fs.WalkDir(repo, "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			read(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// mustBeMarked tells the documents in which every YAML block says what it is.
func mustBeMarked(name string) bool {
	return name == "README.md" || strings.HasPrefix(name, "docs/guides/") || strings.HasPrefix(name, reference)
}

// TestYAMLBlocks: what documents show as a suite loads, and so on. The word
// after yaml says what a block is.
func TestYAMLBlocks(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, text := range documents(t) {
		for _, b := range blocks.Blocks(text) {
			if b.Lang != "yaml" {
				continue
			}
			words := strings.Fields(b.Info)
			if len(words) < 2 {
				if mustBeMarked(name) {
					t.Errorf("%s:%d: the block does not say what it is: write yaml suite, config, checks, gates, target or other", name, b.Line)
				}
				continue
			}
			seen++
			if err := loadBlock(words[1], b.Text); err != nil {
				t.Errorf("%s:%d: %v", name, b.Line, err)
			}
		}
	}
	if seen == 0 {
		t.Error("there are no marked blocks")
	}
}

func loadBlock(what, text string) error {
	switch what {
	case "suite":
		_, err := suite.Load([]suite.File{{Path: "suite.yaml", Data: []byte(text)}})
		return err
	case "config":
		_, err := suite.LoadConfig(suite.File{Path: "mettle.yaml", Data: []byte(text)})
		return err
	case "checks", "gates":
		return loadList(what, text)
	case "target":
		d, n := kind.Parse("target.yaml", []byte(text))
		if n == nil || target.Decode(d, n) == nil {
			return d.Problems
		}
		return nil
	case "other": // of another program; YAML all the same
		var v any
		return yaml.Unmarshal([]byte(text), &v)
	}
	return fmt.Errorf("nothing is called %q", what)
}

func loadList(what, text string) error {
	d, n := kind.Parse(what+".yaml", []byte(text))
	if n == nil {
		return d.Problems
	}
	for _, item := range n.Content {
		if what == "checks" {
			grade.DecodeCheck(d, item)
		} else if _, err := eval.ParseGate(item.Value); err != nil {
			return err
		}
	}
	if len(d.Problems) > 0 {
		return d.Problems
	}
	return nil
}

// TestCommands: every command line that documents show is one the program
// takes. With --help behind it, flags are parsed and nothing is done.
func TestCommands(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, text := range documents(t) {
		for _, line := range commandLines(text) {
			words := shellWords(line)
			seen++
			if _, talk, exit := mettle(append(words, "--help")...); exit != 0 {
				t.Errorf("%s: mettle %s: %s", name, line, talk)
			}
		}
	}
	if seen == 0 {
		t.Error("there are no commands")
	}
}

var inline = regexp.MustCompile("`mettle ([a-z][^`]*)`")

// commandLines gives what follows mettle in shell blocks and code spans.
func commandLines(text string) (out []string) {
	for _, b := range blocks.Blocks(text) {
		switch b.Lang {
		case "sh", "console", "bash", "yaml":
		default:
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.Text, "\\\n", " ")) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
			line = strings.TrimPrefix(line, "- run: ")
			for _, prefix := range []string{"mettle ", "go run ./cmd/mettle "} {
				if rest, ok := strings.CutPrefix(line, prefix); ok {
					out = append(out, rest)
				}
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// shellWords splits a command line as far as the documents need it: quotes,
// and an end at a pipe, a redirection, a list or a comment.
func shellWords(line string) (words []string) {
	var word strings.Builder
	quote, inWord := rune(0), false
	flush := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune("|>&;", r), r == '#' && !inWord:
			flush()
			return words
		case r == ' ' || r == '\t' || r == '\n':
			flush()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	flush()
	return words
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: a link to a file of the repository leads to one, and to a heading
// that is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	docs := documents(t)
	for name, text := range docs {
		for _, b := range blocks.Blocks(text) {
			text = strings.Replace(text, b.Text, "", 1)
		}
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, "``"), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			file := path.Join(path.Dir(name), to)
			if to == "" {
				file = name
			}
			if _, err := fs.Stat(os.DirFS(root), file); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
				continue
			}
			if heading != "" && !hasHeading(docs[file], heading) {
				t.Errorf("%s links to %s: there is no such heading", name, m[1])
			}
		}
	}
}

var (
	codeSpan    = regexp.MustCompile("(`+)[^`]+`+")
	headingLine = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)
)

func hasHeading(text, want string) bool {
	for _, m := range headingLine.FindAllStringSubmatch(text, -1) {
		if anchor(notInAnchor.ReplaceAllString(m[1], "")) == want {
			return true
		}
	}
	return false
}

func TestShellWords(t *testing.T) {
	t.Parallel()
	got := strings.Join(shellWords(`run suites/ --gate 'pass_rate >= 90%' -o "a b" | tee x # no`), "|")
	if want := `run|suites/|--gate|pass_rate >= 90%|-o|a b`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
