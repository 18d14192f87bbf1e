package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

var now = time.Now //nolint:forbidigo // the rate limit of a test's server

// problem is an error of the vendor's.
type problem struct {
	status  int
	kind    string // the vendor's type of error
	code    string
	param   string
	message string
}

// dialect is how a vendor speaks.
type dialect interface {
	vendor() Vendor
	key(*http.Request) (string, *problem)         // the key, or what is wrong with the headers
	read(body []byte, o Options) (Call, *problem) // what is asked, or what is wrong with it
	reply(Call, Answer) any
	fail(problem) any
	model(name string) any
	models(names []string) any
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.generate(anthropic{}))
	mux.HandleFunc("POST /v1/chat/completions", s.generate(openai{}))
	mux.HandleFunc("POST /ollama/v1/chat/completions", s.generate(ollama{}))
	both := func(r *http.Request) dialect { // one path, two vendors
		if r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Api-Key") != "" {
			return anthropic{}
		}
		return openai{}
	}
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) { s.list(both(r), w, r) })
	mux.HandleFunc("GET /v1/models/{name...}", func(w http.ResponseWriter, r *http.Request) { s.list(both(r), w, r) })
	mux.HandleFunc("GET /ollama/v1/models", func(w http.ResponseWriter, r *http.Request) { s.list(ollama{}, w, r) })
	mux.HandleFunc("GET /ollama/v1/models/{name...}", func(w http.ResponseWriter, r *http.Request) { s.list(ollama{}, w, r) })
	return mux
}

// list serves models: all of them, or one.
func (s *Server) list(d dialect, w http.ResponseWriter, r *http.Request) {
	if p := s.letIn(d, r); p != nil {
		s.reject(d, w, *p)
		return
	}
	name := r.PathValue("name")
	switch {
	case name == "":
		send(w, http.StatusOK, nil, d.models(s.opts.Models))
	case len(s.opts.Models) == 0 || slices.Contains(s.opts.Models, name):
		send(w, http.StatusOK, nil, d.model(name))
	default:
		s.reject(d, w, noModel(d.vendor(), name))
	}
}

// letIn checks headers and key.
func (s *Server) letIn(d dialect, r *http.Request) *problem {
	key, p := d.key(r)
	if p != nil {
		return p
	}
	if d.vendor() != Ollama && len(s.opts.Keys) > 0 && !slices.Contains(s.opts.Keys, key) {
		return wrongKey(d.vendor(), key)
	}
	return nil
}

func (s *Server) generate(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.enter()
		defer s.leave()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
		if err != nil {
			s.reject(d, w, problem{status: http.StatusRequestEntityTooLarge, message: "Request exceeds the maximum size"})
			return
		}
		if p := s.letIn(d, r); p != nil {
			s.reject(d, w, *p)
			return
		}
		if s.turnAway() {
			s.limit(d, w)
			return
		}
		call, p := d.read(body, s.opts)
		if p == nil && len(s.opts.Models) > 0 && !slices.Contains(s.opts.Models, call.Model) {
			missing := noModel(d.vendor(), call.Model)
			p = &missing
		}
		if p != nil {
			s.reject(d, w, *p)
			return
		}
		call.Vendor, call.Header, call.Raw = d.vendor(), r.Header.Clone(), body
		s.answer(d, w, r, s.record(call))
	}
}

func (s *Server) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.most = max(s.most, s.running)
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

func (s *Server) record(c Call) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.N = len(s.log) + 1
	s.log = append(s.log, c)
	return c
}

// turnAway decides by the share, spread evenly, and by the rate, whose bucket
// holds what a tenth of a second lets through.
func (s *Server) turnAway() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen++
	if share := s.opts.Share429; int(float64(s.seen)*share) > int(float64(s.seen-1)*share) {
		s.limited++
		return true
	}
	if s.opts.PerSecond <= 0 {
		return false
	}
	t := now()
	if !s.last.IsZero() {
		s.allow = min(s.allow+t.Sub(s.last).Seconds()*s.opts.PerSecond, max(1, s.opts.PerSecond/10))
	}
	s.last = t
	if s.allow < 1 {
		s.limited++
		return true
	}
	s.allow--
	return false
}

func (s *Server) limit(d dialect, w http.ResponseWriter) {
	h := http.Header{}
	if after := s.opts.RetryAfter; after > 0 {
		h.Set("Retry-After", strconv.FormatFloat(after.Seconds(), 'f', -1, 64))
	}
	send(w, http.StatusTooManyRequests, h, d.fail(problem{status: http.StatusTooManyRequests, message: "Rate limit reached, slow down"}))
}

func (s *Server) reject(d dialect, w http.ResponseWriter, p problem) {
	s.mu.Lock()
	s.rejected = append(s.rejected, fmt.Sprintf("%s: %d %s", d.vendor(), p.status, p.message))
	s.mu.Unlock()
	send(w, p.status, nil, d.fail(p))
}

// answer does what the test's function says.
func (s *Server) answer(d dialect, w http.ResponseWriter, r *http.Request, call Call) {
	a := Answer{}
	if s.opts.Answer != nil {
		a = s.opts.Answer(call)
	}
	if !s.wait(r, s.opts.Latency+a.Delay) {
		return
	}
	if a.Drop {
		panic(http.ErrAbortHandler) // net/http's way to hang up
	}
	status, body := s.write(d, call, a)
	if !a.Cut && !a.Stall {
		sendBytes(w, status, a.Header, body)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	sendBytes(w, status, a.Header, body[:len(body)/2])
	_ = http.NewResponseController(w).Flush() // a client that is gone is what is being tested
	if a.Stall {
		s.wait(r, time.Hour)
	}
	panic(http.ErrAbortHandler)
}

func (s *Server) write(d dialect, call Call, a Answer) (int, []byte) {
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	switch {
	case a.Body != "":
		return status, []byte(a.Body)
	case status >= 300:
		return status, encode(d.fail(problem{status: status, kind: a.Type, code: a.Code, param: a.Param, message: a.Message}))
	}
	if a.Model == "" {
		a.Model = call.Model
	}
	if a.Usage == (Usage{}) {
		a.Usage = Usage{Input: len(call.Raw)/4 + 1, Output: len(a.Text)/4 + 1}
	}
	if a.Finish == "" {
		a.Finish = "stop"
		if len(a.Calls) > 0 {
			a.Finish = "tool_use"
		}
	}
	return status, encode(d.reply(call, a))
}

// wait tells whether the client is still there.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.done:
	}
	return false
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil { // of a test's own ToolCall.Input
		b, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	return b
}

func send(w http.ResponseWriter, status int, h http.Header, v any) {
	sendBytes(w, status, h, encode(v))
}

func sendBytes(w http.ResponseWriter, status int, h http.Header, body []byte) {
	kind := "application/json"
	if strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		kind = "text/html"
	}
	w.Header().Set("Content-Type", kind)
	for name, values := range h {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone is what is being tested
}
