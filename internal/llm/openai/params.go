package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// params writes a request in the vendor's words.
func (h habits) params(req *llm.Request, model string) (sdk.ChatCompletionNewParams, error) {
	p := sdk.ChatCompletionNewParams{Model: model}
	if system := h.system(req); system != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(system))
	}
	for i, message := range req.Messages {
		turns, err := turn(message)
		if err != nil {
			return p, fmt.Errorf("message %d: %w", i+1, err)
		}
		p.Messages = append(p.Messages, turns...)
	}
	for _, t := range req.Tools {
		one, err := tool(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, one)
	}
	if req.Temperature != nil && !h.noTemperature {
		p.Temperature = sdk.Float(*req.Temperature)
	}
	if req.Seed != nil && !h.noSeed {
		p.Seed = sdk.Int(*req.Seed)
	}
	if req.MaxTokens > 0 && !h.noTokens {
		if h.completionTokens {
			p.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
		} else {
			p.MaxTokens = sdk.Int(int64(req.MaxTokens))
		}
	}
	return p, h.format(&p, req.Schema)
}

func (h habits) system(req *llm.Request) string {
	if req.Schema == nil || h.form == strict {
		return req.System
	}
	return strings.TrimSpace(req.System + "\n\n" + wire.SchemaInWords(req.Schema))
}

func (h habits) format(p *sdk.ChatCompletionNewParams, s *llm.Schema) error {
	switch {
	case s == nil:
		return nil
	case !json.Valid(s.Schema):
		return fmt.Errorf("the schema %s is no JSON", s.Name)
	case h.form == strict:
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name:   schemaName(s.Name),
				Strict: sdk.Bool(true),
				Schema: s.Schema,
			},
		}
	case h.form == object:
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	return nil
}

// schemaName keeps to the characters and the length the API allows.
func schemaName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "reply"
	}
	return s[:min(len(s), 64)]
}

// turn writes one message. Each result of a tool is a message of its own here,
// and comes before what the user says beside it: results must follow the calls.
func turn(m llm.Message) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var turns []sdk.ChatCompletionMessageParamUnion
	for _, r := range m.Results {
		text := r.Text
		if r.IsError { // there is no flag for it
			text = "error: " + text
		}
		turns = append(turns, sdk.ToolMessage(text, r.ID))
	}
	switch {
	case m.Role == llm.Assistant && (m.Text != "" || len(m.Calls) > 0):
		turns = append(turns, assistant(m))
	case m.Role == llm.User && m.Text != "":
		turns = append(turns, sdk.UserMessage(m.Text))
	case m.Role != llm.User && m.Role != llm.Assistant:
		return nil, fmt.Errorf("nobody is called %q", m.Role)
	}
	if len(turns) == 0 {
		return nil, fmt.Errorf("the %s says nothing", m.Role)
	}
	return turns, nil
}

func assistant(m llm.Message) sdk.ChatCompletionMessageParamUnion {
	one := sdk.ChatCompletionAssistantMessageParam{}
	if m.Text != "" {
		one.Content.OfString = sdk.String(m.Text)
	}
	for _, c := range m.Calls {
		input := string(c.Input)
		if input == "" {
			input = "{}"
		}
		one.ToolCalls = append(one.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID:       c.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: input},
			},
		})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &one}
}

func tool(t llm.Tool) (sdk.ChatCompletionToolUnionParam, error) {
	// The values stay as they were written, so the order of properties does.
	var input map[string]json.RawMessage
	if len(t.Input) > 0 {
		if err := json.Unmarshal(t.Input, &input); err != nil {
			return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("the input schema of tool %s is no JSON object", t.Name)
		}
	}
	f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: shared.FunctionParameters{"type": "object"}}
	for k, v := range input {
		f.Parameters[k] = v
	}
	if t.Description != "" {
		f.Description = sdk.String(t.Description)
	}
	return sdk.ChatCompletionFunctionTool(f), nil
}
