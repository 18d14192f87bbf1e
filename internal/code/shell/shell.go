// Package shell checks scripts of bash and zsh, and the commands of a session on a console.
package shell

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Checker is who decides on the syntax.
const Checker = "mvdan/sh"

// MaxSize bounds what the parser is given: it recurses without a bound of its own.
const MaxSize = 64 << 10

// Dialect is enough to keep comments and strings apart from commands.
var Dialect = scan.Dialect{HashComments: true}

// Calls finds functions called with brackets only; commands are found by their text.
var Calls = scan.CallRules{Keywords: "if while until case for function select"}

// Check checks a script. A block that shows prompts is a session. A word in angle brackets stands for what the reader
// is to fill in, as it does in every manual: git clone <url>.
func Check(src string) ([]source.Problem, bool) {
	if hasPrompt(src) {
		return CheckSession(src)
	}
	return problemsOf(src, parseShell(src))
}

// CheckSession checks the commands of a session. Without any prompt it cannot be told what was typed.
func CheckSession(src string) ([]source.Problem, bool) {
	commands := session(src)
	for _, c := range commands {
		err := parseShell(c.text)
		if syntax.IsIncomplete(err) {
			continue // it went on without a prompt: the rest of a here-document, of a string
		}
		if problems, checked := problemsOf(c.text, err); len(problems) > 0 || !checked {
			for i := range problems {
				problems[i].Line, problems[i].Col = problems[i].Line+c.line-1, problems[i].Col+c.indent
			}
			return problems, checked
		}
	}
	return nil, len(commands) > 0
}

// errTooLong is for scripts beyond the parser's bound.
var errTooLong = errors.New("too long")

// parseShell reads a script as bash does, and as zsh does where it says something that only zsh has.
func parseShell(src string) error {
	if len(src) > MaxSize {
		return errTooLong
	}
	src = withoutPlaceholders(src)
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(src), "")
	var other syntax.LangError
	if errors.As(err, &other) {
		_, err = syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(src), "")
	}
	return err
}

// problemsOf is what the parser's error says of a script. Any other error says nothing of it.
func problemsOf(src string, err error) ([]source.Problem, bool) {
	if err == nil {
		return nil, true
	}
	var parse syntax.ParseError
	var lang syntax.LangError
	var pos syntax.Pos
	message := err.Error()
	switch {
	case errors.As(err, &parse):
		pos, message = parse.Pos, parse.Text
	case errors.As(err, &lang):
		pos = lang.Pos
		message = strings.TrimPrefix(message, pos.String()+": ")
	default:
		return nil, false
	}
	return []source.Problem{source.ProblemAt(src, int(pos.Offset()), message, Checker)}, true
}

// withoutPlaceholders writes plain words where <name> or <a name> stands, byte for byte at the same place.
func withoutPlaceholders(src string) string {
	out := []byte(src)
	for i := 0; i < len(src); i++ {
		if src[i] != '<' || i > 0 && src[i-1] == '<' {
			continue
		}
		n := i + 1
		for n < len(src) && (source.IsIdentPart(src[n]) && src[n] != '$' || n > i+1 && strings.IndexByte(" -.,/:|@", src[n]) >= 0) {
			n++
		}
		if n < len(src) && src[n] == '>' && n > i+1 && src[n-1] != ' ' && src[n-1] != '|' {
			for j := i; j <= n; j++ {
				out[j] = '_'
			}
			i = n
		}
	}
	return string(out)
}

// prompt is the length of the prompt a line begins with, 0 when it has none.
func prompt(line string) int {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	for _, p := range [...]string{"$ ", "% ", "❯ ", "➜ "} {
		if strings.HasPrefix(line[indent:], p) {
			return indent + len(p)
		}
	}
	return 0
}

func hasPrompt(src string) bool {
	for rest := src; rest != ""; {
		var line string
		line, rest = source.CutLine(rest)
		if text := strings.TrimSpace(line); text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		return prompt(line) > 0
	}
	return false
}

// command is what was typed at one prompt.
type command struct {
	text   string
	line   int
	indent int // characters of the prompt
}

// session reads the commands of a console: each from its prompt to the end of the line, and of the next lines while a
// backslash or a second prompt continues it.
func session(src string) []command {
	var commands []command
	var text strings.Builder
	finish := func() {
		if text.Len() > 0 {
			commands[len(commands)-1].text = text.String()
			text.Reset()
		}
	}
	continued := false
	for n, rest := 1, src; rest != ""; n++ {
		var line string
		line, rest = source.CutLine(rest)
		skip := prompt(line)
		switch {
		case skip > 0 && !continued:
			finish()
			commands = append(commands, command{line: n, indent: len([]rune(line[:skip]))})
		case continued || text.Len() > 0 && strings.HasPrefix(line, "> "):
			skip = len(line) - len(strings.TrimPrefix(line, "> "))
		default:
			finish()
			continue
		}
		text.WriteString(line[skip:] + "\n")
		continued = strings.HasSuffix(line, "\\")
	}
	finish()
	return commands
}
