package docserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestAnswers asks what the .json files of each archive in testdata/answer say
// of the pages in it, and compares the text with the file want.
func TestAnswers(t *testing.T) {
	eachArchive(t, "testdata/answer/*.txtar", func(t *testing.T, name string, files []txtar.File) string {
		pages := fstest.MapFS{}
		var calls []txtar.File
		for _, f := range files {
			if strings.HasSuffix(f.Name, ".json") {
				calls = append(calls, f)
			} else {
				pages[f.Name] = &fstest.MapFile{Data: f.Data}
			}
		}
		s := testServer(t, pages)
		var b strings.Builder
		for _, c := range calls {
			fmt.Fprintf(&b, "===== %s\n%s", c.Name, indent(answerTo(t, s, c.Data).render())+"\n")
		}
		return b.String()
	})
}

// testServer serves pages with a clock that stands still.
func testServer(t *testing.T, pages fstest.MapFS) *Server {
	t.Helper()
	ix, skipped, err := Load(context.Background(), pages)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	s := New(ix, Options{Prefix: "my_", Version: "1", Now: func() time.Time { return time.Unix(1, 0) }})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// answerTo makes a call, of which the tool is named among the arguments.
func answerTo(t *testing.T, s *Server, call []byte) *answer {
	t.Helper()
	var named struct{ Tool string }
	if err := json.Unmarshal(call, &named); err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools("my_") {
		if tool.name != named.Tool {
			continue
		}
		res := s.call(context.Background(), &tool, call)
		ans, ok := res.StructuredContent.(*answer)
		if res.IsError || !ok {
			t.Fatalf("%s: %v", call, res.GetError())
		}
		return ans
	}
	t.Fatalf("there is no tool %q", named.Tool)
	return nil
}

// TestSameAnswer asks the same twice, and of two servers.
func TestSameAnswer(t *testing.T) {
	pages := fstest.MapFS{}
	for i := range 40 { // all alike, so that only the order of pages can tell them apart
		pages[fmt.Sprintf("acme/%02d.md", i)] = &fstest.MapFile{Data: []byte("# Anvils\n\nAn anvil is heavy.\n")}
	}
	one, other := testServer(t, pages), testServer(t, pages)
	call := []byte(`{"tool": "search_docs", "project": "acme", "query": "heavy anvil", "limit": 50}`)
	want := answerTo(t, one, call)
	if want.SourcesUsed != 40 {
		t.Errorf("%d sources, want all 40", want.SourcesUsed)
	}
	for _, s := range []*Server{one, other} {
		if diff := cmp.Diff(want, answerTo(t, s, call)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func TestCloseFence(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"text":                   "text",
		"```\na\n```":            "```\na\n```",
		"```go\na":               "```go\na\n```",
		"````go\n```\na\n":       "````go\n```\na\n````",
		"~~~\na":                 "~~~\na\n~~~",
		"- item\n\n  ```go\n  a": "- item\n\n  ```go\n  a\n  ```",
		"1. ```go\n   a":         "1. ```go\n   a\n   ```",
		"> ```\n> a":             "> ```\n> a\n> ```",
		"- ```\n  a\n\ntext":     "- ```\n  a\n\ntext",
	} {
		if got := closeFence(text); got != want {
			t.Errorf("closeFence(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestQuestionType(t *testing.T) {
	for question, want := range map[string]string{
		"How do I mint?": "howto", "What is a zkApp?": "concept", "custom program error: 0x1": "error", "Blockhash not found": "error",
		"createMint example": "code_lookup", "Merkle tree": "general", "": "general", "Is rent due?": "concept", "what's a PDA": "concept",
	} {
		if got := questionType(question); got != want {
			t.Errorf("questionType(%q) = %q, want %q", question, got, want)
		}
	}
}
