// Package llmtest serves what vendors of models serve, over real HTTP, with
// answers from a Go function. One [Server] speaks for all of them: Anthropic
// under [Server.Anthropic], OpenAI under [Server.OpenAI], Ollama's compatible
// endpoint under [Server.Ollama].
//
// It is strict the way the vendors are: a request with an unknown field, a role
// that does not exist, no max_tokens or no version header gets the vendor's own
// error, and [Server.Rejected] tells a test about it. It can be slow, drop
// connections, send half a body, limit the rate, and turn a share of the calls
// away. It counts, and knows how many calls ran at once.
package llmtest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Vendor is who a request took the server for.
type Vendor string

// The vendors.
const (
	Anthropic Vendor = "anthropic"
	OpenAI    Vendor = "openai"
	Ollama    Vendor = "ollama"
)

// Call is a request for a reply, after the vendor's checks.
type Call struct {
	N           int // counts from 1, over all vendors
	Vendor      Vendor
	Model       string
	System      string
	Cached      bool // the system text is to be kept
	Messages    []Message
	Tools       []Tool
	Format      string          // json_schema, json_object, or empty
	Schema      json.RawMessage // of json_schema
	SchemaName  string          // OpenAI's have one
	Strict      bool            // OpenAI's may be
	MaxTokens   int             // 0 when not said
	Temperature *float64
	Seed        *int64
	Header      http.Header
	Raw         []byte
}

// Message is one turn. Roles are user and assistant; OpenAI's tool messages
// are results of the user's.
type Message struct {
	Role    string
	Text    string
	Calls   []ToolCall
	Results []ToolResult
}

// Tool is a tool the model may call.
type Tool struct {
	Name        string
	Description string
	Input       json.RawMessage
}

// ToolCall is a call of a tool.
type ToolCall struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// ToolResult is what came of one.
type ToolResult struct {
	ID      string
	Text    string
	IsError bool
}

// Last is the text of the last message: usually the question.
func (c Call) Last() string {
	if len(c.Messages) == 0 {
		return ""
	}
	return c.Messages[len(c.Messages)-1].Text
}

// Has tells whether the system text or a message holds these words.
func (c Call) Has(words string) bool {
	if strings.Contains(c.System, words) {
		return true
	}
	for _, m := range c.Messages {
		if strings.Contains(m.Text, words) {
			return true
		}
	}
	return false
}

// Answer is what the server does with a call. The zero Answer is an empty
// reply that ended by itself.
type Answer struct {
	Text    string
	Calls   []ToolCall
	Finish  string // stop, tool_use, truncated, refusal, filtered; anything else is sent as it is; by Calls when empty
	Refused string // what the vendor says of a refusal
	Usage   Usage
	Model   string // that answered; the one asked for when empty

	Status  int         // 400 and more: an error in the vendor's form
	Type    string      // of the error; by the status when empty
	Code    string      // of OpenAI's
	Param   string      // of OpenAI's
	Message string      // of the error
	Header  http.Header // beside the usual ones

	Body  string        // sent as it is, with Status or 200
	Delay time.Duration // before anything is sent
	Drop  bool          // hang up without a word
	Cut   bool          // hang up in the middle of the body
	Stall bool          // stop in the middle of the body, and keep the line
}

// Usage is what a reply is said to have cost. The zero value is made up from
// the lengths.
type Usage struct {
	Input      int // without what is read from or written to the cache
	Output     int
	CacheRead  int
	CacheWrite int
	None       bool // say nothing of it
}

// Options says how a server behaves. Only Answer is needed.
type Options struct {
	Answer func(Call) Answer

	Keys       []string      // that are let in; any when empty
	Models     []string      // that exist; any when empty
	Refuse     []string      // parameters that are turned down as unsupported, also json_schema and json_object
	Latency    time.Duration // of every reply
	Share429   float64       // of calls that are turned away, evenly: 0.2 is every fifth
	PerSecond  float64       // calls that are let through, the rest is turned away; 0 for all
	RetryAfter time.Duration // what those turned away are told; nothing when 0
}

// Server is a running server. Its methods are safe for concurrent use.
type Server struct {
	URL string // without a path

	opts Options
	http *httptest.Server
	done chan struct{}
	once sync.Once

	mu       sync.Mutex
	log      []Call
	seen     int // calls that came to the gate
	limited  int
	rejected []string
	running  int
	most     int
	allow    float64 // of PerSecond
	last     time.Time
}

// New starts a server that answers like this. Close it.
func New(answer func(Call) Answer) *Server { return Start(Options{Answer: answer}) }

// Start starts a server. Close it.
func Start(o Options) *Server {
	s := &Server{opts: o, done: make(chan struct{}), allow: 1}
	s.http = httptest.NewServer(s.routes())
	s.URL = s.http.URL
	return s
}

// Close ends the server and every call that still runs.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.done)
		s.http.Close()
	})
}

// Anthropic is the base URL for Anthropic's clients.
func (s *Server) Anthropic() string { return s.URL }

// OpenAI is the base URL for OpenAI's clients.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// Ollama is the base URL of the compatible endpoint of an Ollama.
func (s *Server) Ollama() string { return s.URL + "/ollama/v1" }

// Log is every call that was let in, in order.
func (s *Server) Log() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.log...)
}

// Calls counts the calls that were let in.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// Limited counts the calls that were turned away with 429 by Share429 or
// PerSecond.
func (s *Server) Limited() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limited
}

// Rejected is what was wrong with requests that the vendor would not take.
func (s *Server) Rejected() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.rejected...)
}

// MostAtOnce is how many calls ran side by side at most.
func (s *Server) MostAtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}
