package grade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/llm"
)

// scripted are judges that reply from a script: replies separated by lines of
// three dashes. The first lines of a reply may be
//
//	when: words     it answers the first call that has these words in its model, sample or text; any call without
//	finish: how     how the reply ends, stop if not given
//	error: what     there is no reply, but an error
//
// Every reply must be asked for, and every call must have one.
type scripted struct {
	t       testing.TB
	name    string
	mu      sync.Mutex
	replies []*scriptedReply
	asked   []*llm.Request
}

type scriptedReply struct {
	when, finish, err, text string
	used                    bool
}

func newScripted(t testing.TB, name, script string) *scripted {
	j := &scripted{t: t, name: name}
	for _, text := range strings.Split("\n"+script, "\n---\n") {
		r := &scriptedReply{finish: "stop"}
		text = strings.TrimPrefix(text, "\n")
		for more := true; more; {
			line, rest, _ := strings.Cut(text, "\n")
			key, value, _ := strings.Cut(line, ": ")
			into := map[string]*string{"when": &r.when, "finish": &r.finish, "error": &r.err}[key]
			if more = into != nil; more {
				*into, text = value, rest
			}
		}
		r.text = strings.TrimSuffix(text, "\n")
		j.replies = append(j.replies, r)
	}
	if strings.TrimSpace(script) == "" {
		j.replies = nil // a judge that must not be asked
	}
	return j
}

// judges are the script's, the run's own by the name test:judge. A model named
// ollama:absent cannot be had.
func (j *scripted) judges() *judge.Judges {
	named := func(spec string) (llm.Model, error) {
		if spec == "ollama:absent" {
			return nil, errors.New("there is no such model")
		}
		return llm.ModelFunc(func(_ context.Context, req *llm.Request) (*llm.Reply, error) { return j.reply(spec, req) }), nil
	}
	own, _ := named("test:judge")
	return &judge.Judges{Default: own, Name: "test:judge", Named: named, Answer: "ollama:same"}
}

func (j *scripted) reply(model string, req *llm.Request) (*llm.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, req)
	call := fmt.Sprintf("model=%s sample=%d turns=%d\n%s", model, req.Sample, len(req.Messages), said(req))
	for _, r := range j.replies {
		if r.used || !strings.Contains(call, r.when) {
			continue
		}
		r.used = true
		if r.err != "" {
			return nil, &llm.Error{Class: llm.Server, Provider: "test", Model: "judge", Message: r.err}
		}
		return &llm.Reply{Text: r.text, Finish: llm.Finish(r.finish), Usage: eval.Usage{Calls: 1, Input: 100, Output: 10}}, nil
	}
	j.t.Errorf("%s: no reply for the call\n%s", j.name, call)
	return nil, errors.New("no reply in the script")
}

// done wants every reply used.
func (j *scripted) done() {
	j.t.Helper()
	for i, r := range j.replies {
		if !r.used {
			j.t.Errorf("%s: nobody asked for reply %d: %s", j.name, i+1, r.text)
		}
	}
}

// said is all that a request says.
func said(req *llm.Request) string {
	parts := []string{req.System}
	for _, m := range req.Messages {
		parts = append(parts, string(m.Role)+": "+m.Text)
	}
	return strings.Join(parts, "\n\n")
}

// judgedText is what a judged score has beside what every score has.
func judgedText(s eval.Score) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s.Details)) {
		if key == "reasoning" || key == "model" && s.Details[key] == "test:judge" {
			continue
		}
		fmt.Fprintf(&b, "detail: %s: %v\n", key, s.Details[key])
	}
	if s.Usage != nil {
		fmt.Fprintf(&b, "calls: %d\n", s.Usage.Calls)
	}
	for _, inner := range s.Checks {
		fmt.Fprintf(&b, "inside: %s: %s: %s\n", inner.Key, inner.Status, inner.Reason)
	}
	return b.String()
}
