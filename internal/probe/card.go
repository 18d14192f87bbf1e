package probe

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/term"
)

// Card lays a report out for a person.
type Card struct {
	Color  bool
	Strict bool // warnings count as failures
}

// How much of a report a card shows; JSON has all of it.
const (
	cardTools    = 50
	cardFindings = 8
	cardNames    = 6 // tools that one finding is shown for
	cardStderr   = 10
	cardText     = 400 // characters of anything the server said
)

// Write writes the card.
func (c Card) Write(w io.Writer, r *Report) error {
	out := &cardWriter{Card: c, Paint: term.Paint(c.Color), out: bufio.NewWriter(w)}
	out.server(&r.Server)
	out.tools(&r.Tools)
	out.line("%s", out.Bold("Checks"))
	for i := range r.Checks {
		out.check(&r.Checks[i])
	}
	out.text("Noise on standard output", r.Noise)
	if r.Stderr != "" {
		lines := strings.Split(r.Stderr, "\n")
		out.text("End of standard error", lines[max(0, len(lines)-cardStderr):])
	}
	out.verdict(r)
	return out.out.Flush()
}

type cardWriter struct {
	Card
	term.Paint
	out *bufio.Writer
}

func (c *cardWriter) line(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// mark is the sign of a status, and the colour of what it stands before.
func (c *cardWriter) mark(s Status) (sign, color string) {
	switch s {
	case Pass:
		return "✓", "32"
	case Fail:
		return "✗", "31"
	case Warn:
		return "!", "33"
	case Error:
		return "?", "33"
	}
	return "-", "2"
}

// foreign is text of the server as part of a line.
func (c *cardWriter) foreign(s string) string {
	if len(s) > cardText {
		s = strings.ToValidUTF8(s[:cardText], "") + "…"
	}
	return term.Sanitize(s)
}

func (c *cardWriter) server(s *Server) {
	name := strings.TrimSpace(s.Name + " " + s.Version)
	if name == "" {
		name = "a server without a name"
	}
	c.line("%s  %s\n", c.Bold(c.foreign(name)), c.Dim(c.foreign(s.Target)))
}

func (c *cardWriter) tools(l *ToolList) {
	if len(l.Tools) == 0 {
		return
	}
	c.line("%s  %s", c.Bold("Tools"), c.Dim("(* is an argument that is required)"))
	for i := range l.Tools {
		if i == cardTools {
			c.line("  … and %d more", l.Count-cardTools)
			break
		}
		c.line("  %s", c.tool(&l.Tools[i]))
	}
	c.line("")
}

func (c *cardWriter) tool(t *Tool) string {
	var args []string
	for _, a := range t.Arguments {
		name := clip(a.Name)
		if a.Required {
			name += "*"
		}
		args = append(args, name)
	}
	hint := ""
	switch {
	case t.ReadOnly != nil && *t.ReadOnly:
		hint = "  read-only"
	case t.Destructive != nil && *t.Destructive:
		hint = "  destructive"
	}
	return c.foreign(t.Name) + "(" + c.foreign(strings.Join(args, ", ")) + ")" + c.Dim(hint)
}

func (c *cardWriter) check(check *Check) {
	sign, color := c.mark(check.Status)
	summary := c.foreign(check.Summary)
	if check.Status == Pass || check.Status == Skip {
		summary = c.Dim(summary)
	}
	c.line("  %s %-14s  %s", c.With(color, sign), check.ID, summary)
	groups := grouped(check.Findings)
	for i, g := range groups {
		if i == cardFindings {
			c.line("      … and %d more; --json has them all", len(groups)-cardFindings)
			break
		}
		c.line("      %s", c.group(g))
	}
}

// group is what is said of several tools.
type group struct {
	level   Status
	message string
	tools   []string
}

// grouped puts findings that say the same together, the worst first.
func grouped(findings []Finding) (groups []group) {
	at := map[string]int{}
	for _, f := range findings {
		i, known := at[f.Message]
		if !known {
			i = len(groups)
			at[f.Message] = i
			groups = append(groups, group{level: f.Level, message: f.Message})
		}
		if f.Tool != "" {
			groups[i].tools = append(groups[i].tools, clip(f.Tool))
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		switch {
		case worse(a.level, b.level):
			return -1
		case worse(b.level, a.level):
			return 1
		}
		return 0
	})
	return groups
}

func (c *cardWriter) group(g group) string {
	names := g.tools
	if more := len(names) - cardNames; more > 0 {
		names = append(names[:cardNames:cardNames], fmt.Sprintf("%d more", more))
	}
	text := c.foreign(g.message)
	if len(names) > 0 {
		text = c.foreign(strings.Join(names, ", ")) + ": " + text
	}
	return text
}

func (c *cardWriter) text(title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	c.line("\n%s", c.Bold(title))
	for _, l := range lines {
		c.line("  %s", c.foreign(l))
	}
}

func (c *cardWriter) verdict(r *Report) {
	worst := r.Verdict
	if r.Failed(c.Strict) {
		worst = Fail
	}
	text := fmt.Sprintf("%d passed, %d warned, %d failed", r.Count(Pass), r.Count(Warn), r.Count(Fail))
	if worst == Error {
		text += ", the rest could not be found out"
	}
	sign, color := c.mark(worst)
	c.line("\n%s; no tool was called", c.With(color, sign+" "+text))
}
