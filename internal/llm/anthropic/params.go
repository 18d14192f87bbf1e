package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// params writes a request in the vendor's words.
func (h habits) params(req *llm.Request, c Config) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: c.Model, MaxTokens: int64(h.maxTokens(req, c)), System: h.system(req)}
	for i, message := range req.Messages {
		one, err := turn(message)
		if err != nil {
			return p, fmt.Errorf("message %d: %w", i+1, err)
		}
		p.Messages = append(p.Messages, one)
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
	if req.Schema != nil && !h.noSchema {
		if !json.Valid(req.Schema.Schema) {
			return p, fmt.Errorf("the schema %s is no JSON", req.Schema.Name)
		}
		// Written as it is: the client's own field is a map, which loses the
		// order of the properties, and with it "reasoning before score".
		format, _ := json.Marshal(map[string]any{"type": "json_schema", "schema": req.Schema.Schema})
		p.OutputConfig.Format = param.Override[sdk.JSONOutputFormatParam](json.RawMessage(format))
	}
	return p, nil
}

func (h habits) maxTokens(req *llm.Request, c Config) int {
	switch {
	case req.MaxTokens > 0:
		return req.MaxTokens
	case h.mostTokens > 0:
		return min(h.mostTokens, c.MaxTokens)
	}
	return c.MaxTokens
}

// system writes the system text. Whatever differs from call to call comes
// after the block that is to be kept, or nothing would ever be found again.
func (h habits) system(req *llm.Request) []sdk.TextBlockParam {
	var blocks []sdk.TextBlockParam
	if req.System != "" {
		block := sdk.TextBlockParam{Text: req.System}
		if req.CacheSystem {
			block.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		blocks = append(blocks, block)
	}
	if req.Schema != nil && h.noSchema {
		blocks = append(blocks, sdk.TextBlockParam{Text: wire.SchemaInWords(req.Schema)})
	}
	return blocks
}

// turn writes one message. Results come before the text: the API insists.
func turn(m llm.Message) (sdk.MessageParam, error) {
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range m.Results {
		blocks = append(blocks, result(r))
	}
	if m.Text != "" {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	for _, c := range m.Calls {
		input := c.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		if !json.Valid(input) {
			return sdk.MessageParam{}, fmt.Errorf("the input of %s is no JSON", c.Name)
		}
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, input, c.Name))
	}
	switch {
	case len(blocks) == 0:
		return sdk.MessageParam{}, fmt.Errorf("the %s says nothing", m.Role)
	case m.Role == llm.User:
		return sdk.NewUserMessage(blocks...), nil
	case m.Role == llm.Assistant:
		return sdk.NewAssistantMessage(blocks...), nil
	}
	return sdk.MessageParam{}, fmt.Errorf("nobody is called %q", m.Role)
}

func result(r llm.ToolResult) sdk.ContentBlockParamUnion {
	block := sdk.ToolResultBlockParam{ToolUseID: r.ID}
	if r.Text != "" { // an empty text block is refused, no block is not
		block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}}
	}
	if r.IsError {
		block.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &block}
}

func tool(t llm.Tool) (sdk.ToolUnionParam, error) {
	input := t.Input
	if len(input) == 0 {
		input = json.RawMessage(`{"type":"object"}`)
	}
	if !json.Valid(input) {
		return sdk.ToolUnionParam{}, fmt.Errorf("the input schema of tool %s is no JSON", t.Name)
	}
	one := sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](input)}
	if t.Description != "" {
		one.Description = sdk.String(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: &one}, nil
}
