package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Class says what kept a call from getting a reply.
type Class string

// The classes of errors. RateLimited, Overloaded, Server, Transport, Timeout
// and Malformed may be gone at the next try; the others will not be.
const (
	Auth        Class = "auth"         // the key is wrong or may not do this
	NotFound    Class = "not_found"    // no such model or endpoint
	Invalid     Class = "invalid"      // the vendor turned the request down
	RateLimited Class = "rate_limited" // too many requests or tokens
	Overloaded  Class = "overloaded"   // the vendor has too much to do
	Server      Class = "server"       // the vendor broke
	Transport   Class = "transport"    // the line did
	Timeout     Class = "timeout"
	Malformed   Class = "malformed"  // what came back is no reply
	Quota       Class = "quota"      // the account is out of money: waiting does not help
	Unrecorded  Class = "unrecorded" // replaying, and the call is not on the tape
)

// Error is a call without a reply. It never holds a key: what vendors say is
// cut and cleaned before it gets here.
type Error struct {
	Class      Class
	Provider   string
	Model      string
	Status     int           // HTTP status, 0 when there was none
	RetryAfter time.Duration // what the vendor asked for; 0 when it did not
	Limits     *Limits       // what the vendor says is left, nil when it does not
	Usage      *eval.Usage   // what the vendor says the call took all the same; nil when it does not
	Message    string
	Err        error
}

func (e *Error) Error() string {
	s := e.Message
	if e.Provider != "" {
		s = fmt.Sprintf("%s:%s: %s", e.Provider, e.Model, s)
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary tells whether another try may get a reply.
func (e *Error) Temporary() bool {
	switch e.Class {
	case RateLimited, Overloaded, Server, Transport, Timeout, Malformed:
		return true
	}
	return false
}

// ClassOf gives the class of an error, "" when it is not one of ours.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

// errorJSON is an error on a tape, or on its way from another process.
type errorJSON struct {
	Class    Class  `json:"class"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Status   int    `json:"status,omitempty"`
	Message  string `json:"message"`
	Stop     string `json:"stop,omitempty"` // why the run is to end
}

// MarshalJSON writes what the error says. Of what it wraps it keeps an
// [eval.Stop]: a spent budget ends the run also where the error is read back.
func (e *Error) MarshalJSON() ([]byte, error) {
	j := errorJSON{e.Class, e.Provider, e.Model, e.Status, e.Message, ""}
	var stop *eval.Stop
	if errors.As(e.Err, &stop) {
		j.Stop = stop.Why
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads an error back.
func (e *Error) UnmarshalJSON(b []byte) error {
	var j errorJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = Error{Class: j.Class, Provider: j.Provider, Model: j.Model, Status: j.Status, Message: j.Message}
	if j.Stop != "" {
		e.Err = &eval.Stop{Why: j.Stop}
	}
	return nil
}
