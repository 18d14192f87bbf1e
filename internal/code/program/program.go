// Package program asks compilers and formatters on this machine about the syntax of a source. No code is run.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/code/source"
)

// Program is a compiler or formatter on this machine that can check a syntax.
type Program struct {
	Path    string
	Version string // the line of its version
	Label   string // name and number: "rustfmt 1.8.0"
	Environ []string
	Timeout time.Duration // of one check
}

// ErrDeclined is for a source that a program has no verdict on by its nature.
var ErrDeclined = errors.New("the program does not read this source")

// Find looks for a program where the PATH of an environment says, and asks for its version. Folders that are not
// absolute are left out: what they hold depends on the current folder.
func Find(name string, environ []string) (*Program, error) {
	p := &Program{Environ: environ, Timeout: 5 * time.Second}
	for _, entry := range environ {
		key, list, _ := strings.Cut(entry, "=")
		if key != "PATH" && !(runtime.GOOS == "windows" && strings.EqualFold(key, "PATH")) {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if filepath.IsAbs(dir) && p.Path == "" {
				p.Path, _ = exec.LookPath(filepath.Join(dir, name)) // empty when it is not there
			}
		}
	}
	if p.Path == "" {
		return nil, fmt.Errorf("%s is not on PATH", name)
	}
	out, _, err := p.Run(context.Background(), "", "--version")
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", name, err)
	}
	for line := range strings.Lines(out) {
		for word := range strings.FieldsSeq(line) {
			if p.Version == "" && word[0] >= '0' && word[0] <= '9' {
				number, _, _ := strings.Cut(word, "+")
				p.Version, p.Label = strings.TrimSpace(line), name+" "+number
			}
		}
	}
	if p.Version == "" {
		return nil, fmt.Errorf("%s --version names no version", name)
	}
	return p, nil
}

// maxProgramOutput bounds what is kept of what a program says.
const maxProgramOutput = 64 << 10

// Run starts the program with a text on its standard input and returns what it said. It stands in the folder it is in,
// so that what is configured where the caller stands does not change the verdict. Its exit code is no verdict: formatters
// and compilers differ in it. The error says that it did not end by itself.
func (p *Program) Run(ctx context.Context, input string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Stdout, cmd.Stderr = &limited{&out}, &limited{&errs}
	cmd.Env = append([]string{}, p.Environ...) // not nil: that would be all of our own
	cmd.Dir = filepath.Dir(p.Path)
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		err = nil
	}
	return out.String(), errs.String(), err
}

// limited keeps the beginning of what is written to it.
type limited struct{ *bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxProgramOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Wrapping makes a whole file of a fragment: what is put before it, and what after.
type Wrapping [2]string

// Compiled asks a compiler in each wrapping and takes the first in which it finds nothing wrong; else the one that got
// furthest was meant.
func Compiled(src string, forms []Wrapping, ask func(whole string) ([]source.Problem, error)) ([]source.Problem, error) {
	var best []source.Problem
	for i, form := range forms {
		problems, err := ask(form[0] + src + form[1])
		if err != nil || len(problems) == 0 {
			return nil, err
		}
		shift := strings.Count(form[0], "\n")
		last := strings.Count(src, "\n") + 1
		for j := range problems {
			problems[j].Line = min(max(problems[j].Line-shift, 1), last)
		}
		if i == 0 || problems[0].Line > best[0].Line || problems[0].Line == best[0].Line && problems[0].Col > best[0].Col {
			best = problems
		}
	}
	return best[:min(len(best), source.MaxProblems)], nil
}

// Messages reads the messages of rustfmt and solc, which look alike: a line "error: …", then " --> <stdin>:2:5".
func Messages(stderr string, ignored ...string) (problems []source.Problem) {
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
		if p, ok := toolPlace(place); ok && !HasAny(message, ignored) {
			p.Message = message
			problems = append(problems, p)
		}
		message = ""
	}
	return problems
}

// HasAny reports whether a text has one of the parts in it.
func HasAny(text string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// toolPlace reads <stdin>:2:5, with or without a colon behind it.
func toolPlace(place string) (source.Problem, bool) {
	parts := strings.Split(strings.TrimSuffix(place, ":"), ":")
	if len(parts) < 3 {
		return source.Problem{}, false
	}
	line, col := number(parts[len(parts)-2]), number(parts[len(parts)-1])
	return source.Problem{Line: line, Col: max(col, 1)}, line > 0
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
