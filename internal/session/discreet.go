package session

import (
	"context"
	"errors"
	"slices"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/secret"
)

// discreetModel is a model whose replies and errors hold no secret: what a
// vendor or a gateway echoes would be stored and reported.
type discreetModel struct {
	vendorModel
	hide *secret.Redactor
}

// Generate asks, and cleans the reply.
func (d *discreetModel) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	reply, err := d.vendorModel.Generate(ctx, req)
	if reply == nil || err != nil {
		return reply, d.clean(err)
	}
	clean := *reply
	clean.Text, clean.Refused, clean.Model = d.hide.String(reply.Text), d.hide.String(reply.Refused), d.hide.String(reply.Model)
	clean.Calls = slices.Clone(reply.Calls)
	for i, call := range clean.Calls {
		clean.Calls[i].ID, clean.Calls[i].Name, clean.Calls[i].Input = d.hide.String(call.ID), d.hide.String(call.Name), d.hide.JSON(call.Input)
	}
	return &clean, nil
}

// Check tells whether the model can be asked.
func (d *discreetModel) Check(ctx context.Context) error { return d.clean(d.vendorModel.Check(ctx)) }

// clean is an error without secrets. The client has taken its own key out.
func (d *discreetModel) clean(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || d.hide.String(e.Message) == e.Message {
		return err
	}
	clean := *e
	clean.Message, clean.Err = d.hide.String(e.Message), nil // what it wraps says the same
	return &clean
}
