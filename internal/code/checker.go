package code

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Tools are programs outside this one that can check a syntax: their paths, empty for those that are not to be used. The
// zero value uses none.
type Tools struct {
	Python  string // python3, which parses the code and does not run it
	Rustfmt string
	Solc    string

	Environ []string      // what they are started with, in the form of os.Environ
	Timeout time.Duration // for one check; 5 s when zero
}

// FindTools looks for the programs where the PATH of an environment says, in the form of os.Environ. Folders that are not
// absolute are left out: what they hold depends on where one stands.
func FindTools(environ []string) Tools {
	t := Tools{Environ: environ}
	for _, entry := range environ {
		name, list, _ := strings.Cut(entry, "=")
		if name != "PATH" && !(runtime.GOOS == "windows" && strings.EqualFold(name, "PATH")) {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) {
				continue
			}
			t.findIn(dir)
		}
	}
	return t
}

func (t *Tools) findIn(dir string) {
	for name, path := range map[string]*string{"python3": &t.Python, "rustfmt": &t.Rustfmt, "solc": &t.Solc} {
		if *path == "" {
			*path, _ = exec.LookPath(filepath.Join(dir, name)) // empty when it is not there
		}
	}
}

// Verdict is the outcome of a check of syntax.
type Verdict struct {
	Problems []Problem
	Checked  bool   // false: nothing can be said of the source, see [Syntax]
	Checker  string // who spoke: "esbuild", "mettle", "python3 3.11.7 ast"
}

// SyntaxWith is [Syntax] with the help of outside programs for the languages whose own compilers know better. Where the
// program is not there, or does not come to a verdict in time, the parser of this package speaks. No code is run.
func SyntaxWith(ctx context.Context, lang, src string, tools Tools) Verdict {
	l := find(Canonical(lang))
	if l == nil || l.syntax == nil {
		return Verdict{}
	}
	if l.outside != nil && len(src) <= maxSource {
		if v, ok := l.outside(ctx, tools, strings.TrimPrefix(src, byteOrderMark)); ok {
			for i := range v.Problems {
				v.Problems[i].Checker = v.Checker
				v.Problems[i].Elision = elided(src, v.Problems[i])
			}
			return v
		}
	}
	problems, checked := l.check(src)
	v := Verdict{Problems: problems, Checked: checked}
	if checked {
		v.Checker = l.checker
	}
	return v
}

// maxToolOutput bounds what is kept of what a program says.
const maxToolOutput = 64 << 10

// run starts a program with a text on its standard input and returns what it said. It stands in the folder it is in, so
// that what is configured where the caller stands does not change the verdict. Its exit code is no verdict: formatters
// and compilers differ in it.
func (t Tools) run(ctx context.Context, input, path string, args ...string) (stdout, stderr string, ok bool) {
	timeout := t.Timeout
	if timeout <= 0 {
		timeout = 5 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&errs}
	cmd.Env = append([]string{}, t.Environ...) // not nil: that would be all of our own
	cmd.Dir = filepath.Dir(path)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return "", "", false
	}
	return out.String(), errs.String(), true
}

// limited keeps the beginning of what is written to it.
type limited struct{ *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxToolOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

var _ io.Writer = (*limited)(nil)

// versions are what programs said of their version, by path: asking takes as long as checking.
var versions sync.Map

// version is a program's name and version, from its answer to --version: its first word that begins with a digit.
func (t Tools) version(ctx context.Context, name, path string) string {
	if known, ok := versions.Load(path); ok {
		return known.(string)
	}
	out, _, ok := t.run(ctx, "", path, "--version")
	if !ok {
		return name
	}
	for _, word := range strings.Fields(out) {
		if word[0] >= '0' && word[0] <= '9' {
			word, _, _ = strings.Cut(word, "+")
			name += " " + word
			break
		}
	}
	versions.Store(path, name)
	return name
}

// wrapping is a way to make a whole file of a fragment.
type wrapping struct{ before, after string }

// compilerSays reads the messages of rustfmt and solc, which look alike: a line "error: …", then " --> <stdin>:2:5".
func compilerSays(stderr string, ignored ...string) (problems []Problem) {
	message := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		head, text, ok := strings.Cut(line, ": ")
		kind, _, _ := strings.Cut(strings.ToLower(head), "[")
		kind, _, _ = strings.Cut(kind, " (")
		if ok && (kind == "error" || kind == "parsererror") {
			message = text
			continue
		}
		place, ok := strings.CutPrefix(line, "--> ")
		if !ok || message == "" {
			continue
		}
		if p, ok := toolPlace(place); ok && !hasAny(message, ignored) {
			p.Message = message
			problems = append(problems, p)
		}
		message = ""
	}
	return problems
}

func hasAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// toolPlace reads <stdin>:2:5, with or without a colon behind it.
func toolPlace(place string) (Problem, bool) {
	parts := strings.Split(strings.TrimSuffix(place, ":"), ":")
	if len(parts) < 3 {
		return Problem{}, false
	}
	line, col := number(parts[len(parts)-2]), number(parts[len(parts)-1])
	return Problem{Line: line, Col: max(col, 1)}, line > 0
}

// number reads digits; 0 when there are others.
func number(text string) (n int) {
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<24 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// compiled asks a compiler in each wrapping and takes the first in which it finds nothing wrong; else the one that got
// furthest was meant.
func (t Tools) compiled(src string, forms []wrapping, ask func(whole string) ([]Problem, bool)) ([]Problem, bool) {
	var best []Problem
	for i, form := range forms {
		problems, ok := ask(form.before + src + form.after)
		if !ok {
			return nil, false
		}
		if len(problems) == 0 {
			return nil, true
		}
		shift := strings.Count(form.before, "\n")
		last := strings.Count(src, "\n") + 1
		for j := range problems {
			problems[j].Line = min(max(problems[j].Line-shift, 1), last)
		}
		if i == 0 || problems[0].Line > best[0].Line || problems[0].Line == best[0].Line && problems[0].Col > best[0].Col {
			best = problems
		}
	}
	return best[:min(len(best), maxProblems)], true
}
