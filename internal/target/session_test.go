package target

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/tape"
	"github.com/mettle-eval/mettle/internal/mcpclient"
)

func onTape(t *testing.T, dir string, mode tape.Mode) *tape.Tape {
	t.Helper()
	tp, err := tape.Open(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

// supplied is a server with a tape.
func supplied(t *testing.T, m *MCP, tp *tape.Tape, cases ...*eval.Case) *MCP {
	t.Helper()
	if err := m.Use(Supplies{Name: "docs", Tape: tp}); err != nil {
		t.Fatal(err)
	}
	return prepared(t, m, cases...)
}

// refuse makes calls of a tool fail: with a status, or as JSON-RPC error.
func refuse(t *testing.T, server, tool string, status int, rpc string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		_, _ = b.ReadFrom(r.Body)
		var msg struct{ ID json.RawMessage }
		if strings.Contains(b.String(), `"`+tool+`"`) && json.Unmarshal(b.Bytes(), &msg) == nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(msg.ID) + `,"error":` + rpc + `}`))
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, server, &b)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		var answer bytes.Buffer
		_, _ = answer.ReadFrom(res.Body)
		_, _ = w.Write(answer.Bytes())
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func TestAServerIsReplayedWithoutIt(t *testing.T) {
	r := newRecorder(t)
	broken := refuse(t, r.url, "crypto_delete_everything", http.StatusOK, `{"code":-32603,"message":"it broke"}`)
	url := refuse(t, broken, "crypto_fail", http.StatusOK, `{"code":-32602,"message":"no such argument"}`)
	dir := filepath.Join(t.TempDir(), "tape")
	cases := []*eval.Case{
		{ID: "1", Tool: "ask_docs", Project: "mina", Input: json.RawMessage(`{"question":"x"}`)},
		{ID: "2", Tool: "search_docs", Input: json.RawMessage(`{"query":"z"}`)},
		{ID: "3", Tool: "fail", Input: json.RawMessage(`{}`)},
		{ID: "4", Tool: "delete_everything", Input: json.RawMessage(`{}`)},
	}
	ask := func(m *MCP) (out []any) {
		t.Helper()
		for _, c := range cases {
			resp, err := m.Respond(t.Context(), &eval.Attempt{Case: c})
			if err != nil {
				out = append(out, *eval.FaultOf(err))
				continue
			}
			out = append(out, *resp)
		}
		return append(out, m.Describe())
	}
	recorded := ask(supplied(t, &MCP{URL: url}, onTape(t, dir, tape.Record), cases...))
	calls := len(r.calls)
	m := supplied(t, &MCP{URL: "http://127.0.0.1:9"}, onTape(t, dir, tape.Replay), cases...)
	replayed := ask(m)
	if diff := cmp.Diff(recorded, replayed); diff != "" || calls != 2 || len(r.calls) != calls {
		t.Errorf("after %d calls, replayed: (-recorded +replayed)\n%s", calls, diff)
	}
	if first, ok := replayed[0].(eval.Response); !ok || first.Text != "First.\nSecond." || first.Meta["confidence"] != 9.0 || first.Latency <= 0 || first.Exchange.Response == nil {
		t.Errorf("the first answer is %+v", replayed[0])
	}
	if third, ok := replayed[2].(eval.Response); !ok || !third.IsError || third.Text != "no such argument" {
		t.Errorf("arguments that were turned down: %+v", replayed[2])
	}
	if fourth, ok := replayed[3].(eval.Fault); !ok || fourth.Class != string(mcpclient.ClassRPC) || !strings.Contains(fourth.Message, "it broke") {
		t.Errorf("a call that failed: %+v", replayed[3])
	}

	// What a server wraps its answers in is read anew.
	other := supplied(t, &MCP{URL: "http://127.0.0.1:9", Envelope: Envelope{Tag: "other"}}, onTape(t, dir, tape.Replay), cases...)
	if resp, err := other.Respond(t.Context(), &eval.Attempt{Case: cases[0]}); err != nil || !strings.Contains(resp.Text, "response_metadata") {
		t.Errorf("with another envelope: %+v, %v", resp, err)
	}
	for name, a := range map[string]*eval.Attempt{
		"another case":  {Case: &eval.Case{ID: "9", Tool: "ask_docs", Project: "mina", Input: cases[0].Input}},
		"another trial": {Case: cases[0], Trial: 2},
		"another arm":   {Case: cases[0], Arm: "old"},
	} {
		if _, err := m.Respond(t.Context(), a); err == nil || eval.FaultOf(err).Class != string(llm.Unrecorded) {
			t.Errorf("%s: %v, want it not to be on the tape", name, err)
		}
	}
	elsewhere := &MCP{URL: url}
	if err := elsewhere.Use(Supplies{Name: "elsewhere", Tape: onTape(t, dir, tape.Replay)}); err != nil {
		t.Fatal(err)
	}
	var missing *eval.Missing
	if err := elsewhere.Prepare(t.Context(), nil, nil); !errors.As(err, &missing) || !strings.Contains(err.Error(), "the target elsewhere is not on the tape") {
		t.Errorf("a target that was not recorded: %v", err)
	}
}

func TestACachedErrorIsAskedAgain(t *testing.T) {
	r := newRecorder(t)
	c := &eval.Case{ID: "1", Tool: "ask_docs", Input: json.RawMessage(`{}`)}
	dir := filepath.Join(t.TempDir(), "tape")
	broken := supplied(t, &MCP{URL: refuse(t, r.url, "crypto_ask_docs", http.StatusOK, `{"code":-32603,"message":"it broke"}`), Tools: Tools{Prefix: "crypto_"}}, onTape(t, dir, tape.Record), c)
	if _, err := broken.Respond(t.Context(), &eval.Attempt{Case: c}); err == nil {
		t.Fatal("the call went well")
	}
	for want := range 2 { // the error of the recording will not do, the answer will
		m := supplied(t, &MCP{URL: r.url}, onTape(t, dir, tape.Cache), c)
		resp, err := m.Respond(t.Context(), &eval.Attempt{Case: c})
		if err != nil || resp.Text != "First.\nSecond." || len(r.calls) != 1 {
			t.Errorf("time %d: %+v, %v after %d calls", want, resp, err, len(r.calls))
		}
	}
}

func TestEqualCallsOfAnAttemptAreTold(t *testing.T) {
	r := newRecorder(t)
	dir := filepath.Join(t.TempDir(), "tape")
	tp := onTape(t, dir, tape.Record)
	m := supplied(t, &MCP{URL: r.url}, tp)
	a := &eval.Attempt{Case: &eval.Case{ID: "1"}}
	var steps []eval.Step
	for _, args := range []string{`{"a":1}`, `{"a":1}`, `{"a":2}`, `{"a":1}`} {
		if _, err := m.call(t.Context(), a, &steps, "crypto_ask_docs", json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.calls) != 4 || len(steps) != 4 || steps[3].ID != "4" || steps[3].Duration <= 0 {
		t.Errorf("%d calls, steps %+v", len(r.calls), steps)
	}
	times := map[string]int{}
	for c, err := range ToolCalls(tp) {
		if err != nil {
			t.Fatal(err)
		}
		times[string(c.Args)] += c.Repeat
	}
	if diff := cmp.Diff(map[string]int{`{"a":1}`: 6, `{"a":2}`: 1}, times); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestARecordedCallIsMadeAgain(t *testing.T) {
	r := newRecorder(t)
	dir := filepath.Join(t.TempDir(), "tape")
	c := &eval.Case{ID: "1", Tool: "ask_docs", Project: "mina", Input: json.RawMessage(`{"question":"x"}`)}
	if _, err := supplied(t, &MCP{URL: r.url}, onTape(t, dir, tape.Record), c).Respond(t.Context(), &eval.Attempt{Case: c}); err != nil {
		t.Fatal(err)
	}
	live := supplied(t, &MCP{URL: r.url}, nil)
	down := supplied(t, &MCP{URL: refuse(t, r.url, "crypto_ask_docs", http.StatusForbidden, `{}`)}, nil)
	n := 0
	for call, err := range ToolCalls(onTape(t, dir, tape.Replay)) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if call.Server != "docs" || call.String() != `docs crypto_ask_docs {"question":"x","project":"mina"}` {
			t.Errorf("the call is %s", call)
		}
		was, is, err := call.Again(t.Context(), live)
		if diff := cmp.Diff(was, is, cmpopts.IgnoreFields(eval.Response{}, "Latency", "Exchange")); err != nil || was.Text != "First.\nSecond." || diff != "" {
			t.Errorf("%v (-was +is):\n%s", err, diff)
		}
		if was, _, err := call.Again(t.Context(), down); err == nil || was == nil {
			t.Errorf("a server that refuses: %v, %v", was, err)
		}
		if _, _, err := call.Again(t.Context(), new(SkillFile)); err == nil {
			t.Error("a target without tools was asked")
		}
	}
	if n != 1 || len(r.calls) != 2 {
		t.Errorf("%d calls on the tape, %d made", n, len(r.calls))
	}
}

func TestDamagedCallsAreNamed(t *testing.T) {
	r := newRecorder(t)
	dir := filepath.Join(t.TempDir(), "tape")
	c := &eval.Case{ID: "1", Tool: "ask_docs", Input: json.RawMessage(`{}`)}
	if _, err := supplied(t, &MCP{URL: r.url}, onTape(t, dir, tape.Record), c).Respond(t.Context(), &eval.Attempt{Case: c}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "tool", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for text, want := range map[string]string{
		`{"format": 2, "kind": "tool", "key": {}, "value": {}}`:                  "neither a response nor an error",
		`{"format": 2, "kind": "tool", "key": {}, "value": {"attempts": "one"}}`: "cannot unmarshal",
		`{`: "unexpected end",
	} {
		if err := os.WriteFile(files[0], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := supplied(t, &MCP{URL: "http://127.0.0.1:9"}, onTape(t, dir, tape.Replay), c).Respond(t.Context(), &eval.Attempt{Case: c})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), files[0]) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		for _, err := range ToolCalls(onTape(t, dir, tape.Replay)) {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), files[0]) {
				t.Errorf("%s: calls give %v, want %s", text, err, want)
			}
		}
	}
}

func FuzzToolValue(f *testing.F) {
	f.Add([]byte(`{"response": {"content": [{"type": "text", "text": "x"}]}, "latency": 5}`))
	f.Add([]byte(`{"error": {"text": "x", "class": "rpc", "rpc": {"Code": -32602}}}`))
	f.Add([]byte(`{"response": null}`))
	m := new(MCP)
	f.Fuzz(func(t *testing.T, b []byte) {
		var v toolValue
		if json.Unmarshal(b, &v) != nil || v.check() != nil {
			return
		}
		if resp, err := m.answer(v.result()); (resp == nil) == (err == nil) {
			t.Fatalf("%s is %+v, %v", b, resp, err)
		}
	})
}

func TestACallsStepIsComplete(t *testing.T) {
	r := newRecorder(t)
	c := &eval.Case{ID: "1", Tool: "ask_docs", Input: json.RawMessage(`{"question":"x"}`)}
	m := supplied(t, &MCP{URL: r.url}, nil, c)
	var events []eval.Event
	env := &eval.Env{Targets: map[string]eval.Target{"": m}, Now: time.Now, Observe: func(e eval.Event) { events = append(events, e) }}
	res, err := eval.Evaluate(t.Context(), env, c, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	steps := res.Response.Steps
	if len(steps) != 1 || steps[0].ID != "1" || steps[0].Kind != eval.CallStep || steps[0].Name != "crypto_ask_docs" ||
		string(steps[0].Args) != `{"question":"x"}` || steps[0].Start <= 0 || steps[0].Duration != res.Response.Latency {
		t.Errorf("steps %+v", steps)
	}
	if len(events) != 1 || events[0].Kind != eval.ToolEvent || events[0].Name != "crypto_ask_docs" || events[0].Error != "" || events[0].Duration <= 0 {
		t.Errorf("events %+v", events)
	}
}
