package openai

import (
	"encoding/json"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// reply reads what the vendor says. The client takes any JSON for a
// completion, so a choice is looked for.
func (h habits) reply(req *llm.Request, x *wire.Exchange, res *sdk.ChatCompletion) (*llm.Reply, error) {
	if err := x.Failed(); err != nil {
		return nil, err
	}
	if res == nil || len(res.Choices) == 0 || !res.Choices[0].JSON.Message.Valid() {
		return nil, x.Malformed("the reply has no choice with a message")
	}
	choice := res.Choices[0]
	r := &llm.Reply{
		Text:    content(choice.Message),
		Calls:   calls(choice.Message),
		Refused: choice.Message.Refusal,
		Usage:   usage(res.Usage),
		Model:   res.Model,
		Latency: x.Latency,
		Notes:   h.notes(req),
		Limits:  wire.Limits(x.Header),
	}
	r.Finish = finish(choice.FinishReason, r)
	if req.Schema != nil {
		r.Text = wire.Bare(r.Text)
	}
	if !res.JSON.Usage.Valid() {
		r.Notes = append(r.Notes, "tokens unknown: the server does not count them")
	}
	return r, nil
}

// content is the text. Some servers send a list of parts, the model's thinking
// among them, where the API has a string.
func content(m sdk.ChatCompletionMessage) string {
	raw := m.JSON.Content.Raw()
	if !strings.HasPrefix(raw, "[") {
		return m.Content
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func calls(m sdk.ChatCompletionMessage) []llm.ToolCall {
	var all []llm.ToolCall
	for i, c := range m.ToolCalls {
		one := llm.ToolCall{ID: c.ID, Name: c.Function.Name, Input: arguments(c.Function.Arguments)}
		if one.ID == "" { // some servers leave it out, and the result must name one
			one.ID = "call_" + strconv.Itoa(i)
		}
		all = append(all, one)
	}
	return all
}

// arguments is what the model wrote, which need not be JSON: then it is the
// text as a JSON string, so that whoever looks sees what was wrong with it.
func arguments(s string) json.RawMessage {
	switch {
	case strings.TrimSpace(s) == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	text, _ := json.Marshal(s)
	return text
}

func finish(reason string, r *llm.Reply) llm.Finish {
	switch {
	case r.Refused != "":
		return llm.Refusal
	case reason == "length":
		return llm.Truncated
	case strings.HasPrefix(reason, "content_filter"):
		return llm.Filtered
	case reason == "tool_calls", reason == "function_call":
		return llm.ToolUse
	case reason == "stop" && len(r.Calls) > 0: // as Ollama and Gemini say it
		return llm.ToolUse
	case reason == "stop":
		return llm.Stop
	}
	return llm.Unknown
}

// usage: prompt_tokens count what was read from the cache, too.
func usage(u sdk.CompletionUsage) eval.Usage {
	return eval.Usage{
		Calls:      1,
		Input:      int(u.PromptTokens),
		Output:     int(u.CompletionTokens),
		CacheRead:  int(u.PromptTokensDetails.CachedTokens),
		CacheWrite: int(u.PromptTokensDetails.CacheWriteTokens),
		Unpriced:   1,
	}
}

// blocked tells whether the vendor's filter turned the prompt down, as Azure
// and OpenAI say with an error: the model was asked and will not answer.
func blocked(x *wire.Exchange) bool {
	return x.Status == 400 && (x.Fault.Code == "content_filter" || x.Fault.Code == "content_policy_violation" ||
		x.Fault.Code == "invalid_prompt" && x.Fault.Has("policy"))
}
