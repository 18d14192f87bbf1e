package term

// Paint colours text, or leaves it alone.
type Paint bool

// With paints by the codes of a terminal, such as "1;31".
func (p Paint) With(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Bold is bold text.
func (p Paint) Bold(s string) string { return p.With("1", s) }

// Dim is dim text.
func (p Paint) Dim(s string) string { return p.With("2", s) }

// Red is red text.
func (p Paint) Red(s string) string { return p.With("31", s) }

// Green is green text.
func (p Paint) Green(s string) string { return p.With("32", s) }

// Yellow is yellow text.
func (p Paint) Yellow(s string) string { return p.With("33", s) }

// Title is a heading.
func (p Paint) Title(s string) string { return p.With("1;34", s) }

// Alarm is a heading that warns.
func (p Paint) Alarm(s string) string { return p.With("1;31", s) }
