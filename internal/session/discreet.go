package session

import (
	"context"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/secret"
)

// discreetModel is a model whose replies do not hold the key it was asked
// with: what a vendor or a gateway echoes would be stored and reported.
type discreetModel struct {
	vendorModel
	hide *secret.Redactor
}

// discreet keeps a model's key out of its replies. Its errors are the client's
// own to clean.
func (m *models) discreet(spec llm.Spec, client vendorModel) vendorModel {
	variable := m.keyVariable(spec)
	key := strings.TrimSpace(m.w.Getenv(variable))
	if len(key) < secret.Least {
		return client
	}
	hide := secret.NewRedactor(secret.Least)
	hide.Add("["+variable+"]", key)
	return &discreetModel{client, hide}
}

// Generate asks, and cleans the reply.
func (d *discreetModel) Generate(ctx context.Context, req *llm.Request) (*llm.Reply, error) {
	reply, err := d.vendorModel.Generate(ctx, req)
	if reply == nil || err != nil {
		return reply, err
	}
	clean := *reply
	clean.Text, clean.Refused, clean.Model = d.hide.String(reply.Text), d.hide.String(reply.Refused), d.hide.String(reply.Model)
	clean.Calls = slices.Clone(reply.Calls)
	for i, call := range clean.Calls {
		clean.Calls[i].Input = d.hide.JSON(call.Input)
	}
	return &clean, nil
}
