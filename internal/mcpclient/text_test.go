package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/term"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestText runs every file of testdata/<kind>: each pair of sections "x" and
// "x.want" is an input and what becomes of it.
func TestText(t *testing.T) {
	kinds := map[string]func([]byte) string{
		"result": resultText, "tools": toolsText, "lines": linesText, "events": eventsText,
	}
	for kind, run := range kinds {
		files, err := filepath.Glob(filepath.Join("testdata", kind, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files for %s: %v", kind, err)
		}
		for _, name := range files {
			t.Run(kind+"/"+filepath.Base(name), func(t *testing.T) { runText(t, name, run) })
		}
	}
}

func runText(t *testing.T, name string, run func([]byte) string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{}
	for _, f := range archive.Files {
		if input, ok := strings.CutSuffix(f.Name, ".want"); ok {
			wants[input] = string(f.Data)
		}
	}
	var files []txtar.File
	for _, f := range archive.Files {
		if strings.HasSuffix(f.Name, ".want") {
			continue
		}
		got := run(f.Data)
		files = append(files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
		if diff := cmp.Diff(wants[f.Name], got); diff != "" && !*update {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
	if *update {
		archive.Files = files
		if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func resultText(in []byte) string {
	in = bytes.TrimSpace(in)
	if !json.Valid(in) {
		return "not valid JSON\n"
	}
	r := parseResult(in)
	var b strings.Builder
	for _, p := range r.Parts {
		fmt.Fprintf(&b, "part %q text %q mime %q uri %q name %q\n", p.Type, p.Text, p.MIME, p.URI, p.Name)
	}
	if r.Structured != nil {
		fmt.Fprintf(&b, "structured %s\n", r.Structured)
	}
	fmt.Fprintf(&b, "text %q error %t\n", r.Text(), r.IsError)
	for _, f := range r.Findings {
		fmt.Fprintln(&b, "finding:", f)
	}
	return b.String()
}

func toolsText(in []byte) string {
	list := toolList{strict: true}
	cursor := list.addPage(in)
	var b strings.Builder
	for _, t := range list.tools {
		fmt.Fprintf(&b, "%q title %q description %q in %s out %s\n", t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema)
		hints, _ := json.Marshal(t.Annotations)
		fmt.Fprintf(&b, "  hints %s marks %v\n", hints, list.marks[t.Name])
	}
	fmt.Fprintf(&b, "cursor %s\n", cursor)
	for _, f := range list.findings {
		fmt.Fprintln(&b, "finding:", f)
	}
	return b.String()
}

// linesText shows how the output of a process is taken apart, with a limit of
// 60 bytes a line.
func linesText(in []byte) string {
	var b strings.Builder
	take := func(text []byte) bool {
		m, ok := parseMessage(text)
		if ok = ok && (m.method != nil && m.hasVersion() || m.isResponse()); ok {
			fmt.Fprintf(&b, "message %s\n", text)
		}
		return ok
	}
	lines := newLineReader(bytes.NewReader(in), 60)
	for {
		ln, err := lines.next()
		if err != nil {
			return b.String()
		}
		if ln.tooLong {
			id, ok := ln.id()
			fmt.Fprintf(&b, "too long, id %d %t\n", id, ok)
			continue
		}
		sift(ln.text, take, func(text []byte) { fmt.Fprintf(&b, "noise %q\n", text) })
	}
}

// eventsText shows a stream as its events, with a limit of 60 bytes each. In
// the input a backslash and r stand for CR.
func eventsText(in []byte) string {
	in = bytes.ReplaceAll(in, []byte(`\r`), []byte("\r"))
	events := newEventReader(bytes.NewReader(in), 60)
	events.drain = true
	var b strings.Builder
	for {
		ev, err := events.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(&b, "error", err)
			}
			return b.String()
		}
		fmt.Fprintf(&b, "name %q id %q retry %s data %q message %t cut %t too long %t\n",
			ev.name, ev.id, ev.retry, ev.data, ev.isMessage(), ev.cut, ev.tooLong != nil)
	}
}

func TestClean(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"plain", 100, "plain"},
		{"  a\n\tb\r\nc  ", 100, "a b c"},
		{"\x1b[31mred\x1b[0m \x1b[2Kline", 100, "red line"},
		{"bell\x07 nul\x00 del\x7f c1\u009b", 100, "bell nul del c1"},
		{"bidi \u202e trick", 100, "bidi \uFFFD trick"},
		{"bad \xff utf8", 100, "bad \uFFFD utf8"},
		{"cut here", 3, "cut…"},
		{"\x1b[", 10, ""},
		{"\x1b]0;title\x07x", 20, "]0;title x"},
	}
	for _, tt := range tests {
		if got := term.Excerpt(tt.in, tt.limit); got != tt.want {
			t.Errorf("clean(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

func TestToolsHash(t *testing.T) {
	hash := func(page string) string {
		var l toolList
		l.addPage([]byte(page))
		return l.hash()
	}
	a := hash(`{"tools":[{"name":"a","inputSchema":{"type":"object","x":1.50}},{"name":"b","inputSchema":{}}]}`)
	if b := hash(`{"tools":[{"inputSchema":{},"name":"b"}, {"inputSchema":{"x":1.50,"type":"object"},"name":"a"}]}`); a != b {
		t.Error("the order of tools or keys changes the hash")
	}
	if b := hash(`{"tools":[{"name":"a","inputSchema":{"type":"object","x":1.51}},{"name":"b","inputSchema":{}}]}`); a == b {
		t.Error("a changed schema does not change the hash")
	}
	if hash(`{}`) != "" {
		t.Error("no tools have a hash")
	}
}

func TestEventRetry(t *testing.T) {
	events := newEventReader(strings.NewReader("retry: 1500\n\nretry: x\n\n"), 100)
	for _, want := range []time.Duration{1500 * time.Millisecond, -1} {
		ev, err := events.next()
		if err != nil || ev.retry != want {
			t.Errorf("retry %s, error %v, want %s", ev.retry, err, want)
		}
	}
}

// TestStrayAnswers tells a late or double answer from one under a wrong id.
func TestStrayAnswers(t *testing.T) {
	m := newMux()
	m.lastSDK, m.lastOwn = 2, firstID+3
	for id, stray := range map[int64]bool{
		1: false, 2: false, 3: true, 0: true, -1: true, firstID: true, firstID + 1: false, firstID + 3: false, firstID + 4: true,
	} {
		before := m.strays
		m.settle(id, nil, nil)
		if got := m.strays > before; got != stray {
			t.Errorf("id %d: stray %t, want %t", id, got, stray)
		}
	}
}

// TestLostAnswerIsShared has several calls waiting when an overlong answer
// comes that belongs to one of them, nobody knows to which.
func TestLostAnswerIsShared(t *testing.T) {
	m := newMux()
	one, two := make(chan arrival, 1), make(chan arrival, 1)
	m.waiting[firstID+1], m.waiting[firstID+2] = &waiter{arrived: one}, &waiter{arrived: two}
	m.tooLong(&line{tooLong: true}, 10)
	for _, ch := range []chan arrival{one, two} {
		if a := <-ch; a.fault == nil || !a.fault.again || a.fault.class != ClassTransport {
			t.Errorf("fault is %+v, want one to try again", a.fault)
		}
	}
}
