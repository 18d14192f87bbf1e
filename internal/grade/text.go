package grade

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/reason"
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

// The words of reasons, as package reason has them.

const shown = reason.Shown

func cut(s string) string               { return reason.Cut(s, shown) }
func quote(s string) string             { return reason.Quote(s) }
func quoteAll(texts []string) string    { return reason.QuoteAll(texts) }
func oneLine(s string, most int) string { return reason.OneLine(s, most) }
func counted(n int, noun string) string { return reason.Count(n, noun) }

func decimal[T int | float64](v T) string { return reason.Decimal(v) }

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
