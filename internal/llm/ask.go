package llm

import (
	"context"
	"errors"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Ask makes a call of a model for an attempt and reports it as an event of the
// given kind. Every call of a model in a run is made here. name is that of the
// model, as provider:model. The reply says when the call began.
func Ask(ctx context.Context, a *eval.Attempt, kind eval.EventKind, name string, m Model, req *Request) (*Reply, error) {
	req.Trial = max(1, a.Trial)
	call := a.Begin(kind, name, req)
	reply, err := m.Generate(ctx, req)
	if err == nil && reply == nil {
		err = errors.New("the model returned neither a reply nor an error")
	}
	if err != nil {
		call.End(nil, nil, err)
		return nil, err
	}
	own := *reply // models may give the same one to several callers
	own.Start = call.Start()
	call.End(&own, &own.Usage, nil)
	return &own, nil
}
