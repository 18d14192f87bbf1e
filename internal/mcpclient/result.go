package mcpclient

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/term"
)

// Result is the answer of a tool. An error flag in it is part of the answer.
type Result struct {
	Parts      []Part
	Structured json.RawMessage // structuredContent as sent, nil if absent
	IsError    bool
	// Request and Response are the JSON-RPC params and result as they were on
	// the wire.
	Request, Response json.RawMessage
	Attempts          int
	// Retries says why each try before the last one failed: an HTTP status, how
	// a process ended.
	Retries []string
	// Latency is that of the attempt that brought the answer, from sending to
	// having read all of it. What a call waits for its turn at a process that
	// answers one call at a time is not part of it.
	Latency time.Duration
	// Findings are oddities of the answer that did not keep it from being
	// read, such as a content type nobody knows.
	Findings []string
}

// Part is one element of a tool's content.
type Part struct {
	Type string // text, image, audio, resource, resource_link, or what the server says
	Text string // of a text, or of an embedded text resource
	MIME string
	URI  string // of a resource or a link to one
	Name string // of a link
	// Raw is the whole part; bytes of images and sound are only here.
	Raw json.RawMessage
}

// Text joins the texts of all parts, each on its own line.
func (r *Result) Text() string {
	if len(r.Parts) == 1 {
		return r.Parts[0].Text
	}
	var texts []string
	for _, p := range r.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (r *Result) find(format string, args ...any) {
	r.Findings = addFinding(r.Findings, format, args...)
}

const maxFindings = 20

// addFinding keeps the list short: what is odd about one part is mostly odd
// about the next thousand as well.
func addFinding(list []string, format string, args ...any) []string {
	switch {
	case len(list) < maxFindings:
		return append(list, term.Excerpt(fmt.Sprintf(format, args...), excerptSize))
	case len(list) == maxFindings:
		return append(list, "and more")
	}
	return list
}

// ReadResult reads the result of a tools/call that was kept as it was on the
// wire.
func ReadResult(raw json.RawMessage) *Result { return parseResult(raw) }

// parseResult reads the result of a tools/call. It never refuses: whatever is
// not as the protocol says becomes a finding, and the raw JSON stays.
func parseResult(raw []byte) *Result {
	r := &Result{Response: raw}
	var content []byte
	isObject := fields(raw, func(key string, value []byte) {
		switch key {
		case "content":
			content = value
		case "structuredContent":
			if string(value) != "null" {
				r.Structured = value
			}
		case "isError":
			r.readIsError(value)
		}
	})
	if !isObject {
		r.find("the result is %s", insteadOf("an object", raw))
		content = raw
	}
	r.readContent(content)
	return r
}

func (r *Result) readIsError(value []byte) {
	switch string(value) {
	case "true":
		r.IsError = true
	case "false", "null":
	default:
		// A server that sets the flag in a form of its own most likely means
		// it: only what says no in so many words counts as no error.
		r.IsError = !saysNo(value)
		r.find("isError is %s", insteadOf("a boolean", value))
	}
}

// saysNo tells whether a value that should be a boolean means false: 0, "",
// "0", "false" or "no".
func saysNo(value []byte) bool {
	text := string(value)
	if value[0] == '"' {
		text = strings.ToLower(strings.TrimSpace(unquote(value)))
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n == 0
	}
	return slices.Contains([]string{"", "false", "no"}, text)
}

func (r *Result) readContent(content []byte) {
	if elements(content, r.readPart) {
		return
	}
	r.find("content is %s", insteadOf("an array", content))
	if content != nil && string(content) != "null" {
		r.readPart(content)
	}
}

func (r *Result) readPart(raw []byte) {
	p := Part{Raw: raw}
	var text, resource []byte
	isObject := fields(raw, func(key string, value []byte) {
		switch key {
		case "type":
			p.Type = unquote(value)
		case "text":
			text = value
		case "mimeType":
			p.MIME = unquote(value)
		case "uri":
			p.URI = unquote(value)
		case "name":
			p.Name = unquote(value)
		case "resource":
			resource = value
		}
	})
	if !isObject {
		r.find("part %d is %s", len(r.Parts)+1, insteadOf("an object", raw))
		r.Parts = append(r.Parts, Part{Type: "text", Text: asText(raw), Raw: raw})
		return
	}
	switch p.Type {
	case "text":
		p.Text = asText(text)
		if len(text) == 0 || text[0] != '"' {
			r.find("the text of part %d is %s", len(r.Parts)+1, insteadOf("a string", text))
		}
	case "resource":
		r.readResource(&p, resource)
	case "image", "audio", "resource_link":
	default:
		r.find("part %d has the unknown type %q", len(r.Parts)+1, p.Type)
		p.Text = unquote(text)
	}
	r.Parts = append(r.Parts, p)
}

// asText gives the text of a value. Anything but a string is kept as the JSON
// it is, so that nothing the server said is lost; null says nothing.
func asText(value []byte) string {
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case value[0] == '"':
		return unquote(value)
	}
	return string(value)
}

func (r *Result) readResource(p *Part, resource []byte) {
	isObject := fields(resource, func(key string, value []byte) {
		switch key {
		case "uri":
			p.URI = unquote(value)
		case "mimeType":
			p.MIME = unquote(value)
		case "text":
			p.Text = unquote(value)
		}
	})
	if !isObject {
		r.find("the resource of part %d is %s", len(r.Parts)+1, insteadOf("an object", resource))
	}
}

// insteadOf says what a value is that should be something else.
func insteadOf(want string, value []byte) string {
	if len(value) == 0 {
		return "missing"
	}
	kind := "a number"
	switch value[0] {
	case '{':
		kind = "an object"
	case '[':
		kind = "an array"
	case '"':
		kind = "a string"
	case 't', 'f':
		kind = "a boolean"
	case 'n':
		kind = "null"
	}
	return kind + " instead of " + want
}
