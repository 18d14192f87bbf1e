package grade

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// wanted is a text to look for in answers, made ready once.
type wanted struct {
	text      string
	sensitive bool
	lines     bool // the text spans lines, so how an answer ends its lines matters
}

func want(value string, sensitive bool) wanted {
	w := wanted{sensitive: sensitive, lines: strings.Contains(value, "\n")}
	w.text = w.ready(value)
	return w
}

// unified gives a text its line ends as suites have them: an answer's may be
// CRLF and still say the same.
func (w wanted) unified(text string) string {
	if w.lines {
		return strings.ReplaceAll(text, "\r\n", "\n")
	}
	return text
}

// ready gives a text in the form it is compared in.
func (w wanted) ready(text string) string {
	if w.sensitive {
		return w.unified(text)
	}
	return fold(w.unified(text))
}

func (w wanted) in(text string) bool {
	if w.sensitive {
		return strings.Contains(w.unified(text), w.text)
	}
	return containsFold(w.unified(text), w.text)
}

// anyCase tells whether a text that was not found as it is written would be
// in other case: the likeliest slip, worth a word in the reason.
func (w wanted) anyCase(text string) string {
	if w.sensitive && strings.Contains(fold(text), fold(w.text)) {
		return ", only in other case"
	}
	return ""
}

// trim takes off what JavaScript's trim does: white space and a byte order mark.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// shown is the most characters of a value that a reason quotes.
const shown = 80

// cut shortens a text for a reason.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// quote shows a text on one line, cut.
func quote(s string) string { return strconv.Quote(cut(s, shown)) }

// quoteAll lists texts, as many as fit a line.
func quoteAll(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		q := quote(t)
		if i > 0 && b.Len()+len(q) > 2*shown {
			return fmt.Sprintf("%s and %d more", b.String(), len(texts)-i)
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(q)
	}
	return b.String()
}

// oneLine puts foreign words on one line, control characters taken out.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.Join(strings.Fields(s), " "), most)
}

// counted says "1 word", "3 words".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// judged is a full or empty score that says what was seen and, as far as it
// still matters, what was wanted: under not, a pass is not what was.
func judged(ok bool, seen, wanted string) eval.Score {
	if ok {
		return eval.PassIf(true, "%s (%s)", seen, wanted)
	}
	return eval.PassIf(false, "%s, want %s", seen, wanted)
}

// bounds says what a number between optional ends must be.
func bounds[T int | float64](low, high *T) string {
	switch {
	case low != nil && high != nil && *low == *high:
		return "exactly " + decimal(*low)
	case low != nil && high != nil:
		return decimal(*low) + " to " + decimal(*high)
	case low != nil:
		return "at least " + decimal(*low)
	}
	return "at most " + decimal(*high)
}

func within[T int | float64](v T, low, high *T) bool {
	return (low == nil || v >= *low) && (high == nil || v <= *high)
}

// checkRange wants at least one end, and the ends in order.
func checkRange[T int | float64](low, high *T) error {
	switch {
	case low == nil && high == nil:
		return errors.New("give min, max or both")
	case low != nil && high != nil && *low > *high:
		return &kind.FieldError{Field: "max", Err: fmt.Errorf("max is %s, less than min, which is %s", decimal(*high), decimal(*low))}
	}
	return nil
}

func decimal[T int | float64](v T) string { return strconv.FormatFloat(float64(v), 'f', -1, 64) }
