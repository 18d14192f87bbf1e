package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// Exchange is one request and what came back. Give its Do to the SDK as the
// middleware of one call, and make that call by [Call].
type Exchange struct {
	Provider string
	Model    string
	Key      string

	Status  int
	Header  http.Header
	Body    []byte
	Fault   Fault // of a status of 400 and more
	Latency time.Duration
}

// Do sends a request. It lets only replies through to the SDK: bodies of JSON
// with a status below 300. Everything else becomes an [llm.Error] here, because
// SDKs lose the status when they cannot read the body, and quote bodies.
func (x *Exchange) Do(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	start := now()
	res, err := next(req)
	if err != nil {
		return nil, x.broken(err)
	}
	x.Status, x.Header = res.StatusCode, res.Header
	x.Body, err = readAll(res.Body)
	x.Latency = now().Sub(start)
	if err != nil {
		return nil, x.broken(err)
	}
	switch {
	case x.Status >= 400:
		x.Fault = ReadFault(x.Body)
		return nil, x.fault(x.Status)
	case x.Status >= 300:
		return nil, x.redirect(req.URL)
	case !json.Valid(x.Body):
		return nil, x.Malformed(Line(notJSON(x.Body), x.Key))
	}
	res.Body = io.NopCloser(bytes.NewReader(x.Body))
	res.Header.Set("Content-Type", "application/json") // some servers leave it out, and the SDKs insist
	return res, nil
}

var errTooLong = fmt.Errorf("the body is longer than %d MB", MaxBody>>20)

func readAll(body io.ReadCloser) ([]byte, error) {
	defer func() { _ = body.Close() }()
	b, err := io.ReadAll(io.LimitReader(body, MaxBody+1))
	if err == nil && len(b) > MaxBody {
		err = errTooLong
	}
	return b, err
}

// Call makes one call of the SDK within a time limit. What the SDK comes back
// with becomes an error of ours. The caller's context comes first: a call that
// was called off has its error, and one that was late by it is a timeout of
// both.
func Call[T any](caller context.Context, x *Exchange, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(caller, limit)
	defer cancel()
	res, err := f(ctx)
	if err != nil {
		var none T
		return none, x.err(caller, ctx, err)
	}
	return res, nil
}

func (x *Exchange) err(caller, ctx context.Context, err error) error {
	var e *llm.Error
	switch {
	case errors.Is(caller.Err(), context.DeadlineExceeded):
		return x.error(llm.Timeout, "no reply in time", caller.Err())
	case caller.Err() != nil:
		return caller.Err()
	case ctx.Err() != nil:
		return x.error(llm.Timeout, "no reply in time", nil) // not the caller's deadline, so not its error
	case errors.As(err, &e):
		return e
	case x.Status != 0:
		return x.Malformed("the reply does not have the vendor's form")
	}
	return x.error(llm.Invalid, "write the request: "+Line(err.Error(), x.Key), nil)
}

// Filtered is the reply that a vendor's filter stopped, where the vendor says
// so with an error: the model was asked, and will not answer.
func (x *Exchange) Filtered() *llm.Reply {
	r := &llm.Reply{
		Finish:  llm.Filtered,
		Refused: Line(x.Fault.Message, x.Key),
		Model:   x.Model,
		Latency: x.Latency,
		Limits:  Limits(x.Header),
	}
	r.Usage.Calls, r.Usage.Unpriced = 1, 1
	return r
}

// Malformed is the error of a body that is no reply.
func (x *Exchange) Malformed(why string) *llm.Error {
	return x.error(llm.Malformed, why, nil)
}

// Failed is the error inside a body whose status says that all is well, at its
// top or in its first choice, as OpenRouter sends it when the provider behind it
// breaks; nil when there is none.
func (x *Exchange) Failed() *llm.Error {
	var top struct {
		Error   json.RawMessage
		Choices []struct{ Error json.RawMessage }
	}
	_ = json.Unmarshal(x.Body, &top) // a body of another form has none
	if len(top.Error) == 0 && len(top.Choices) > 0 {
		top.Error = top.Choices[0].Error
	}
	if len(top.Error) == 0 {
		return nil
	}
	if x.Fault = ReadFault(slices.Concat([]byte(`{"error":`), top.Error, []byte("}"))); x.Fault == (Fault{}) {
		return nil
	}
	status, err := strconv.Atoi(x.Fault.Code)
	if err != nil || status < 400 || status > 599 {
		return x.error(llm.Server, "the body holds an error: "+Line(x.Fault.Message, x.Key), nil)
	}
	return x.fault(status)
}

func (x *Exchange) fault(status int) *llm.Error {
	message := Line(x.Fault.Message, x.Key)
	if message == "" {
		message = Line(x.Fault.Type+" "+x.Fault.Code, x.Key)
	}
	if message == "" {
		message = http.StatusText(status)
	}
	e := x.error(classify(status, x.Fault), message, nil)
	e.Status = status
	if e.RetryAfter == 0 {
		e.RetryAfter = x.Fault.Retry
	}
	return e
}

// redirect is an error: the key must not go elsewhere, and a POST would come
// out as a GET.
func (x *Exchange) redirect(from *url.URL) *llm.Error {
	to := x.Header.Get("Location")
	if u, err := from.Parse(to); err == nil {
		to = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return x.error(llm.NotFound, "the endpoint redirects to "+Line(to, x.Key)+", which is not followed: set the base URL to it", nil)
}

func (x *Exchange) broken(err error) *llm.Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the URL adds nothing, and may say too much
	}
	var n net.Error
	switch {
	case errors.Is(err, errTooLong):
		return x.error(llm.Malformed, err.Error(), nil)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &n) && n.Timeout():
		return x.error(llm.Timeout, "no reply in time", nil)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return x.error(llm.Transport, "the connection ended before the reply did", io.ErrUnexpectedEOF)
	}
	message := Line(err.Error(), x.Key)
	if mask(err.Error(), x.Key) != err.Error() {
		err = errors.New(message)
	}
	return x.error(llm.Transport, message, err)
}

func (x *Exchange) error(class llm.Class, message string, err error) *llm.Error {
	e := &llm.Error{Class: class, Provider: x.Provider, Model: x.Model, Status: x.Status, Message: message, Err: err}
	if x.Status < 300 {
		e.Usage = reported(x.Body)
	}
	if x.Header != nil {
		e.RetryAfter, e.Limits = RetryAfter(x.Header), Limits(x.Header)
	}
	return e
}

// reported is what a body says that the call took, nil when it does not: a
// reply that cannot be read is paid for, too.
func reported(body []byte) *eval.Usage {
	var b struct {
		Usage *struct {
			Input      int `json:"input_tokens"`
			Output     int `json:"output_tokens"`
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		}
	}
	if json.Unmarshal(body, &b) != nil || b.Usage == nil {
		return nil
	}
	u := b.Usage
	return &eval.Usage{
		Calls: 1, Input: u.Input + u.CacheRead + u.CacheWrite + u.Prompt, Output: u.Output + u.Completion,
		CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Unpriced: 1,
	}
}

func notJSON(body []byte) string {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return "an empty body instead of JSON"
	case isHTML(body):
		return plain(body) + " instead of JSON"
	}
	return "the body is no JSON"
}
