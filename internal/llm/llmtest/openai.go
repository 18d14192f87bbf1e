package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// openai speaks chat completions the way OpenAI does.
type openai struct{}

func (openai) vendor() Vendor { return OpenAI }

func (openai) key(r *http.Request) (string, *problem) {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || key == "" {
		return "", &problem{status: 401, message: "You didn't provide an API key. You need to provide it in an Authorization header using Bearer auth"}
	}
	return key, nil
}

type (
	openaiRequest struct {
		Model               string
		Messages            []openaiMessage
		Tools               []openaiTool
		ToolChoice          json.RawMessage `json:"tool_choice"`
		ParallelToolCalls   *bool           `json:"parallel_tool_calls"`
		Temperature         *float64
		TopP                *float64 `json:"top_p"`
		Seed                *int64
		N                   *int
		Stop                json.RawMessage
		Stream              bool
		User                string
		Metadata            json.RawMessage
		Store               *bool
		ReasoningEffort     string `json:"reasoning_effort"`
		PromptCacheKey      string `json:"prompt_cache_key"`
		MaxTokens           *int   `json:"max_tokens"`
		MaxCompletionTokens *int   `json:"max_completion_tokens"`
		ResponseFormat      *struct {
			Type       string
			JSONSchema *struct {
				Name        string
				Description string
				Strict      *bool
				Schema      json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	openaiMessage struct {
		Role       string
		Name       string
		Content    openaiContent
		Refusal    *string
		ToolCallID string       `json:"tool_call_id"`
		ToolCalls  []openaiCall `json:"tool_calls"`
	}
	openaiCall struct {
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
	}
	openaiTool struct {
		Type     string
		Function struct {
			Name        string
			Description string
			Parameters  json.RawMessage
			Strict      *bool
		}
	}
)

// openaiContent is a string or a list of parts; nil when it is not there.
type openaiContent struct{ text *string }

func (c *openaiContent) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case bytes.HasPrefix(data, []byte(`"`)):
		return json.Unmarshal(data, &c.text)
	}
	var parts []struct{ Type, Text string }
	if _, err := decode(data, &parts); err != nil {
		return err
	}
	all := ""
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("parts of type %q are not served here", p.Type)
		}
		all += p.Text
	}
	c.text = &all
	return nil
}

func (c openaiContent) String() string {
	if c.text == nil {
		return ""
	}
	return *c.text
}

func badParam(param, code, format string, args ...any) *problem {
	return &problem{status: 400, param: param, code: code, message: fmt.Sprintf(format, args...)}
}

func (openai) read(body []byte, o Options) (Call, *problem) {
	var q openaiRequest
	unknown, err := decode(body, &q)
	switch {
	case unknown != "":
		return Call{}, badParam(unknown, "unknown_parameter", "Unrecognized request argument supplied: %s", unknown)
	case err != nil:
		return Call{}, badParam("", "", "We could not parse the JSON body of your request: %v", err)
	}
	return q.call(o.Refuse)
}

func (q openaiRequest) call(refuse []string) (Call, *problem) {
	for _, check := range []func([]string) *problem{q.checkValues, q.checkFormat, q.checkTools, q.checkMessages} {
		if p := check(refuse); p != nil {
			return Call{}, p
		}
	}
	c := Call{Model: q.Model, Temperature: q.Temperature, Seed: q.Seed}
	for _, n := range []*int{q.MaxTokens, q.MaxCompletionTokens} {
		if n != nil {
			c.MaxTokens = *n
		}
	}
	for _, t := range q.Tools {
		c.Tools = append(c.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Input: t.Function.Parameters})
	}
	if f := q.ResponseFormat; f != nil {
		c.Format = f.Type
		if s := f.JSONSchema; s != nil {
			c.Schema, c.SchemaName, c.Strict = s.Schema, s.Name, s.Strict != nil && *s.Strict
		}
	}
	for _, m := range q.Messages {
		m.add(&c)
	}
	return c, nil
}

// add puts a message where it belongs: results of one turn go into one message.
func (m openaiMessage) add(c *Call) {
	switch m.Role {
	case "system", "developer":
		c.System = strings.TrimPrefix(c.System+"\n"+m.Content.String(), "\n")
		return
	case "tool":
		one := ToolResult{ID: m.ToolCallID, Text: m.Content.String()}
		if n := len(c.Messages); n > 0 && len(c.Messages[n-1].Results) > 0 {
			c.Messages[n-1].Results = append(c.Messages[n-1].Results, one)
			return
		}
		c.Messages = append(c.Messages, Message{Role: "user", Results: []ToolResult{one}})
		return
	}
	out := Message{Role: m.Role, Text: m.Content.String()}
	for _, t := range m.ToolCalls {
		out.Calls = append(out.Calls, ToolCall{ID: t.ID, Name: t.Function.Name, Input: json.RawMessage(t.Function.Arguments)})
	}
	c.Messages = append(c.Messages, out)
}

func (q openaiRequest) checkValues(refuse []string) *problem {
	has := map[string]bool{
		"temperature": q.Temperature != nil, "seed": q.Seed != nil, "max_tokens": q.MaxTokens != nil,
		"max_completion_tokens": q.MaxCompletionTokens != nil, "tools": len(q.Tools) > 0,
	}
	for _, param := range refuse {
		if has[param] {
			return badParam(param, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", param)
		}
	}
	switch {
	case q.Model == "":
		return badParam("", "", "you must provide a model parameter")
	case q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 2):
		return badParam("temperature", "decimal_above_max_value", "Invalid 'temperature': expected a value between 0 and 2")
	case q.MaxTokens != nil && q.MaxCompletionTokens != nil:
		return badParam("max_tokens", "", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	case q.MaxTokens != nil && *q.MaxTokens < 1:
		return badParam("max_tokens", "integer_below_min_value", "Invalid 'max_tokens': expected a value >= 1")
	case q.MaxCompletionTokens != nil && *q.MaxCompletionTokens < 1:
		return badParam("max_completion_tokens", "integer_below_min_value", "Invalid 'max_completion_tokens': expected a value >= 1")
	case q.Stream:
		return badParam("stream", "unsupported_value", "this server does not stream")
	}
	return nil
}

func (q openaiRequest) checkFormat(refuse []string) *problem {
	f := q.ResponseFormat
	if f == nil {
		return nil
	}
	if slices.Contains(refuse, f.Type) {
		return badParam("response_format", "", "Invalid parameter: 'response_format' of type '%s' is not supported with this model.", f.Type)
	}
	switch f.Type {
	case "text":
	case "json_object":
		for _, m := range q.Messages {
			if strings.Contains(strings.ToLower(m.Content.String()), "json") {
				return nil
			}
		}
		return badParam("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
	case "json_schema":
		if f.JSONSchema == nil || !isName(f.JSONSchema.Name, 64) {
			return badParam("response_format.json_schema.name", "", "Invalid 'response_format.json_schema.name': expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.")
		}
		if f.JSONSchema.Strict == nil || !*f.JSONSchema.Strict {
			return nil
		}
		rules := schemaRules{allRequired: true, never: []string{"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"}}
		if fault := rules.check(f.JSONSchema.Schema); fault != "" {
			return badParam("response_format", "", "Invalid schema for response_format '%s': %s", f.JSONSchema.Name, fault)
		}
	default:
		return badParam("response_format.type", "invalid_value", "Invalid value: '%s'.", f.Type)
	}
	return nil
}

func (q openaiRequest) checkTools([]string) *problem {
	for i, t := range q.Tools {
		if t.Type != "function" || !isName(t.Function.Name, 64) {
			return badParam(fmt.Sprintf("tools[%d].function.name", i), "invalid_value", "Invalid 'tools[%d].function.name': string does not match pattern.", i)
		}
		var schema struct{ Type string }
		if len(t.Function.Parameters) > 0 && (json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object") {
			return badParam(fmt.Sprintf("tools[%d].function.parameters", i), "invalid_function_parameters", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'.", t.Function.Name)
		}
	}
	return nil
}

// checkMessages walks the turns: after calls come their results, all of them,
// and results come from nowhere else.
func (q openaiRequest) checkMessages([]string) *problem {
	if len(q.Messages) == 0 {
		return badParam("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1.")
	}
	var open []string
	for i, m := range q.Messages {
		at := fmt.Sprintf("messages[%d]", i)
		if m.Role == "tool" {
			j := slices.Index(open, m.ToolCallID)
			if j < 0 {
				return badParam(at+".role", "", "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.")
			}
			open = slices.Delete(open, j, j+1)
			continue
		}
		if len(open) > 0 {
			return badParam(at+".role", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. These did not have response messages: %s", strings.Join(open, ", "))
		}
		if p := m.check(at); p != nil {
			return p
		}
		for _, t := range m.ToolCalls {
			open = append(open, t.ID)
		}
	}
	if len(open) > 0 {
		return badParam("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")
	}
	return nil
}

func (m openaiMessage) check(at string) *problem {
	switch m.Role {
	case "system", "developer", "user", "assistant":
	default:
		return badParam(at+".role", "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
	}
	if m.Content.text == nil && len(m.ToolCalls) == 0 {
		return badParam(at+".content", "invalid_type", "Invalid value for 'content': expected a string, got null.")
	}
	for _, t := range m.ToolCalls {
		if m.Role != "assistant" || t.Type != "function" || t.ID == "" || t.Function.Name == "" {
			return badParam(at+".tool_calls", "invalid_value", "Invalid 'tool_calls'.")
		}
	}
	return nil
}

func (openai) reply(c Call, a Answer) any {
	message := map[string]any{"role": "assistant", "content": a.Text, "refusal": nil, "annotations": []any{}}
	if a.Text == "" {
		message["content"] = nil
	}
	if len(a.Calls) > 0 {
		var calls []any
		for _, t := range a.Calls {
			calls = append(calls, map[string]any{
				"id": t.ID, "type": "function",
				"function": map[string]any{"name": t.Name, "arguments": string(t.Input)},
			})
		}
		message["tool_calls"] = calls
	}
	reason := a.Finish
	switch a.Finish {
	case "tool_use":
		reason = "tool_calls"
	case "truncated":
		reason = "length"
	case "filtered":
		reason = "content_filter"
	case "refusal":
		reason, message["refusal"] = "stop", a.Refused
	}
	out := map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", c.N), "object": "chat.completion", "created": 1735689600, "model": a.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": reason}},
	}
	if u := a.Usage; !u.None {
		input := u.Input + u.CacheRead + u.CacheWrite
		out["usage"] = map[string]any{
			"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
			"prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		}
	}
	return out
}

func (openai) fail(p problem) any {
	kinds := map[int]string{429: "requests", 500: "server_error", 502: "server_error", 503: "server_error"}
	codes := map[int]string{401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
	return openaiError(p, kinds, codes, "invalid_request_error")
}

func openaiError(p problem, kinds, codes map[int]string, kind string) any {
	for _, k := range []string{kinds[p.status], p.kind} {
		if k != "" {
			kind = k
		}
	}
	code := p.code
	if code == "" {
		code = codes[p.status]
	}
	return map[string]any{"error": map[string]any{"message": p.message, "type": kind, "param": orNull(p.param), "code": orNull(code)}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (openai) model(name string) any {
	return map[string]any{"id": name, "object": "model", "created": 1735689600, "owned_by": "test"}
}

func (d openai) models(names []string) any {
	data := []any{}
	for _, name := range names {
		data = append(data, d.model(name))
	}
	return map[string]any{"object": "list", "data": data}
}
