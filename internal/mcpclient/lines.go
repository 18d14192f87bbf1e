package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A lineReader cuts a stream into lines of at most max bytes. A longer line is
// read to its end without being kept, so that the stream stays usable.
type lineReader struct {
	r   *bufio.Reader
	max int
}

// A line is what next found. Of one that is too long only both ends are here.
type line struct {
	text       []byte
	tooLong    bool
	head, tail []byte
}

// keptEnd is how much of each end of an overlong line is kept: enough to find
// the id in what usually surrounds a result.
const keptEnd = 256

func newLineReader(r io.Reader, limit int64) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: int(limit)}
}

// next returns the next line without its ending. The text is the caller's to
// keep. Text before the end of the stream counts as a line too.
func (l *lineReader) next() (line, error) {
	var ln line
	for {
		chunk, err := l.r.ReadSlice('\n')
		ln.add(chunk, l.max)
		switch {
		case err == nil:
			return ln, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(chunk) > 0 || len(ln.text) > 0 || ln.tooLong:
			// The error comes again with the next call.
			return ln, nil
		default:
			return ln, err
		}
	}
}

func (ln *line) add(chunk []byte, limit int) {
	chunk = bytes.TrimSuffix(chunk, []byte("\n"))
	if !ln.tooLong && len(ln.text)+len(chunk) <= limit {
		ln.text = append(ln.text, chunk...)
		return
	}
	if !ln.tooLong {
		ln.tooLong = true
		whole := append(ln.text, chunk...)
		ln.head = bytes.Clone(whole[:min(keptEnd, len(whole))])
		ln.text, chunk = nil, whole
	}
	tail := append(ln.tail, chunk...)
	ln.tail = bytes.Clone(tail[max(0, len(tail)-keptEnd):])
}

// id finds the id of an overlong response in what is left of it, near its
// start or near its end.
func (ln *line) id() (int64, bool) {
	head := bytes.TrimPrefix(ln.head, []byte("data:")) // of a server-sent event
	if m, ok := parseMessage(headObject(head)); ok && m.id != nil {
		return m.number()
	}
	if i := bytes.LastIndex(ln.tail, []byte(`"id"`)); i >= 0 {
		if m, ok := parseMessage(append([]byte("{"), ln.tail[i:]...)); ok {
			return m.number()
		}
	}
	return 0, false
}

// headObject closes the start of an object behind its last complete member.
func headObject(head []byte) []byte {
	head = bytes.TrimSpace(head)
	for end := len(head); ; {
		end = bytes.LastIndexByte(head[:end], ',')
		if end < 0 {
			return nil
		}
		object := append(bytes.Clone(head[:end]), '}')
		if _, ok := parseMessage(object); ok {
			return object
		}
	}
}

// maxMisses bounds the search for a message within a line, which would take
// quadratic time on a line made for it.
const maxMisses = 8

// sift separates the JSON-RPC messages of a line from everything else. take
// reports whether a JSON text is a message. Noise and a message may share a
// line, because a banner printed without a line end comes right before the
// first answer.
func sift(text []byte, take func([]byte) bool, noise func([]byte)) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	for misses := 0; len(text) > 0; misses++ {
		if text[0] == '{' || text[0] == '[' {
			end := skipNested(text, 0)
			if take(text[:end:end]) {
				text = bytes.TrimSpace(text[end:])
				misses--
				continue
			}
		}
		next := bytes.Index(text[1:], []byte(`{"jsonrpc"`)) + 1
		if next == 0 || misses >= maxMisses {
			next = len(text)
		}
		noise(text[:next])
		text = text[next:]
	}
}
