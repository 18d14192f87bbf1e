package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// Op is what was being done when an [Error] happened.
type Op string

// The operations of a session.
const (
	OpStart   Op = "start"
	OpConnect Op = "connect"
	OpList    Op = "list"
	OpCall    Op = "call"
	OpClose   Op = "close"
)

// Class is the kind of an [Error].
type Class string

// The classes of errors. Only [ClassRPC] is an answer of the server; all
// others mean that no answer could be had.
const (
	ClassTimeout   Class = "timeout"   // a deadline passed
	ClassTransport Class = "transport" // connection, process or HTTP status
	ClassProtocol  Class = "protocol"  // the server spoke, but not MCP
	ClassAuth      Class = "auth"      // 401 or 403
	ClassRPC       Class = "rpc"       // a JSON-RPC error, see RPCError
	ClassCanceled  Class = "canceled"  // the caller or Close gave up
	ClassTooLarge  Class = "too-large" // the answer exceeds MaxMessage
)

// Error is everything that can go wrong with a server. Its text and its
// fields are free of the secrets of the [Config].
type Error struct {
	Op         Op
	Class      Class
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // what the server asked for, 0 if nothing
	Body       string        // start of the HTTP answer, made safe to print
	Attempts   int           // how often it was tried

	text  string
	rpc   *RPCError
	cause error
}

// Error says what was being done, what was seen and after how many tries.
func (e *Error) Error() string { return e.text }

// Unwrap gives access to the [*RPCError], if there is one, and to the cause.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.rpc != nil {
		errs = append(errs, e.rpc)
	}
	if e.cause != nil {
		errs = append(errs, e.cause)
	}
	return errs
}

// RPCError is a JSON-RPC error: an answer of the server. It is retried only
// where an HTTP status of 5xx says that the server broke.
type RPCError struct {
	Code    int64
	Message string
	Data    json.RawMessage
}

// Error gives the code and the message as the server sent them.
func (e *RPCError) Error() string {
	return fmt.Sprintf("JSON-RPC error %d: %s", e.Code, e.Message)
}

// final tells whether the error is about the request itself, so that the next
// try would see the same: the codes of JSON-RPC for what cannot be parsed, is no
// request, names no method or has the wrong parameters.
func (e *RPCError) final() bool {
	return e.Code == -32700 || -32602 <= e.Code && e.Code <= -32600
}

// quiet hides the text of a cause, which may quote the URL or a header, but
// still lets callers ask errors.Is.
type quiet struct {
	err  error
	text string
}

func (q *quiet) Error() string        { return q.text }
func (q *quiet) Is(target error) bool { return errors.Is(q.err, target) }

// A fault is what a conn reports: an Error in the making, with what the retry
// loop needs to know.
type fault struct {
	class      Class
	status     int
	retryAfter time.Duration
	body       string // raw: newError makes an excerpt of it
	text       string // may quote foreign text as it came
	cause      error
	rpc        *RPCError

	challenge *challenge // of a 401 or 403

	again bool // it broke on the way and may be tried again
	paced bool // the server asked for patience: does not use up a try
	lost  bool // the link is dead
}

func (f *fault) Error() string {
	parts := make([]string, 0, 3)
	if f.status >= 300 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("server answered %d %s", f.status, http.StatusText(f.status))))
	}
	if f.text != "" {
		parts = append(parts, f.text)
	}
	switch {
	case f.rpc != nil:
		parts = append(parts, f.rpc.Error())
	case f.cause != nil:
		parts = append(parts, f.cause.Error())
	}
	if f.body != "" && f.rpc == nil {
		parts = append(parts, fmt.Sprintf("%q", f.body))
	}
	return strings.Join(parts, ": ")
}

// reason is the fault in a form that is equal for equal faults, so that they
// can be counted: without the body of an answer and the ports of a connection.
func (f *fault) reason() string {
	g := *f
	g.body = ""
	var op *net.OpError
	if errors.As(f.cause, &op) {
		g.cause = fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return g.Error()
}

func (f *fault) Unwrap() error { return f.cause }

func protocolFault(format string, args ...any) *fault {
	return &fault{class: ClassProtocol, text: fmt.Sprintf(format, args...)}
}

func lostFault(text string, cause error) *fault {
	return &fault{class: ClassTransport, text: text, cause: cause, again: true, lost: true}
}

func tooLargeFault(limit int64) *fault {
	return &fault{class: ClassTooLarge, text: fmt.Sprintf("the answer is larger than %d bytes", limit)}
}

// errClosed is the cause of a context that ended because of [Client.Close].
var errClosed = errors.New("the client is closed")

// A lateError is the cause of a context that ended because one of [Timeouts]
// passed.
type lateError struct {
	timeout string // as settings call it
	limit   time.Duration
}

func (e *lateError) Error() string {
	return fmt.Sprintf("no answer within %s (timeouts.%s)", e.limit, e.timeout)
}

func (e *lateError) Is(target error) bool { return target == context.DeadlineExceeded }

// ctxFault says why ctx ended.
func ctxFault(ctx context.Context) *fault {
	var late *lateError
	if errors.As(context.Cause(ctx), &late) {
		return &fault{class: ClassTimeout, text: late.Error(), cause: context.DeadlineExceeded}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault{class: ClassTimeout, text: "no answer in time", cause: ctx.Err()}
	}
	return &fault{class: ClassCanceled, cause: context.Cause(ctx)}
}

// newError makes the public error of a fault. This is the one place where
// faults turn into text for people, and so the place that removes secrets and
// cuts texts short, in this order: half a secret would not be recognised.
func (s *secrets) newError(op Op, subject string, attempts int, f *fault) *Error {
	g := *f
	g.body, g.text = s.excerpt(f.body, excerptSize), s.excerpt(f.text, 500)
	e := &Error{
		Op: op, Class: f.class, Status: f.status, RetryAfter: f.retryAfter, Body: g.body, Attempts: attempts,
	}
	if f.rpc != nil {
		e.rpc = &RPCError{Code: f.rpc.Code, Message: s.excerpt(f.rpc.Message, 2000), Data: s.scrubJSON(f.rpc.Data)}
		g.rpc = e.rpc
	}
	if f.cause != nil {
		e.cause = &quiet{err: f.cause, text: s.excerpt(f.cause.Error(), 500)}
		g.cause = e.cause
	}
	e.text = string(op)
	if subject != "" {
		e.text += " " + s.excerpt(subject, excerptSize)
	}
	e.text += ": " + g.Error()
	if attempts > 1 {
		e.text += fmt.Sprintf(" (after %d tries)", attempts)
	}
	return e
}
