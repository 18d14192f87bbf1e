package llm

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Ask makes a call of a model for an attempt and reports it as an event of the
// given kind. Every call of a model in a run is made here. name is that of the
// model, as provider:model.
func Ask(ctx context.Context, a *eval.Attempt, kind eval.EventKind, name string, m Model, req *Request) (*Reply, error) {
	req.Trial = max(1, a.Trial)
	call := a.Begin(kind, name, req)
	reply, err := m.Generate(ctx, req)
	if err == nil && reply == nil {
		err = errors.New("the model returned neither a reply nor an error")
	}
	var usage *eval.Usage
	if err == nil {
		usage = &reply.Usage
	}
	call.End(reply, usage, err)
	return reply, err
}
