package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// reply reads what the vendor says. The client takes any JSON for a message,
// so the fields no message lacks are looked for.
func (h habits) reply(req *llm.Request, x *wire.Exchange, res *sdk.Message) (*llm.Reply, error) {
	if res == nil || !res.JSON.Content.Valid() || !res.JSON.Usage.Valid() {
		if err := x.Failed(); err != nil {
			return nil, err
		}
		return nil, x.Malformed("the reply has no content or no usage")
	}
	r := &llm.Reply{
		Finish:  finish(res.StopReason),
		Usage:   usage(res.Usage),
		Model:   res.Model,
		Latency: x.Latency,
		Notes:   h.notes(req),
		Limits:  wire.Limits(x.Header),
	}
	var text strings.Builder
	for _, block := range res.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "tool_use":
			r.Calls = append(r.Calls, llm.ToolCall{ID: block.ID, Name: block.Name, Input: object(block.Input)})
		}
	}
	r.Text = text.String()
	if r.Finish == llm.Refusal {
		r.Refused = res.StopDetails.Explanation
	}
	if req.Schema != nil {
		r.Text = wire.Bare(r.Text)
	}
	return r, nil
}

func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

func finish(reason sdk.StopReason) llm.Finish {
	switch reason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return llm.Stop
	case sdk.StopReasonToolUse:
		return llm.ToolUse
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return llm.Truncated
	case sdk.StopReasonRefusal:
		return llm.Refusal
	}
	return llm.Unknown
}

// usage adds up the input: the vendor's input_tokens are those that were
// neither read from the cache nor written to it.
func usage(u sdk.Usage) eval.Usage {
	read, write := int(u.CacheReadInputTokens), int(u.CacheCreationInputTokens)
	return eval.Usage{
		Calls:      1,
		Input:      int(u.InputTokens) + read + write,
		Output:     int(u.OutputTokens),
		CacheRead:  read,
		CacheWrite: write,
		Unpriced:   1,
	}
}

// blocked tells whether the vendor's filter stopped the reply. It says so with
// an error, but the model was asked and will not answer: asking again would
// not help, and no line broke.
func blocked(x *wire.Exchange) bool {
	return x.Status == 400 && x.Fault.Has("content filtering policy")
}
