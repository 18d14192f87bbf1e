package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Elicit answers a question that a server has for the user. What the answer
// leaves open gets the defaults of the question's schema; false declines. It
// may be called from several goroutines.
type Elicit func(ctx context.Context, q Question) (answer map[string]any, ok bool)

// Question is what a server wants to know.
type Question struct {
	Message string
	// Schema is the JSON Schema of the answer, a flat object.
	Schema json.RawMessage
}

const methodElicit = "elicitation/create"

// answered is an answer as both eras have it on the wire.
type answered struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

func (e Elicit) answer(ctx context.Context, q Question) answered {
	content, ok := e(ctx, q)
	if !ok {
		return answered{Action: "decline"}
	}
	if content == nil {
		content = map[string]any{}
	}
	for name, value := range defaults(q.Schema) {
		if _, given := content[name]; !given {
			content[name] = value
		}
	}
	return answered{Action: "accept", Content: content}
}

// defaults gives the values that a schema has for its properties.
func defaults(schema []byte) map[string]any {
	out := map[string]any{}
	fields(schema, func(key string, value []byte) {
		if key != "properties" {
			return
		}
		fields(value, func(name string, property []byte) {
			fields(property, func(key string, value []byte) {
				var v any
				if key == "default" && json.Unmarshal(value, &v) == nil {
					out[name] = v
				}
			})
		})
	})
	return out
}

// forSDK is how a server of the legacy era asks: with a request of its own.
func (e Elicit) forSDK() func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if e == nil {
		return nil
	}
	return func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		if req.Params.URL != "" { // only forms are offered
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		schema, err := json.Marshal(req.Params.RequestedSchema)
		if err != nil {
			return nil, err
		}
		a := e.answer(ctx, Question{Message: req.Params.Message, Schema: schema})
		return &mcp.ElicitResult{Action: a.Action, Content: a.Content}, nil
	}
}

// capabilities is what a modern server is told with every request.
func (e Elicit) capabilities() any {
	if e == nil {
		return struct{}{}
	}
	return map[string]any{"elicitation": map[string]any{"form": struct{}{}}}
}

// A repeat is the answer of a modern server that wants a call made again: with
// the state it hands out, and with answers to what it asks. Both are kept as
// JSON.
type repeat struct {
	state []byte
	asked []asked
}

type asked struct {
	key            string
	method, params []byte
}

// inputRequired looks for the wish to repeat in a result, nil if there is none.
func inputRequired(result []byte) *repeat {
	if !bytes.Contains(result, []byte(`"input_required"`)) {
		return nil
	}
	var r repeat
	again := false
	fields(result, func(key string, value []byte) {
		switch key {
		case "resultType":
			again = unquote(value) == "input_required"
		case "requestState":
			r.state = value
		case "inputRequests":
			fields(value, func(key string, value []byte) { r.asked = append(r.asked, readAsked(key, value)) })
		}
	})
	if !again {
		return nil
	}
	return &r
}

func readAsked(key string, request []byte) asked {
	a := asked{key: key}
	fields(request, func(name string, value []byte) {
		switch name {
		case "method":
			a.method = value
		case "params":
			a.params = value
		}
	})
	return a
}

// answers gives the inputResponses for what a server asks, nil if it asks
// nothing. One that asks for what it was not offered gets nothing at all.
func (c *Client) answers(ctx context.Context, r *repeat) ([]byte, *fault) {
	if len(r.asked) == 0 {
		return nil, nil
	}
	out := map[string]answered{}
	var strange []string
	for _, a := range r.asked {
		q, ok := readQuestion(a)
		if c.cfg.Elicit == nil || !ok {
			strange = append(strange, a.key)
			continue
		}
		out[a.key] = c.cfg.Elicit.answer(ctx, q)
	}
	if len(strange) > 0 {
		return nil, protocolFault("the server asks for input (%s), which was not offered", strings.Join(strange, ", "))
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, &fault{class: ClassProtocol, text: "the answer to the server's question is no JSON", cause: err}
	}
	return raw, nil
}

func readQuestion(a asked) (q Question, ok bool) {
	if unquote(a.method) != methodElicit {
		return q, false
	}
	ok = true
	fields(a.params, func(key string, value []byte) {
		switch key {
		case "message":
			q.Message = unquote(value)
		case "requestedSchema":
			q.Schema = value
		case "mode":
			ok = unquote(value) == "form"
		}
	})
	return q, ok
}

// pauseBefore is how long to wait before a repeat: not at all after answers,
// longer each time that a server only asks for patience.
func pauseBefore(round int, answers []byte) time.Duration {
	if answers != nil {
		return 0
	}
	return pause(round, &fault{})
}
