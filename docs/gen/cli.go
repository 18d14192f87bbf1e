package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/cli"
)

// mettle runs the program in an empty world, as far as help goes.
func mettle(args ...string) (stdout, stderr string, exit int) {
	var out, talk bytes.Buffer
	w := &cli.World{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &talk, Dir: ".",
		Now: func() time.Time { return time.Time{} }, Random: func() uint32 { return 0 }, Interrupts: context.WithCancel,
	}
	exit = cli.Main(w)
	return out.String(), talk.String(), exit
}

// command is one of mettle's commands.
type command struct{ Name, Doc string }

// commands lists what a person can type after mettle, as completion would.
func commands() (out []command, err error) {
	list, talk, exit := mettle("__complete", "")
	if exit != 0 {
		return nil, fmt.Errorf("list the commands: %s", talk)
	}
	for line := range strings.Lines(list) {
		name, doc, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && name != "help" {
			out = append(out, command{name, doc})
		}
	}
	return out, nil
}

// help is what a command says about itself.
func help(args ...string) (string, error) {
	out, talk, exit := mettle(append(args, "--help")...)
	if exit != 0 {
		return "", fmt.Errorf("ask %v for help: %s", args, talk)
	}
	return strings.TrimSpace(out), nil
}

// exitCodes is the table of exit codes.
func exitCodes() string {
	var rows [][]string
	for _, c := range []struct {
		code int
		doc  string
	}{
		{cli.ExitMet, "every gate is met"},
		{cli.ExitNotMet, "a gate is not met, or a case failed that no gate allows"},
		{cli.ExitUsage, "wrong usage, an invalid suite or configuration, or a filter that matches nothing; nothing was asked"},
		{cli.ExitIncomplete, "the run could not be completed: a server, tool, variable or program is missing, results have no verdict and no gate allows it, a gate had nothing to measure, or nothing was judged"},
		{cli.ExitInterrupted, "interrupted; what was done is kept, and `mettle resume` goes on"},
	} {
		rows = append(rows, []string{strconv.Itoa(c.code), c.doc})
	}
	return table([]string{"code", "meaning"}, rows)
}

// readmePage is README.md with its generated parts renewed.
func readmePage(repo fs.FS) (page, error) {
	const name = "README.md"
	old, err := fs.ReadFile(repo, name)
	if err != nil {
		return page{}, err
	}
	list, err := commands()
	if err != nil {
		return page{}, err
	}
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{"[" + code("mettle "+c.Name) + "](" + reference + "cli.md#mettle-" + c.Name + ")", plain(c.Doc)})
	}
	text := string(old)
	for mark, content := range map[string]string{"commands": table([]string{"command", "what it does"}, rows), "exit codes": exitCodes()} {
		if text, err = splice(text, mark, content); err != nil {
			return page{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return page{name, text}, nil
}

// splice replaces what stands between the comments of a mark.
func splice(text, mark, content string) (string, error) {
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->\n"
	before, rest, opened := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		return "", fmt.Errorf("no %q … %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + content + "\n" + end + after, nil
}
