package target_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/target"
)

// memory is a tape that lasts as long as the test.
type memory map[string]json.RawMessage

func (m memory) Load(kind string, key, into any) (bool, error) {
	k, _ := json.Marshal(key)
	b, ok := m[kind+string(k)]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(b, into)
}

func (m memory) Save(kind string, key, value any) error {
	k, _ := json.Marshal(key)
	b, err := json.Marshal(value)
	m[kind+string(k)] = b
	return err
}

type brokenNow struct{}

func (brokenNow) Error() string { return "the line broke" }
func (brokenNow) Class() string { return eval.TransportFault }

func TestARecordedTargetIsReplayedWithoutIt(t *testing.T) {
	calls := 0
	server := eval.TargetFunc(func(_ context.Context, c *eval.Case) (*eval.Response, error) {
		calls++
		if c.Tool == "broken" {
			return nil, brokenNow{}
		}
		return &eval.Response{
			Text: "answer to " + c.Tool, Latency: 1500 * time.Microsecond,
			Steps: []eval.Step{{Kind: "call", Name: c.Tool, Duration: time.Millisecond}},
		}, nil
	})
	tape := memory{}
	cases := []*eval.Case{{ID: "1", Tool: "a", Input: json.RawMessage(`{"q":1}`)}, {ID: "2", Tool: "broken", Input: json.RawMessage(`{}`)}}
	ask := func(r *target.Recorded) (out []any) {
		t.Helper()
		if err := r.Prepare(t.Context(), eval.Env{Cases: cases}); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			resp, err := r.Respond(t.Context(), c)
			if err != nil {
				out = append(out, *eval.FaultOf(err))
				continue
			}
			out = append(out, *resp)
		}
		return out
	}
	recorded := ask(&target.Recorded{Name: "docs", Target: server, Tape: tape, Taping: target.Recording})
	replayed := ask(&target.Recorded{Name: "docs", Target: nil, Tape: tape, Taping: target.Replaying})
	if diff := cmp.Diff(recorded, replayed); diff != "" || calls != 2 {
		t.Errorf("after %d calls, replayed: (-recorded +replayed)\n%s", calls, diff)
	}

	replay := &target.Recorded{Name: "docs", Tape: tape, Taping: target.Replaying}
	_, err := replay.Respond(t.Context(), &eval.Case{ID: "3", Tool: "new", Input: json.RawMessage(`{}`)})
	if f := eval.FaultOf(errors.Join(err)); err == nil || f.Class != "unrecorded" {
		t.Errorf("a call that was not recorded: %v", err)
	}
	other := &target.Recorded{Name: "elsewhere", Tape: tape, Taping: target.Replaying}
	if err := other.Prepare(t.Context(), eval.Env{}); err == nil {
		t.Error("a target that was not recorded could be prepared")
	}
}

func TestACachedErrorIsAskedAgain(t *testing.T) {
	calls := 0
	server := eval.TargetFunc(func(context.Context, *eval.Case) (*eval.Response, error) {
		if calls++; calls == 1 {
			return nil, brokenNow{}
		}
		return &eval.Response{Text: "fine"}, nil
	})
	r := &target.Recorded{Name: "docs", Target: server, Tape: memory{}, Taping: target.Caching}
	c := &eval.Case{ID: "1", Tool: "a", Input: json.RawMessage(`{}`)}
	for i, want := range []string{"", "fine", "fine"} {
		resp, err := r.Respond(t.Context(), c)
		if (err != nil) != (want == "") || (resp != nil && resp.Text != want) {
			t.Errorf("call %d: %v, %v", i, resp, err)
		}
	}
	if calls != 2 {
		t.Errorf("%d calls, want the failed one and the one that was kept", calls)
	}
}
