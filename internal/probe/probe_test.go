package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

var update = flag.Bool("update", false, "rewrite what the files in testdata want")

// archive is a txtar file whose last files are what is wanted.
type archive struct {
	path string
	*txtar.Archive
}

func archives(t *testing.T, pattern string) (list []archive) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s (%v)", pattern, err)
	}
	for _, p := range paths {
		a, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, archive{p, a})
	}
	return list
}

func (a archive) file(name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// want compares a file of the archive with what came out.
func (a archive) want(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		for i := range a.Files {
			if a.Files[i].Name == name {
				a.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(a.path, txtar.Format(a.Archive), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(a.file(name), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// server makes the server that an archive describes.
func (a archive) server() *rawServer {
	s := &rawServer{hello: plainHello, list: a.file("list.json")}
	if hello := a.file("hello.json"); hello != "" {
		s.hello = hello
	}
	if tools := a.file("tools.json"); tools != "" {
		s.list = `{"tools":` + tools + `}`
	}
	s.list = strings.TrimSpace(s.list)
	return s
}

// trouble lists what did not pass.
func trouble(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "verdict: %s\n", r.Verdict)
	for _, c := range r.Checks {
		if c.Status == Pass || c.Status == Skip {
			continue
		}
		fmt.Fprintf(&b, "%s %s: %s\n", c.Status, c.ID, c.Summary)
		for _, f := range c.Findings {
			fmt.Fprintf(&b, "  %s %s: %s\n", f.Level, f.Tool, f.Message)
		}
	}
	return b.String()
}

// TestChecks puts tool lists of all kinds to the checks, through a real
// session.
func TestChecks(t *testing.T) {
	for _, a := range archives(t, "testdata/checks/*.txtar") {
		t.Run(filepath.Base(a.path), func(t *testing.T) {
			r, _ := inspect(t, a.server())
			a.want(t, "want", trouble(r))
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("the report has no JSON: %v", err)
			}
		})
	}
}

// TestCard shows whole cards, as a terminal without colour does.
func TestCard(t *testing.T) {
	for _, a := range archives(t, "testdata/card/*.txtar") {
		t.Run(filepath.Base(a.path), func(t *testing.T) {
			r, _ := inspect(t, a.server())
			var b bytes.Buffer
			if err := (Card{}).Write(&b, r); err != nil {
				t.Fatal(err)
			}
			a.want(t, "card", b.String())
			if i := strings.IndexFunc(b.String(), func(r rune) bool { return r < ' ' && r != '\n' }); i >= 0 {
				t.Errorf("a control character at byte %d", i)
			}
		})
	}
}

func TestCardHasColourOnDemand(t *testing.T) {
	r := Inspect(mcpclient.Info{Name: "n", Transport: mcpclient.TransportStdio, Noise: 1, NoiseLines: []string{"hi"}, Stderr: "oops"}, nil, nil)
	var plain, colored, strict bytes.Buffer
	for b, c := range map[*bytes.Buffer]Card{&plain: {}, &colored: {Color: true}, &strict: {Strict: true}} {
		if err := c.Write(b, r); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colored.String(), "\x1b[31m✗") {
		t.Errorf("plain:\n%q\ncoloured:\n%q", &plain, &colored)
	}
	for _, want := range []string{"hi", "oops", "✗"} {
		if !strings.Contains(strict.String(), want) {
			t.Errorf("%q is not in\n%s", want, &strict)
		}
	}
}

func TestVerdict(t *testing.T) {
	stdio := mcpclient.Info{Name: "n", Version: "1", Transport: mcpclient.TransportStdio, Capabilities: json.RawMessage(`{"tools":{}}`)}
	with := func(change func(*mcpclient.Info)) mcpclient.Info {
		info := stdio
		change(&info)
		return info
	}
	tools := []mcpclient.Tool{{
		Name: "look", Description: "Looks.", InputSchema: json.RawMessage(`{"type":"object"}`), Raw: json.RawMessage(`{}`),
	}}
	for _, test := range []struct {
		name   string
		info   mcpclient.Info
		tools  []mcpclient.Tool
		err    error
		want   Status
		check  string // that decides
		strict bool
	}{
		{name: "good", info: stdio, tools: tools, want: Pass},
		{name: "noise", info: with(func(i *mcpclient.Info) { i.Noise = 2 }), tools: tools, want: Fail, check: "stdout"},
		{name: "slow start", info: with(func(i *mcpclient.Info) { i.Connect = 11 * time.Second }), tools: tools, want: Warn, check: "connect"},
		{name: "slow list", info: with(func(i *mcpclient.Info) { i.List = 11 * time.Second }), tools: tools, want: Warn, check: "tools-list"},
		{name: "reconnected", info: with(func(i *mcpclient.Info) { i.Reconnects = 1 }), tools: tools, want: Warn, check: "connect"},
		{name: "HTTP+SSE", info: with(func(i *mcpclient.Info) { i.Transport = mcpclient.TransportSSE }), tools: tools, want: Warn, check: "protocol"},
		{name: "lost on the way", info: stdio, err: &mcpclient.Error{Class: mcpclient.ClassTransport}, want: Error, check: "tools-list"},
		{name: "no answer in time", info: stdio, err: &mcpclient.Error{Class: mcpclient.ClassTimeout}, want: Error, check: "tools-list"},
		{name: "some other error", info: stdio, err: errors.New("x"), want: Error, check: "tools-list"},
		{name: "too large", info: stdio, err: &mcpclient.Error{Class: mcpclient.ClassTooLarge}, want: Fail, check: "tools-list"},
		{name: "not understood", info: stdio, err: &mcpclient.Error{Class: mcpclient.ClassProtocol}, want: Fail, check: "tools-list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Inspect(test.info, test.tools, test.err)
			if r.Verdict != test.want {
				t.Errorf("verdict %s, want %s:\n%s", r.Verdict, test.want, trouble(r))
			}
			for _, c := range r.Checks {
				if c.ID == test.check && c.Status != test.want {
					t.Errorf("%s came to %s", c.ID, c.Status)
				}
			}
			if failed := test.want == Fail; r.Failed(false) != failed || r.Failed(true) != (failed || test.want == Warn) {
				t.Errorf("failed: %t, strictly: %t", r.Failed(false), r.Failed(true))
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	r := Unreachable("http://x/mcp", errors.New("nobody there"))
	if diff := cmp.Diff("verdict: error\nerror connect: the server could not be reached\n  error : nobody there\n", trouble(r)); diff != "" {
		t.Error(diff)
	}
}

// TestManyTools makes sure that a flood of tools costs no more than what is
// looked at.
func TestManyTools(t *testing.T) {
	var tools []mcpclient.Tool
	for i := range 3 * MaxTools {
		raw := json.RawMessage(fmt.Sprintf(`{"name":"tool_%d"}`, i))
		tools = append(tools, mcpclient.Tool{Name: fmt.Sprintf("tool_%d", i), Raw: raw})
	}
	r := Inspect(mcpclient.Info{}, tools, nil)
	if r.Tools.Count != 3*MaxTools || len(r.Tools.Tools) != MaxTools {
		t.Errorf("%d tools, %d of them shown", r.Tools.Count, len(r.Tools.Tools))
	}
	if !strings.Contains(trouble(r), "only the first 1000 tools were looked at") {
		t.Error("nobody is told that tools were left out")
	}
}
