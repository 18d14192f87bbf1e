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
	j.tidy = appendLaidOut(j.tidy[:0], bytes.TrimSuffix(j.buf.Bytes(), []byte("\n")), prefix)
	return j.tidy, nil
}

// line gives v in JSON on one line, with its end.
func (j *jsonWriter) line(v any) ([]byte, error) {
	j.buf.Reset()
	if err := j.enc.Encode(v); err != nil {
		return nil, err
	}
	j.tidy = appendTidy(j.tidy[:0], j.buf.Bytes())
	return j.tidy, nil
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
	depth := 0
	newline := func() {
		dst = append(append(dst, '\n'), prefix...)
		for range depth {
			dst = append(dst, "  "...)
		}
	}
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '"':
			end := stringEnd(src, i)
			dst = appendTidy(dst, src[i:end])
			i = end - 1
		case '{', '[':
			dst = append(dst, c)
			if i+1 < len(src) && src[i+1] == c+2 { // the closing one is two further in ASCII
				i++
				dst = append(dst, c+2)
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			dst = append(dst, c)
		case ',':
			dst = append(dst, c)
			newline()
		case ':':
			dst = append(dst, ": "...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// stringEnd is the index after the string that starts at i.
func stringEnd(src []byte, i int) int {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++ // whatever it escapes
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// appendTidy copies JSON text with its strings spelled as a reader would want
// them: < > & as themselves, also where an input or a rule came with them
// escaped; characters that a terminal would obey, or that reorder what is
// seen, as escapes; bytes that are not UTF-8 as U+FFFD. What it means stays
// the same.
func appendTidy(dst, src []byte) []byte {
	from := 0 // copied up to here
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\\':
			n := 1
			if plain := htmlEscape(src[i:]); plain != 0 {
				dst = append(append(dst, src[from:i]...), plain)
				n = 6
				from = i + n
			} else if bytes.HasPrefix(src[i:], []byte(`\\`)) {
				n = 2 // the second is no start of an escape
			}
			i += n
		case c < 0x7f:
			i++
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
	return append(dst, src[from:]...)
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
