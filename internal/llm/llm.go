// Package llm is how mettle speaks to language models: one [Model] interface,
// the words of a request and its reply, and what every call needs whoever the
// vendor is: a schedule that owns the retries ([Scheduler]), prices
// ([Prices]), a budget ([Budget]) and recordings (package tape). Each of them
// makes a model of a model. Seen from the caller a call passes the tape first,
// since what is on it is neither paid nor waited for; then the budget, the
// prices, the schedule, and the vendor's own client.
//
// What must hold across processes is an interface with a local implementation:
// [Account] for budgets, [Limiter] for calls and tokens per minute.
//
// A vendor's own client lives in a package of its own below this one, which
// only the command line imports: the core and its tests never link it.
package llm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Model answers requests. An error means that there is no reply; a reply that
// was refused, cut off or filtered is a reply, and says so in Finish.
// Generate is called from many goroutines.
type Model interface {
	Generate(ctx context.Context, req *Request) (*Reply, error)
}

// ModelFunc makes a function a [Model].
type ModelFunc func(ctx context.Context, req *Request) (*Reply, error)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, req *Request) (*Reply, error) { return f(ctx, req) }

// Request is one call of a model.
type Request struct {
	System      string    `json:"system,omitempty"`
	Messages    []Message `json:"messages"`
	Tools       []Tool    `json:"tools,omitempty"`
	Schema      *Schema   `json:"schema,omitempty"` // the form the reply's text must have
	Temperature *float64  `json:"temperature,omitempty"`
	Seed        *int64    `json:"seed,omitempty"`
	MaxTokens   int       `json:"max_tokens,omitempty"` // of the reply; 0 for the vendor's most or our default

	// CacheSystem asks the vendor to keep the system text: many calls share it.
	CacheSystem bool `json:"cache_system,omitempty"`

	// Trial and Sample tell apart calls that say the same and are meant to be
	// made anew: the trials of a case, the votes of a panel. The vendor never
	// sees them; cassettes and caches do.
	Trial  int `json:"trial,omitempty"`
	Sample int `json:"sample,omitempty"`

	// Whoever makes a call more than once says so to the account: failed after
	// a try without a reply, again before the next one. nil without an account.
	failed func(error)
	again  func() error
}

// Role is who speaks in a message.
type Role string

// The roles. Results of tool calls are the user's.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    Role         `json:"role"`
	Text    string       `json:"text,omitempty"`
	Calls   []ToolCall   `json:"calls,omitempty"`   // of the assistant
	Results []ToolResult `json:"results,omitempty"` // of the user
}

// Tool is something the model may ask for.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input"` // JSON Schema of an object
}

// ToolCall is what the model asks for.
type ToolCall struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// ToolResult answers a [ToolCall].
type ToolResult struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
}

// Schema is the JSON Schema a reply's text must meet.
type Schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

// Finish says why a reply ended.
type Finish string

// The ways a reply ends. Only [Stop] and [ToolUse] are whole replies.
const (
	Stop      Finish = "stop"      // the model was done
	ToolUse   Finish = "tool_use"  // it waits for the results of its calls
	Truncated Finish = "truncated" // it ran into MaxTokens or its context's end
	Refusal   Finish = "refusal"   // the model or its vendor declined to answer
	Filtered  Finish = "filtered"  // a content filter cut it
	Unknown   Finish = "unknown"   // the vendor gave a reason we do not know
)

// Reply is what a model said.
type Reply struct {
	Text    string        `json:"text"`
	Calls   []ToolCall    `json:"calls,omitempty"`
	Finish  Finish        `json:"finish"`
	Refused string        `json:"refused,omitempty"` // what the vendor says of a refusal, when it does
	Usage   eval.Usage    `json:"usage"`             // of one call; unpriced until [Prices] says otherwise
	Model   string        `json:"model"`             // as the vendor names what answered
	Latency time.Duration `json:"latency"`
	Start   time.Duration `json:"-"`                // when [Ask] made the call, since the attempt started
	Tries   int           `json:"tries,omitempty"`  // calls it took, when more than one
	Cached  bool          `json:"cached,omitempty"` // it was kept from an earlier call, and cost nothing now
	Notes   []string      `json:"notes,omitempty"`  // what was not sent as asked, such as a parameter the model refuses
	Limits  *Limits       `json:"-"`                // what the vendor says is left, nil when it does not
}

// Limits is what a vendor's headers say of its rate limits.
type Limits struct {
	Requests Limit
	Tokens   Limit
}

// Limit is one of them.
type Limit struct {
	Most  int           // in a window; 0 when not told
	Left  int           // of it; -1 when not told
	Reset time.Duration // until it is whole again; 0 when not told
}
