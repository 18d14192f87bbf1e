package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// jsonWriter writes a JSON document piece by piece.
type jsonWriter struct {
	*printer
	buf  bytes.Buffer // one value as the encoder made it
	enc  *json.Encoder
	plan planEncoder
	tidy []byte // the same as it is written
}

func newJSONWriter(w io.Writer) *jsonWriter {
	j := &jsonWriter{printer: newPrinter(w)}
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false)
	return j
}

// encode gives v in JSON, its lines after the first behind the prefix. The
// bytes are good until the next call.
func (j *jsonWriter) encode(prefix string, v any) ([]byte, error) {
	j.buf.Reset()
	if err := j.enc.Encode(v); err != nil {
		return nil, err
	}
	return j.layOut(prefix, bytes.TrimSuffix(j.buf.Bytes(), []byte("\n"))), nil
}

// layOut is JSON as it is written. The bytes are good until the next call.
func (j *jsonWriter) layOut(prefix string, b []byte) []byte {
	j.tidy = appendLaidOut(j.tidy[:0], b, prefix)
	return j.tidy
}

// open writes an object and leaves it open for more members.
func (j *jsonWriter) open(v any) error {
	b, err := j.encode("", v)
	if err != nil {
		return fmt.Errorf("write the head of the report: %w", err)
	}
	j.write(bytes.TrimSuffix(b, []byte("\n}")))
	return nil
}

// list starts an array as the next member of the open object.
func (j *jsonWriter) list(key string) *jsonList {
	j.printf(",\n  %q: [", key)
	return &jsonList{printer: j.printer}
}

type jsonList struct {
	*printer
	n int
}

func (l *jsonList) add(b []byte) {
	if l.n > 0 {
		l.print(",")
	}
	l.print("\n    ")
	l.write(b)
	l.n++
}

func (l *jsonList) end() {
	if l.n > 0 {
		l.print("\n  ")
	}
	l.print("]")
}

// appendLaidOut copies compact JSON on lines of its own, two spaces a level,
// its strings made tidy. It knows that an encoder made its input, which is why
// it takes a fraction of the time of [json.Indent].
func appendLaidOut(dst, src []byte, prefix string) []byte {
	line := append([]byte{'\n'}, prefix...) // and the indentation
	for i := 0; i < len(src); {
		c := src[i]
		i++
		switch c {
		case '"':
			dst, i = appendTidyString(append(dst, '"'), src, i)
		case '{', '[':
			dst = append(dst, c)
			if i < len(src) && src[i] == c+2 { // the closing one is two further in ASCII
				i++
				dst = append(dst, c+2)
				continue
			}
			line = append(line, "  "...)
			dst = append(dst, line...)
		case '}', ']':
			line = line[:max(1, len(line)-2)]
			dst = append(append(dst, line...), c)
		case ',':
			dst = append(append(dst, c), line...)
		case ':':
			dst = append(dst, ": "...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendTidy copies compact JSON with its strings made tidy. What is between
// strings has nothing to change.
func appendTidy(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		dst, i = appendTidyString(dst, src, i)
	}
	return dst
}

// odd marks the bytes of a string that are not simply copied.
var odd = func() (t [256]bool) {
	for c := range t {
		t[c] = c == '"' || c == '\\' || c >= 0x7f
	}
	return t
}()

// appendTidyString copies a string from behind its first quote to behind its
// last, spelled as a reader would want it: < > & as themselves, also where an
// input or a rule came with them escaped; characters that a terminal would obey,
// or that reorder what is seen, as escapes; bytes that are not UTF-8 as U+FFFD.
// What it means stays the same. It returns the index after the string.
func appendTidyString(dst, src []byte, i int) ([]byte, int) {
	from := i // copied up to here
	for {
		for i < len(src) && !odd[src[i]] {
			i++
		}
		if i >= len(src) {
			return append(dst, src[min(from, len(src)):]...), len(src)
		}
		switch src[i] {
		case '"':
			i++
			return append(dst, src[from:i]...), i
		case '\\':
			if plain := htmlEscape(src[i:]); plain != 0 {
				dst = append(append(dst, src[from:i]...), plain)
				i += 6
				from = i
				continue
			}
			i++
			if i < len(src) && (src[i] == '"' || src[i] == '\\') {
				i++ // no end of the string, no start of an escape
			}
		default:
			r, n := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && n == 1 || obeyed(r) {
				dst = append(dst, src[from:i]...)
				dst = fmt.Appendf(dst, `\u%04x`, r)
				from = i + n
			}
			i += n
		}
	}
}

// htmlEscape is the character behind one of the escapes that encoding/json
// uses to keep JSON safe inside HTML, or 0.
func htmlEscape(b []byte) byte {
	if len(b) < 6 || string(b[:4]) != `\u00` {
		return 0
	}
	switch string(b[4:6]) {
	case "3c":
		return '<'
	case "3e":
		return '>'
	case "26":
		return '&'
	}
	return 0
}

// obeyed tells characters a terminal acts on, or that change the order in
// which text is shown. All are below U+10000.
func obeyed(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x61c || r == 0x200e || r == 0x200f ||
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
