package term

import (
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Guard is a writer in front of a CI log that reads commands from what it
// shows. GitHub Actions obeys lines that begin with "::", blanks before it or
// not, and "##[name]" anywhere in a line: an answer could hide text from the log
// or make up errors. A backslash in front of the first, and a space inside the
// second, which JSON allows, take their meaning away. All else is written as it
// is. It may be used from many goroutines.
type Guard struct {
	inner io.Writer

	mu     sync.Mutex
	begun  bool // the line has more than blanks
	colon  bool // the line begins with a colon, which is written
	hashes int  // in a row, just written
}

// NewGuard puts a guard in front of a writer.
func NewGuard(w io.Writer) *Guard { return &Guard{inner: w} }

// Unguarded is the writer behind a guard, for commands that are our own and for
// what no log shows. It gives any other writer as it is.
func Unguarded(w io.Writer) io.Writer {
	if g, ok := w.(*Guard); ok {
		return g.inner
	}
	return w
}

func (g *Guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.inner.Write(g.disarm(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// disarm is what is written instead of p.
func (g *Guard) disarm(p []byte) []byte {
	out := make([]byte, 0, len(p)+8)
	for i, n := 0, 0; i < len(p); i += n {
		var r rune
		r, n = utf8.DecodeRune(p[i:])
		switch {
		case r == '\n' || r == '\r':
			g.begun, g.colon = false, false
		case g.begun:
		case r == ':':
			if g.colon || i+1 < len(p) && p[i+1] == ':' {
				out = append(out, '\\')
			}
			g.begun, g.colon = g.colon || i+1 < len(p), true
		case g.colon || !unicode.IsSpace(r) && (r != utf8.RuneError || n > 1): // not what may be half a blank
			g.begun = true
		}
		if r == '[' && g.hashes > 1 {
			out = append(out, ' ')
		}
		if g.hashes++; r != '#' {
			g.hashes = 0
		}
		out = append(out, p[i:i+n]...)
	}
	return out
}
