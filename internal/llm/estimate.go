package llm

import (
	"unicode"
	"unicode/utf8"
)

// Tokens is how large a call is thought to be before it is made.
type Tokens struct {
	Input  int
	Output int
}

// Total is what counts against a limit of tokens.
func (t Tokens) Total() int { return t.Input + t.Output }

// TypicalOutput is the length assumed of a reply whose request sets no bound:
// about a page with a program in it.
const TypicalOutput = 1024

// What a tokenizer adds to the words: around a message, around a tool, and for
// the instructions that make a model use tools at all.
const (
	perMessage = 4
	perTool    = 12
	perToolbox = 250
)

// Estimate tells roughly how many tokens a call takes: what text makes of it
// by its scripts, a few for each message and tool, and the whole of MaxTokens
// for the reply ([TypicalOutput] where it is not set). No vendor's tokenizer
// is asked: they differ by a third among themselves, and the reply says what
// it was in the end. English and code come out some ten to twenty per cent
// high, so that a budget is not overdrawn.
func Estimate(req *Request) Tokens {
	n := textTokens(req.System) + perMessage
	for _, m := range req.Messages {
		n += textTokens(m.Text) + perMessage
		for _, c := range m.Calls {
			n += textTokens(c.Name) + textTokens(string(c.Input)) + perMessage
		}
		for _, r := range m.Results {
			n += textTokens(r.Text) + perMessage
		}
	}
	for _, t := range req.Tools {
		n += textTokens(t.Name) + textTokens(t.Description) + textTokens(string(t.Input)) + perTool
	}
	if len(req.Tools) > 0 {
		n += perToolbox
	}
	if req.Schema != nil {
		n += textTokens(string(req.Schema.Schema)) + perTool
	}
	return Tokens{Input: n, Output: outputTokens(req)}
}

func outputTokens(req *Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	return TypicalOutput
}

// textTokens counts by what tokenizers do to scripts: ASCII makes a token of
// three to four bytes, Chinese, Japanese and Korean one or more of a
// character, other letters one of two.
func textTokens(s string) int {
	var ascii, wide, other int
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			ascii++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), unicode.Is(unicode.So, r):
			wide++
		default:
			other++
		}
	}
	return (ascii*10+34)/35 + (wide*5+3)/4 + (other+1)/2
}
