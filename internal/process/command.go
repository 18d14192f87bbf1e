package process

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Split splits a command line as a POSIX shell does, and runs and
// expands nothing: variables and globs stay as they are written. So does a
// backslash that does not escape a blank or a quote, because paths of Windows
// have them.
func Split(s string) (words []string, err error) {
	end := uint(0)
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).WordsSeq(strings.NewReader(s)) {
		var parse syntax.ParseError
		switch {
		case errors.As(err, &parse):
			return nil, fmt.Errorf("character %d: %s; a command is not run by a shell: quote what is meant literally", parse.Pos.Offset()+1, parse.Text)
		case err != nil:
			return nil, err
		case strings.TrimSpace(s[end:w.Pos().Offset()]) != "":
			return nil, errComment
		}
		text, err := literal(s, w.Parts)
		if err != nil {
			return nil, err
		}
		words, end = append(words, text), w.End().Offset()
	}
	switch {
	case strings.TrimSpace(s[end:]) != "":
		return nil, errComment
	case len(words) == 0:
		return nil, errors.New("the command is empty")
	}
	return words, nil
}

var errComment = errors.New("a word that starts with # needs quotes")

var escaped = strings.NewReplacer(`\ `, " ", "\\\t", "\t", `\"`, `"`, `\'`, "'")

// literal is a part of a command without its quotes.
func literal(source string, parts []syntax.WordPart) (string, error) {
	var b strings.Builder
	for _, part := range parts {
		text := source[part.Pos().Offset():part.End().Offset()]
		var err error
		switch part := part.(type) {
		case *syntax.SglQuoted:
			text = part.Value
		case *syntax.DblQuoted:
			text, err = literal(source, part.Parts)
		case *syntax.Lit:
			text = escaped.Replace(text)
		case *syntax.ParamExp:
		default:
			err = fmt.Errorf("%s is not run: put it into single quotes", text)
		}
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}
