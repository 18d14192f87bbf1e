package tape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/secret"
)

var haiku = llm.Spec{Provider: "anthropic", Model: "claude-haiku-5-5"}

func openTape(t testing.TB, dir string, mode Mode) *Tape {
	t.Helper()
	tape, err := Open(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

func ask(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, Trial: 1}
}

// answered is a model with a full reply to everything.
func answered(calls *atomic.Int64) llm.Model {
	return llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) {
		n := calls.Add(1)
		return &llm.Reply{
			Text:  fmt.Sprintf("answer %d to <%s> & more \u2028", n, req.Messages[0].Text),
			Calls: []llm.ToolCall{{ID: "1", Name: "search", Input: json.RawMessage(`{"q": "<a>",  "n": 1.0}`)}}, Finish: llm.ToolUse,
			Usage: eval.Usage{Calls: 1, Input: 123, Output: 45, CacheRead: 100, Cost: 123456789}, Model: "claude-haiku-5-5-20261007",
			Latency: 1234567891 * time.Nanosecond, Tries: 3, Notes: []string{"temperature was left out"},
			Limits: &llm.Limits{},
		}, nil
	})
}

func TestAReplayGivesWhatWasRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	var calls atomic.Int64
	recorder := openTape(t, dir, Record).Wrap(haiku, answered(&calls))
	replayer := func() llm.Model { return openTape(t, dir, Replay).Wrap(haiku, nil) }
	requests := []*llm.Request{ask("a"), ask("b"), {Messages: ask("a").Messages, Trial: 2}, {Messages: ask("a").Messages, Trial: 1, Sample: 1}, {Messages: ask("a").Messages, Trial: 1, System: "s"}}
	var want []*llm.Reply
	for _, req := range requests {
		r, err := recorder.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	if calls.Load() != int64(len(requests)) {
		t.Errorf("%d calls were made for %d that differ", calls.Load(), len(requests))
	}
	m := replayer()
	for i, req := range requests {
		got, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("request %d (-recorded +replayed):\n%s", i, diff)
		}
	}
	if calls.Load() != int64(len(requests)) {
		t.Error("the replay made calls")
	}
	if got := want[0]; got.Latency != 1234567891 || got.Usage.Cost != 123456789 || got.Tries != 3 || !strings.Contains(got.Text, "<a> & more \u2028") || string(got.Calls[0].Input) != `{"q":"<a>","n":1.0}` {
		t.Errorf("the reply is not what the model gave: %+v", got)
	}
}

func TestEqualCallsAreOneCall(t *testing.T) {
	for _, mode := range []Mode{Record, Cache} {
		var calls atomic.Int64
		tape := openTape(t, filepath.Join(t.TempDir(), "tape"), mode)
		slow := llm.ModelFunc(func(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
			time.Sleep(time.Millisecond)
			return answered(&calls).Generate(ctx, req)
		})
		m := tape.Wrap(haiku, slow)
		var wg sync.WaitGroup
		texts := make([]string, 40)
		for i := range texts {
			wg.Go(func() {
				r, err := m.Generate(t.Context(), ask(fmt.Sprint(i%4)))
				if err != nil {
					t.Error(err)
					return
				}
				texts[i] = r.Text
			})
		}
		wg.Wait()
		if calls.Load() != 4 {
			t.Errorf("mode %d: %d calls were made for 4 that differ", mode, calls.Load())
		}
		for i := range texts {
			if texts[i] != texts[i%4] {
				t.Errorf("mode %d: equal calls got %q and %q", mode, texts[i], texts[i%4])
			}
		}
		if len(tape.busy) != 0 {
			t.Errorf("mode %d: %d calls are under way when all have ended", mode, len(tape.busy))
		}
	}
}

func TestARecordingIsMadeAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	var calls atomic.Int64
	for want := range 2 {
		r, err := openTape(t, dir, Record).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("a"))
		if err != nil || !strings.HasPrefix(r.Text, fmt.Sprintf("answer %d", want+1)) {
			t.Errorf("recording %d: %v, %v", want+1, r, err)
		}
	}
}

func TestAnUnrecordedCallIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	openTape(t, dir, Record)
	m := openTape(t, dir, Replay).Wrap(llm.Spec{Provider: llm.Compatible, Model: "big", Endpoint: "gate"}, nil)
	req := ask("How do I\n\n create " + strings.Repeat("long ", 30))
	req.Trial = 3
	_, err := m.Generate(t.Context(), req)
	want := fmt.Sprintf("openai-compatible:big@gate: the tape %s has no reply to %q, trial 3, sample 0: it was not recorded, or what is asked has changed",
		dir, "How do I create long long long long long long long long long long long long long…")
	if llm.ClassOf(err) != llm.Unrecorded || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestErrorsAreReplayedAsTheyWere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	fail := fmt.Errorf("%w; tried 4 times", &llm.Error{Class: llm.Server, Provider: "anthropic", Model: "m", Status: 500, Message: "broken"})
	m := openTape(t, dir, Record).Wrap(haiku, llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) { return nil, fail }))
	_, recorded := m.Generate(t.Context(), ask("a"))
	_, replayed := openTape(t, dir, Replay).Wrap(haiku, nil).Generate(t.Context(), ask("a"))
	for name, err := range map[string]error{"recorded": recorded, "replayed": replayed} {
		var e *llm.Error
		if !errors.As(err, &e) || err.Error() != "anthropic:m: broken (HTTP 500); tried 4 times" || e.Class != llm.Server || e.Status != 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	var calls atomic.Int64
	r, err := openTape(t, dir, Cache).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("a"))
	if err != nil || r.Cached || calls.Load() != 1 {
		t.Errorf("a cache took an error for a reply: %v, %v", r, err)
	}
}

func TestWhatIsNotTheCallsDoingIsNotRecorded(t *testing.T) {
	for name, fail := range map[string]error{
		"a stop":       &eval.Stop{Why: "the budget is spent"},
		"a held key":   &llm.Error{Class: llm.Overloaded, Message: "no reply", Err: &eval.Stop{Why: "no reply"}},
		"another":      errors.New("internal"),
		"a lost reply": context.Canceled,
	} {
		dir := filepath.Join(t.TempDir(), "tape")
		m := openTape(t, dir, Record).Wrap(haiku, llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) { return nil, fail }))
		if _, err := m.Generate(t.Context(), ask("a")); !errors.Is(err, fail) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := openTape(t, dir, Replay).Wrap(haiku, nil).Generate(t.Context(), ask("a")); llm.ClassOf(err) != llm.Unrecorded {
			t.Errorf("%s: it is on the tape: %v", name, err)
		}
	}
}

// What is no whole reply makes a case an error, and errors are asked again.
func TestACacheKeepsWholeRepliesOnly(t *testing.T) {
	for _, tt := range []struct {
		reply llm.Reply
		kept  bool
	}{
		{llm.Reply{Text: "whole", Finish: llm.Stop}, true},
		{llm.Reply{Calls: []llm.ToolCall{{ID: "1", Name: "search", Input: json.RawMessage("{}")}}, Finish: llm.ToolUse}, true},
		{llm.Reply{Refused: "no", Finish: llm.Refusal}, true},
		{llm.Reply{Text: "half", Finish: llm.Truncated}, false},
		{llm.Reply{Text: "half", Finish: llm.Filtered}, false},
		{llm.Reply{Text: "half", Finish: llm.Unknown}, false},
		{llm.Reply{Text: " \n", Finish: llm.Stop}, false},
	} {
		dir := t.TempDir()
		calls := 0
		m := llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) {
			calls++
			return &tt.reply, nil
		})
		for range 2 {
			r, err := openTape(t, dir, Cache).Wrap(haiku, m).Generate(t.Context(), ask("a"))
			if err != nil || r.Text != tt.reply.Text || r.Finish != tt.reply.Finish {
				t.Errorf("%+v: got %+v, %v", tt.reply, r, err)
			}
		}
		if kept := calls == 1; kept != tt.kept {
			t.Errorf("%+v: kept %v, want %v", tt.reply, kept, tt.kept)
		}
	}
}

func TestACacheCostsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	var calls atomic.Int64
	var replies []*llm.Reply
	for range 2 {
		r, err := openTape(t, dir, Cache).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("a"))
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, r)
	}
	first, second := replies[0], replies[1]
	if calls.Load() != 1 || first.Cached || first.Usage.Calls != 1 {
		t.Errorf("%d calls, the first reply is %+v", calls.Load(), first)
	}
	if !second.Cached || second.Usage != (eval.Usage{}) || second.Text != first.Text || second.Latency != first.Latency {
		t.Errorf("the second reply is %+v", second)
	}
	broken := llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) {
		return nil, &llm.Error{Class: llm.Invalid, Message: "no"}
	})
	if _, err := openTape(t, dir, Cache).Wrap(haiku, broken).Generate(t.Context(), ask("b")); llm.ClassOf(err) != llm.Invalid {
		t.Errorf("got %v", err)
	}
	if r, err := openTape(t, dir, Cache).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("b")); err != nil || r.Cached {
		t.Errorf("an error was kept: %v, %v", r, err)
	}
}

func TestSecretsAreNotWritten(t *testing.T) {
	const key = "sk-ant-\"quoted\"-0123456789"
	dir := filepath.Join(t.TempDir(), "tape")
	tape := openTape(t, dir, Record)
	tape.Redact = secret.NewRedactor(secret.Least)
	tape.Redact.Add(secret.Mark, key)
	quoted, err := json.Marshal(map[string]string{"token": key, key: "x"})
	if err != nil {
		t.Fatal(err)
	}
	echo := llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Text == "fail" {
			return nil, &llm.Error{Class: llm.Invalid, Message: "bad key " + key}
		}
		return &llm.Reply{Text: "you said " + last.Text, Calls: []llm.ToolCall{{Name: "t", Input: quoted}}}, nil
	})
	conversation := func(m llm.Model) (texts []string) {
		t.Helper()
		req := ask("my key is " + key)
		r, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: r.Text, Calls: r.Calls}, llm.Message{Role: llm.User, Text: "again"})
		again, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Generate(t.Context(), ask("fail"))
		return append(texts, r.Text, again.Text, err.Error())
	}
	recorded := conversation(tape.Wrap(haiku, echo))
	if err := tape.Save("answer", key, map[string]any{"text": key, "n": 1}); err != nil {
		t.Fatal(err)
	}
	// Nobody knows the key when it is replayed.
	if diff := cmp.Diff(recorded, conversation(openTape(t, dir, Replay).Wrap(haiku, nil))); diff != "" {
		t.Errorf("(-recorded +replayed):\n%s", diff)
	}
	var value struct{ Text string }
	if ok, err := openTape(t, dir, Replay).Load("answer", key, &value); !ok || err != nil || value.Text != "[redacted]" {
		t.Errorf("%v, %v, %v", value, ok, err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "0123456789") {
			t.Errorf("%s holds the key:\n%s", path, b)
		}
		return err
	})
	if err != nil || files != 5 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestAnEntryIsForPeopleToRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	m := openTape(t, dir, Record).Wrap(haiku, llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) {
		return &llm.Reply{Text: "a < b", Finish: llm.Stop, Model: "m", Latency: time.Second, Usage: eval.Usage{Calls: 1, Input: 3, Output: 2, Cost: eval.Dollars(0.5)}}, nil
	}))
	if _, err := m.Generate(t.Context(), ask("a & b")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "model", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	got, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "format": 2,
  "kind": "model",
  "key": {
    "model": "anthropic:claude-haiku-5-5",
    "request": {
      "messages": [
        {
          "role": "user",
          "text": "a & b"
        }
      ],
      "trial": 1
    }
  },
  "value": {
    "reply": {
      "text": "a < b",
      "finish": "stop",
      "usage": {
        "calls": 1,
        "input": 3,
        "output": 2,
        "cost_usd": 0.5
      },
      "model": "m",
      "latency": 1000000000
    }
  }
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The name is part of the format: a tape that is in version control must
	// be found by the next version.
	if name := filepath.Base(files[0]); name != "106cec106eb99fb68f2db6a348eeb03a.json" {
		t.Errorf("the entry is named %s", name)
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`{"format": 2,`: "unexpected end of JSON input",
		`{}`:            "it is no entry of a tape",
		`{"format": 3, "kind": "model", "key": {}, "value": {}}`:  "it has format 3",
		`{"format": 1, "kind": "model", "key": {}, "value": {}}`:  "it was made by an older mettle: record it again",
		`{"format": 2, "kind": "model", "key": {}}`:               "it has no key or no value",
		`{"format": 2, "kind": "answer", "key": {}, "value": {}}`: `it is of the kind "answer"`,
		`{"format": 2, "kind": "model", "key": {}, "value": {}}`:  "neither a reply nor an error",
		`{"format": 2, "kind": "model", "key": {}, "value": "x"}`: "cannot unmarshal",
		`<<<<<<< HEAD`: "invalid character",
	} {
		dir := filepath.Join(t.TempDir(), "tape")
		var calls atomic.Int64
		if _, err := openTape(t, dir, Record).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("a")); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "model", "*.json"))
		if err := os.WriteFile(files[0], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []Mode{Replay, Cache} {
			_, err := openTape(t, dir, mode).Wrap(haiku, answered(&calls)).Generate(t.Context(), ask("a"))
			if err == nil || !strings.HasPrefix(err.Error(), "tape entry "+files[0]+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", text, err, want)
			}
		}
		for _, err := range openTape(t, dir, Replay).Calls() {
			if err == nil || !strings.HasPrefix(err.Error(), "tape entry "+files[0]+": ") {
				t.Errorf("%s: calls give %v", text, err)
			}
		}
	}
}

func TestTapesAreOpenedWithCare(t *testing.T) {
	root := t.TempDir()
	full := filepath.Join(root, "full")
	newer, older := filepath.Join(root, "newer"), filepath.Join(root, "older")
	odd := filepath.Join(root, "odd")
	for path, text := range map[string]string{
		filepath.Join(full, "main.go"): "package main",
		filepath.Join(older, marker):   `{"format": 1}`,
		filepath.Join(newer, marker):   `{"format": 7}`,
		filepath.Join(odd, marker):     `nothing`,
		filepath.Join(root, "file"):    "x",
	} {
		if err := fsx.WritePrivate(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		dir  string
		mode Mode
		want string
	}{
		{filepath.Join(root, "none"), Replay, "is no tape: it has no tape.json"},
		{full, Replay, "is no tape"},
		{full, Record, "holds other things"},
		{newer, Replay, "has format 7, and this mettle reads format 2"},
		{older, Replay, "older was made by an older mettle: record it again"},
		{older, Record, "older was made by an older mettle: record it again"},
		{odd, Cache, "invalid character"},
		{filepath.Join(root, "file"), Record, "not a directory"},
	} {
		if _, err := Open(tt.dir, tt.mode); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.dir, err, tt.want)
		}
	}
	empty := t.TempDir()
	if tape := openTape(t, empty, Record); tape.Mode() != Record || tape.Dir() != empty {
		t.Error("an empty folder is not taken")
	}
}

func TestOtherExchangesAreKeptToo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	tape := openTape(t, dir, Record)
	type key struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	type value struct {
		Text       string
		Structured json.RawMessage
	}
	if err := tape.Save("answer", key{"search", json.RawMessage(`{"b": 2, "a": 12345678901234567890}`)}, value{"yes", json.RawMessage(`{"x": [1, 2]}`)}); err != nil {
		t.Fatal(err)
	}
	if err := tape.Save("target", "docs", nil); err != nil {
		t.Fatal(err)
	}
	replay := openTape(t, dir, Replay)
	var got value
	if ok, err := replay.Load("answer", map[string]any{"input": json.RawMessage(`{"a":12345678901234567890,"b":2}`), "tool": "search"}, &got); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if diff := cmp.Diff(value{"yes", json.RawMessage(`{"x":[1,2]}`)}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var described map[string]string
	if ok, err := replay.Load("target", "docs", &described); !ok || err != nil || described != nil {
		t.Errorf("%v, %v, %v", described, ok, err)
	}
	if ok, err := replay.Load("answer", key{"search", json.RawMessage(`{"b": 2, "a": 12345678901234567891}`)}, &got); ok || err != nil {
		t.Errorf("another number is the same key: %v, %v", ok, err)
	}
	if ok, err := replay.Load("target", key{"search", nil}, &got); ok || err != nil {
		t.Errorf("another kind has it: %v, %v", ok, err)
	}
	if err := replay.Save("answer", 1, 2); err == nil {
		t.Error("a tape that is replayed was written")
	}
	if err := tape.Save("../evil", 1, 2); err == nil {
		t.Error("a kind may leave the folder")
	}
}

func TestCallsAreListed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	var calls atomic.Int64
	tape := openTape(t, dir, Record)
	for i := range 5 {
		if _, err := tape.Wrap(haiku, answered(&calls)).Generate(t.Context(), ask(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	broken := llm.ModelFunc(func(context.Context, *llm.Request) (*llm.Reply, error) {
		return nil, &llm.Error{Class: llm.Invalid, Message: "no"}
	})
	_, _ = tape.Wrap(haiku, broken).Generate(t.Context(), ask("bad"))
	if err := os.WriteFile(filepath.Join(dir, "model", ".tape-1.json"), []byte("left behind"), 0o644); err != nil {
		t.Fatal(err)
	}
	list := func() (out []string) {
		for c, err := range openTape(t, dir, Replay).Calls() {
			if err != nil {
				t.Fatal(err)
			}
			if c.Spec != haiku || (c.Reply == nil) == (c.Err == nil) {
				t.Errorf("%+v", c)
			}
			out = append(out, c.Request.Messages[0].Text)
		}
		return out
	}
	first := list()
	if len(first) != 6 {
		t.Errorf("%d calls, want 6", len(first))
	}
	if diff := cmp.Diff(first, list()); diff != "" {
		t.Errorf("the order changes:\n%s", diff)
	}
	for range openTape(t, filepath.Join(t.TempDir(), "new"), Record).Calls() {
		t.Error("an empty tape has calls")
	}
}

// Two programs may write the same tape.
func TestTapesHaveManyWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tape")
	var calls atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		m := openTape(t, dir, Cache).Wrap(haiku, answered(&calls))
		for i := range 20 {
			wg.Go(func() {
				if r, err := m.Generate(t.Context(), ask(fmt.Sprint(i))); err != nil || !strings.Contains(r.Text, fmt.Sprintf("<%d>", i)) {
					t.Errorf("%v, %v", r, err)
				}
			})
		}
	}
	wg.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "model", ".*")); len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}

func FuzzTapeEntry(f *testing.F) {
	tape := &Tape{dir: f.TempDir(), mode: Record}
	b, err := tape.encode(modelEntry, modelKey{"openai:m", ask("a")}, outcome{Reply: &llm.Reply{Text: "b"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format": 2, "kind": "model", "key": null, "value": null}`))
	f.Add([]byte(`{"format": 2, "kind": "model", "key": {"model": "openai:m", "request": {}}, "value": {"error": {}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseEntry(b)
		if err != nil {
			return
		}
		c, err := (&Entry{Key: e.Key, Value: e.Value}).call()
		if err != nil {
			return
		}
		if c.Request == nil || (c.Reply == nil) == (c.Err == nil) {
			t.Fatalf("%s is the call %+v", b, c)
		}
		if _, err := canonical(modelKey{c.Spec.String(), c.Request}); err != nil {
			t.Fatalf("%s was read and cannot be a key: %v", b, err)
		}
	})
}
