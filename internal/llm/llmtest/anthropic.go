package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// anthropic speaks the Messages API, version 2023-06-01.
type anthropic struct{}

func (anthropic) vendor() Vendor { return Anthropic }

func (anthropic) key(r *http.Request) (string, *problem) {
	switch v := r.Header.Get("Anthropic-Version"); {
	case v == "":
		return "", &problem{status: 400, message: "anthropic-version: header is required"}
	case v != "2023-06-01":
		return "", &problem{status: 400, message: fmt.Sprintf("anthropic-version: %q is not a valid version", v)}
	}
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		return "", &problem{status: 401, message: "x-api-key header is required"}
	}
	return key, nil
}

type (
	anthropicRequest struct {
		Model         string
		MaxTokens     *int `json:"max_tokens"`
		Messages      []anthropicMessage
		System        anthropicContent
		Tools         []anthropicTool
		ToolChoice    json.RawMessage `json:"tool_choice"`
		Temperature   *float64
		TopP          *float64 `json:"top_p"`
		TopK          *int     `json:"top_k"`
		StopSequences []string `json:"stop_sequences"`
		Stream        bool
		Metadata      json.RawMessage
		Thinking      json.RawMessage
		ServiceTier   string          `json:"service_tier"`
		CacheControl  *anthropicCache `json:"cache_control"`
		OutputConfig  struct {
			Effort string
			Format *struct {
				Type   string
				Schema json.RawMessage
			}
		} `json:"output_config"`
	}
	anthropicMessage struct {
		Role    string
		Content anthropicContent
	}
	anthropicTool struct {
		Type         string
		Name         string
		Description  string
		InputSchema  json.RawMessage `json:"input_schema"`
		Strict       bool
		CacheControl *anthropicCache `json:"cache_control"`
	}
	anthropicBlock struct {
		Type         string
		Text         string
		ID           string
		Name         string
		Input        json.RawMessage
		ToolUseID    string `json:"tool_use_id"`
		IsError      bool   `json:"is_error"`
		Content      anthropicContent
		CacheControl *anthropicCache `json:"cache_control"`
	}
	anthropicCache struct{ Type, TTL string }
)

// anthropicContent is a string or a list of blocks.
type anthropicContent []anthropicBlock

func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		var text string
		err := json.Unmarshal(data, &text)
		*c = anthropicContent{{Type: "text", Text: text}}
		return err
	}
	var blocks []anthropicBlock
	_, err := decode(data, &blocks)
	*c = blocks
	return err
}

func (c anthropicContent) text() string {
	var all []string
	for _, b := range c {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

func wrong(format string, args ...any) *problem {
	return &problem{status: 400, message: fmt.Sprintf(format, args...)}
}

func (anthropic) read(body []byte, o Options) (Call, *problem) {
	var q anthropicRequest
	unknown, err := decode(body, &q)
	switch {
	case unknown != "":
		return Call{}, wrong("%s: Extra inputs are not permitted", unknown)
	case err != nil:
		return Call{}, wrong("The request body is not valid JSON: %v", err)
	}
	if p := q.check(o.Refuse); p != nil {
		return Call{}, p
	}
	c := Call{Model: q.Model, System: q.System.text(), MaxTokens: *q.MaxTokens, Temperature: q.Temperature}
	for _, b := range q.System {
		c.Cached = c.Cached || b.CacheControl != nil
	}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, Tool{Name: t.Name, Description: t.Description, Input: t.InputSchema})
	}
	if f := q.OutputConfig.Format; f != nil {
		c.Format, c.Schema = f.Type, f.Schema
	}
	for _, m := range q.Messages {
		c.Messages = append(c.Messages, m.message())
	}
	return c, nil
}

func (m anthropicMessage) message() Message {
	out := Message{Role: m.Role, Text: m.Content.text()}
	for _, b := range m.Content {
		switch b.Type {
		case "tool_use":
			out.Calls = append(out.Calls, ToolCall{ID: b.ID, Name: b.Name, Input: b.Input})
		case "tool_result":
			out.Results = append(out.Results, ToolResult{ID: b.ToolUseID, Text: b.Content.text(), IsError: b.IsError})
		}
	}
	return out
}

func (q anthropicRequest) check(refuse []string) *problem {
	switch {
	case q.Model == "":
		return wrong("model: Field required")
	case q.MaxTokens == nil:
		return wrong("max_tokens: Field required")
	case *q.MaxTokens < 1:
		return wrong("max_tokens: must be greater than or equal to 1")
	case len(q.Messages) == 0:
		return wrong("messages: at least one message is required")
	case q.Messages[0].Role != "user":
		return wrong("messages: first message must use the \"user\" role")
	case q.Temperature != nil && slices.Contains(refuse, "temperature"):
		return wrong("`temperature` is deprecated for this model.")
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 1):
		return wrong("temperature: range: 0..1")
	case q.Stream:
		return wrong("stream: this server does not stream")
	}
	if p := q.checkFormat(refuse); p != nil {
		return p
	}
	for i, t := range q.Tools {
		var schema struct{ Type string }
		if !isName(t.Name, 128) {
			return wrong("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return wrong("tools.%d.custom.input_schema.type: Field required", i)
		}
	}
	for i, b := range q.System {
		if p := b.check(fmt.Sprintf("system.%d", i), "text"); p != nil {
			return p
		}
	}
	return q.checkMessages()
}

func (q anthropicRequest) checkFormat(refuse []string) *problem {
	f := q.OutputConfig.Format
	switch {
	case f == nil:
		return nil
	case slices.Contains(refuse, "json_schema"):
		return wrong("'%s' does not support output format.", q.Model)
	case f.Type != "json_schema":
		return wrong("output_config.format.type: Input should be 'json_schema'")
	}
	rules := schemaRules{never: []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties",
	}}
	if fault := rules.check(f.Schema); fault != "" {
		return wrong("output_config.format.schema: %s", fault)
	}
	return nil
}

// checkMessages walks the turns: results answer the calls of the turn before,
// all of them and nothing else.
func (q anthropicRequest) checkMessages() *problem {
	var open []string // ids of calls without a result
	for i, m := range q.Messages {
		at := fmt.Sprintf("messages.%d", i)
		kinds := []string{"text", "tool_result"}
		switch m.Role {
		case "assistant":
			kinds = []string{"text", "tool_use"}
		case "user":
		default:
			return wrong("%s.role: Input should be 'user' or 'assistant'", at)
		}
		if len(m.Content) == 0 {
			return wrong("%s: all messages must have non-empty content", at)
		}
		var results, calls []string
		for j, b := range m.Content {
			if p := b.check(fmt.Sprintf("%s.content.%d", at, j), kinds...); p != nil {
				return p
			}
			switch b.Type {
			case "tool_result":
				if j != len(results) {
					return wrong("%s: `tool_result` blocks must come before other content", at)
				}
				results = append(results, b.ToolUseID)
			case "tool_use":
				calls = append(calls, b.ID)
			}
		}
		if !sameNames(open, results) {
			return wrong("%s: `tool_use` ids %v and `tool_result` blocks %v do not belong together: each `tool_use` block must have a corresponding `tool_result` block in the next message", at, open, results)
		}
		open = calls
	}
	if len(open) > 0 {
		return wrong("messages: `tool_use` ids were found without `tool_result` blocks immediately after: %s", strings.Join(open, ", "))
	}
	return nil
}

func sameNames(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func (b anthropicBlock) check(at string, kinds ...string) *problem {
	if !slices.Contains(kinds, b.Type) {
		return wrong("%s.type: Input should be one of %v", at, kinds)
	}
	if c := b.CacheControl; c != nil && (c.Type != "ephemeral" || c.TTL != "" && c.TTL != "5m" && c.TTL != "1h") {
		return wrong("%s.cache_control.type: Input should be 'ephemeral'", at)
	}
	switch b.Type {
	case "text":
		if b.Text == "" {
			return wrong("%s: text content blocks must be non-empty", at)
		}
	case "tool_use":
		if !isName(b.ID, 256) || b.Name == "" || !bytes.HasPrefix(b.Input, []byte("{")) {
			return wrong("%s.tool_use.input: Input should be a valid dictionary", at)
		}
	case "tool_result":
		if b.ToolUseID == "" {
			return wrong("%s.tool_result.tool_use_id: Field required", at)
		}
		for j, inner := range b.Content {
			if p := inner.check(fmt.Sprintf("%s.content.%d", at, j), "text"); p != nil {
				return p
			}
		}
	}
	return nil
}

func (anthropic) reply(c Call, a Answer) any {
	content := []any{}
	if a.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": a.Text, "citations": nil})
	}
	for _, t := range a.Calls {
		content = append(content, map[string]any{"type": "tool_use", "id": t.ID, "name": t.Name, "input": t.Input})
	}
	reason, details := a.Finish, any(nil)
	switch a.Finish {
	case "stop":
		reason = "end_turn"
	case "truncated":
		reason = "max_tokens"
	case "refusal":
		details = map[string]any{"type": "refusal", "category": nil, "explanation": a.Refused}
	}
	out := map[string]any{
		"id": fmt.Sprintf("msg_%024d", c.N), "type": "message", "role": "assistant", "model": a.Model, "content": content,
		"stop_reason": reason, "stop_sequence": nil, "stop_details": details,
	}
	if !a.Usage.None {
		out["usage"] = map[string]any{
			"input_tokens": a.Usage.Input, "output_tokens": a.Usage.Output, "service_tier": "standard",
			"cache_read_input_tokens": a.Usage.CacheRead, "cache_creation_input_tokens": a.Usage.CacheWrite,
		}
	}
	return out
}

func (anthropic) fail(p problem) any {
	kinds := map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	kind := p.kind
	if kind == "" {
		kind = kinds[p.status]
	}
	if kind == "" {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": p.message}, "request_id": "req_test"}
}

func (anthropic) model(name string) any {
	return map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
}

func (d anthropic) models(names []string) any {
	data := []any{}
	for _, name := range names {
		data = append(data, d.model(name))
	}
	return map[string]any{"data": data, "has_more": false, "first_id": nil, "last_id": nil}
}
