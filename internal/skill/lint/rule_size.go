package lint

import (
	"strings"
	"unicode/utf8"
)

// The specification's recommendations.
const (
	maxLines      = 500
	maxBodyTokens = 5000
	minBodyTokens = 100

	maxReferenceTokens = 10_000
	maxPackage         = 8 << 20 // what Anthropic's platform takes as an upload
)

// tokens estimates how many tokens a model's tokenizer makes of a text: four characters each, a little over one each in
// scripts without spaces.
func tokens(text string) int {
	ideographs := 0
	for _, r := range text {
		if r >= 0x2e80 {
			ideographs++
		}
	}
	return (utf8.RuneCountInString(text)-ideographs)/4 + ideographs
}

var sizeLines = Rule{
	ID: "size-lines", Family: "size", Severity: Warning,
	Doc:     "The file has more than 500 lines.",
	Explain: "The whole file goes into the model's context as soon as the skill is used. Move what is needed only now and then to files under references/ and say when to read them.",
	check: func(p *pass) {
		text := strings.TrimRight(p.Text, "\r\n")
		if n := p.LineAt(len(text)); n > maxLines {
			p.line(maxLines+1, nil, "the file has %d lines; the specification recommends at most %d", n, maxLines)
		}
	},
}

var sizePackage = Rule{
	ID: "size-package", Family: "size", Severity: Warning, Profiles: []string{ClaudeCode, Strict},
	Doc:     "The files of the skill are too large to be uploaded.",
	Explain: "Anthropic's platform takes skills of up to 8 MB. Leave out what the skill does not need, or say where it can be got.",
	check: func(p *pass) {
		total, largest := int64(len(p.Text)), bundledFile{}
		for _, f := range p.bundle() {
			total += f.size
			if f.size > largest.size {
				largest = f
			}
		}
		if total > maxPackage {
			p.file(nil, "the files of the skill have %d MB together, more than %d; %s is the largest", total>>20, maxPackage>>20, largest.name)
		}
	},
}

var sizeReference = Rule{
	ID: "size-reference", Family: "size", Severity: Warning,
	Doc:     "A reference file has more than about 10,000 tokens.",
	Explain: "The model reads the whole file when it needs one thing from it. The specification asks for focused files: split it by topic and say in SKILL.md when to read which. Tokens are estimated at four characters each.",
	check: func(p *pass) {
		for _, f := range p.bundle() {
			if f.kind != prose || f.size < maxReferenceTokens || !strings.HasPrefix(f.name, "references/") {
				continue
			}
			if text, ok := p.content(f.name); ok && tokens(text) > maxReferenceTokens {
				p.bundled(f.name, "%s has about %d tokens; a reference should have less than %d", f.name, tokens(text), maxReferenceTokens)
			}
		}
	},
}

var sizeSparse = Rule{
	ID: "size-sparse", Family: "size", Severity: Info, Profiles: []string{Strict},
	Doc:     "The body is very short.",
	Explain: "Under 100 tokens there is little a model would not do anyway.",
	check: func(p *pass) {
		if len(p.Body()) >= 16*minBodyTokens { // a token has four characters at most, and a character four bytes
			return
		}
		if n := tokens(p.Body()); n < minBodyTokens && strings.TrimSpace(p.Body()) != "" {
			p.line(p.textLine(), nil, "the body has only about %d tokens", n)
		}
	},
}

var sizeTokens = Rule{
	ID: "size-tokens", Family: "size", Severity: Warning,
	Doc:     "The body has more than about 5000 tokens.",
	Explain: "The specification recommends less than 5000, because all of it is paid for on each use. Tokens are estimated at four characters each.",
	check: func(p *pass) {
		if len(p.Body()) <= 3*maxBodyTokens { // a token has three bytes at least
			return
		}
		if n := tokens(p.Body()); n > maxBodyTokens {
			p.line(p.textLine(), nil, "the body has about %d tokens; the specification recommends less than %d", n, maxBodyTokens)
		}
	},
}
