package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// An event is one server-sent event.
type event struct {
	name, id string
	data     []byte
	retry    time.Duration // -1 if the event does not set it
	cut      bool          // the stream ended before the event did
	tooLong  *line         // what is left of an event over the limit
}

// An eventReader cuts a text/event-stream into events.
type eventReader struct {
	r     *bufio.Reader
	limit int64
	// drain reads an event over the limit to its end, without keeping it, so
	// that the stream stays usable.
	drain  bool
	skipLF bool // the last line ended with CR, so an LF belongs to it
}

func newEventReader(r io.Reader, limit int64) *eventReader {
	return &eventReader{r: bufio.NewReader(r), limit: limit}
}

// next returns the next event that carries anything. An event that the end of
// the stream cuts short is given out too: servers forget the blank line after
// the last one.
func (e *eventReader) next() (event, error) {
	ev := event{retry: -1}
	found := false
	for size := int64(0); ; {
		ln, err := e.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return event{}, err
		}
		size += int64(len(ln.text))
		blank := len(ln.text) == 0 && !ln.tooLong
		switch {
		case ev.tooLong != nil:
		case ln.tooLong || size > e.limit:
			ev.tooLong, ev.data, found = &ln, nil, true
			if !e.drain {
				return ev, nil
			}
		case !blank:
			found = ev.set(ln.text) || found
		}
		ev.cut = err != nil
		switch {
		case found && (blank || ev.cut):
			return ev, nil
		case ev.cut:
			return event{}, io.EOF
		case blank:
			size = 0 // comments that keep the stream alive do not add up
		}
	}
}

// set takes one line of an event. It reports false for comments and unknown
// fields, which do not make an event.
func (ev *event) set(ln []byte) bool {
	name, value, _ := bytes.Cut(ln, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		ev.name = string(value)
	case "id":
		ev.id = string(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry = time.Duration(ms) * time.Millisecond
		}
	case "data":
		if ev.data != nil {
			ev.data = append(ev.data, '\n')
		}
		ev.data = append(ev.data, value...)
		if ev.data == nil {
			ev.data = []byte{}
		}
	default:
		return false
	}
	return true
}

// line reads a line ended by LF, CR or both. At the end of the stream it
// returns what is left together with io.EOF.
func (e *eventReader) line() (line, error) {
	var ln line
	for {
		if _, err := e.r.Peek(1); err != nil {
			return ln, err
		}
		chunk, _ := e.r.Peek(e.r.Buffered())
		if e.skipLF {
			e.skipLF = false
			if chunk[0] == '\n' {
				_, _ = e.r.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			ln.add(chunk, int(e.limit))
			_, _ = e.r.Discard(len(chunk))
			if ln.tooLong && !e.drain {
				return ln, nil
			}
			continue
		}
		ln.add(chunk[:end], int(e.limit))
		e.skipLF = chunk[end] == '\r'
		_, _ = e.r.Discard(end + 1)
		return ln, nil
	}
}

// isMessage reports whether the event carries a JSON-RPC message.
func (ev *event) isMessage() bool {
	return len(ev.data) > 0 && (ev.name == "" || ev.name == "message")
}
