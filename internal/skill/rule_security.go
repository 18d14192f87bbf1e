package skill

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// lowerASCII lowers letters a-z and keeps every byte where it is.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// lower is the text in lower case, made once per file.
func (p *pass) lower() string {
	if p.lowered == "" {
		p.lowered = lowerASCII(p.Text)
	}
	return p.lowered
}

// linesWith calls a function for each line that holds one of some words, given in lower case. The bounds are those of
// the line in the text.
func (p *pass) linesWith(words []string, visit func(start, end int)) {
	text := p.lower()
	seen := -1
	for _, w := range words {
		for from := 0; from < len(text); {
			i := strings.Index(text[from:], w)
			if i < 0 {
				break
			}
			line := p.lines.line(from + i)
			start, end := p.lines.bounds(p.Text, line)
			if line != seen && end-start <= 4096 { // longer lines are data
				visit(start, end)
			}
			seen = line
			from = max(end, from+i+1)
		}
	}
}

// Words by which a text speaks about an attack instead of making one.
var (
	forbidding = []string{"never ", "don't", "don’t", "do not", "must not", "avoid", "❌", "bad:", "# bad", "// bad", "instead of"}
	topics     = []string{
		"attack", "malicious", "injection", "suspicious", "vulnerab", "dangerous", "red flag", "untrusted", "phishing", "jailbreak",
		"adversarial", "refuse", "sanitiz", "threat",
	}
)

// warns reports whether the text in front of an offset forbids what follows, or the text around it, its headings or the
// skill as a whole are about attacks.
func (p *pass) warns(offset int) bool {
	line := p.lines.line(offset)
	start, _ := p.lines.bounds(p.Text, line)
	before := p.lower()[start:offset]
	if above := strings.TrimSpace(p.Line(line - 1)); strings.HasSuffix(above, ":") || strings.HasPrefix(above, "#") || strings.HasPrefix(above, "//") {
		before = lowerASCII(above) + "\n" + before
	}
	if containsAny(before, forbidding) {
		return true
	}
	from, _ := p.lines.bounds(p.Text, max(line-3, 1))
	_, to := p.lines.bounds(p.Text, min(line+1, p.Lines()))
	around := p.lower()[max(from, offset-2000):min(to, offset+2000)]
	for s := p.sectionAt(offset); s != nil; s = s.Parent {
		around += "\n" + strings.ToLower(shorten(s.Title, 200))
	}
	return containsAny(around+"\n"+strings.ToLower(shorten(p.Description(), 2000)), topics)
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// sectionAt is the innermost section of an offset.
func (d *Document) sectionAt(offset int) *Section {
	s := d.Root
	for {
		i := sort.Search(len(s.Children), func(i int) bool { return s.Children[i].Start > offset })
		if i == 0 {
			return s
		}
		s = s.Children[i-1]
	}
}

// quotedAt reports whether a match stands in quotes or back-ticks on its line: then it is spoken about.
func (p *pass) quotedAt(start, end int) bool {
	lineStart, lineEnd := p.lines.bounds(p.Text, p.lines.line(start))
	before, after := p.Text[lineStart:start], p.Text[min(end, lineEnd):lineEnd]
	for _, q := range []string{`"`, "`", "“", "「", "'"} {
		closing := map[string]string{"“": "”", "「": "」"}[q]
		if closing == "" {
			closing = q
		}
		if strings.Count(before, q)%2 == 1 && strings.Contains(after, closing) {
			return true
		}
	}
	return false
}

var securityBidi = Rule{
	ID: "security-bidi", Family: "security", Severity: Error,
	Doc:     "The text has characters that change the direction of writing.",
	Explain: "They make a reader see another text than the model reads. In a text with right-to-left letters only overrides are reported.",
	check: func(p *pass) {
		if !strings.Contains(p.Text, "\xe2\x80") && !strings.Contains(p.Text, "\xe2\x81") {
			return
		}
		rightToLeft := strings.ContainsFunc(p.Text, func(r rune) bool { return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac) })
		for i, r := range p.Text {
			override := r == 0x202d || r == 0x202e
			if override || !rightToLeft && (r >= 0x202a && r <= 0x202c || r >= 0x2066 && r <= 0x2069) {
				p.at(i, i+utf8.RuneLen(r), nil, "U+%04X changes the direction of the text after it", r)
			}
		}
	},
}

var securityHiddenText = Rule{
	ID: "security-hidden-text", Family: "security", Severity: Error, Fixes: true,
	Doc:     "The file has text in invisible characters.",
	Explain: "Characters of the tags block (U+E0000 to U+E007F) are not shown, but models read them as letters. Flags such as that of Scotland use them and are not reported.",
	check: func(p *pass) {
		if !strings.Contains(p.Text, "\xf3\xa0") {
			return
		}
		var hidden strings.Builder
		start, flag := -1, false
		var before rune
		for i, r := range p.Text + "\n" {
			if r < 0xe0000 || r > 0xe007f {
				if start >= 0 && !flag {
					p.at(start, i, replace(start, i, "", "delete the invisible characters"), "invisible text: %q", shorten(hidden.String(), 200))
				}
				start, before = -1, r
				continue
			}
			if start < 0 {
				start, flag = i, before == 0x1f3f4
				hidden.Reset()
			}
			if c := r - 0xe0000; c >= ' ' && c < 0x7f {
				hidden.WriteRune(c)
			}
		}
	},
}

var securityZeroWidth = Rule{
	ID: "security-zero-width", Family: "security", Severity: Warning,
	Doc:     "Invisible characters stand inside a word, or many in a row.",
	Explain: "They hide words from a search and can carry a message. Joiners in emoji and in scripts that need them are not reported.",
	check: func(p *pass) {
		run, start := 0, 0
		var before rune
		for i, r := range p.Text + "\n" {
			if isInvisible(r) && i > 0 {
				if run == 0 {
					start = i
				}
				run++
				continue
			}
			if run >= 4 || run > 0 && isWordASCII(before) && isWordASCII(r) {
				p.at(start, i, nil, "%d invisible characters (U+%04X …)", run, firstRune(p.Text[start:]))
			}
			run, before = 0, r
		}
	},
}

func isInvisible(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0x180e
}

func isWordASCII(r rune) bool { return r < utf8.RuneSelf && isAlnum(byte(r)) }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

var securityConcealment = Rule{
	ID: "security-concealment", Family: "security", Severity: Error,
	Doc:     "The skill tells the model to hide something from the user.",
	Explain: "There is no good reason for it in a skill. Texts that forbid or describe such behaviour are not reported.",
	check: func(p *pass) {
		p.match(concealment(), []string{"the user", "from users"}, func(start, end int) {
			p.at(start, end, nil, "an instruction to hide something from the user")
		})
	},
}

var concealment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)without (?:ever )?(?:telling|informing|notifying|alerting) the user\b|` +
		`without the user(?:'s|’s)? (?:knowledge|knowing|noticing)|` +
		`\b(?:hide|conceal) (?:this|it|them|that|all of this|these \w+) from (?:the user|users)\b|` +
		`\bkeep (?:this|it) (?:secret|hidden) from (?:the user|users)\b|` +
		`\b(?:do not|don['’]t|never) (?:tell|inform|notify|alert) the user (?:about (?:this|these|it|the)|of (?:this|these|it)|that you (?:have|did|are|were|will))\b|` +
		`\b(?:do not|don['’]t|never) (?:mention|reveal|disclose) (?:this|it|any of this|these \w+)(?: \w+)? to the user\b`)
})

// match visits the matches of a pattern on lines that hold one of some words, unless the text quotes them or warns of
// them.
func (p *pass) match(pattern *regexp.Regexp, words []string, visit func(start, end int)) {
	p.linesWith(words, func(start, end int) {
		m := pattern.FindStringIndex(p.Text[start:end])
		if m == nil || p.quotedAt(start+m[0], start+m[1]) || p.warns(start+m[0]) {
			return
		}
		visit(start+m[0], start+m[1])
	})
}

var securityInjection = Rule{
	ID: "security-injection", Family: "security", Severity: Error,
	Doc:     "The skill tries to override the model's instructions.",
	Explain: "Phrases such as \"ignore all previous instructions\" have no place in a skill. Texts that warn of them, quote them or explain them are not reported.",
	check: func(p *pass) {
		p.match(injection(), []string{"ignore", "disregard", "forget", "override", "system prompt", "unrestricted", "bypass"}, func(start, end int) {
			p.at(start, end, nil, "an attempt to override the model's instructions")
		})
	},
}

var injection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:ignore|disregard|forget|override) (?:all |any |every )?(?:of )?(?:the |your |my )?(?:previous|prior|above|earlier|preceding|system|safety) (?:instructions|prompts?|rules|guidelines|messages|directives)\b|` +
		`\b(?:reveal|print|output|repeat|show) (?:your|the) (?:full |entire |hidden )?system prompt\b|` +
		`\byou are (?:now )?(?:in )?(?:an? )?(?:unrestricted|jailbroken|DAN|developer mode)\b|` +
		`\bbypass (?:all |any |the |your )?(?:safety|content|security) (?:checks|filters?|guidelines|polic(?:y|ies)|restrictions)\b`)
})

var securityDownload = Rule{
	ID: "security-download", Family: "security", Severity: Info,
	Doc:     "A script from the network is run without being looked at.",
	Explain: "curl … | sh runs whatever the server sends that day. It is how many tools are installed; pin a version and check a sum where you can.",
	check: func(p *pass) {
		p.downloads(func(start, end int, line string) {
			if insecureURL(line) == "" {
				p.at(start, end, nil, "a script from the network is run without being looked at")
			}
		})
	},
}

var securityInsecureDownload = Rule{
	ID: "security-insecure-download", Family: "security", Severity: Error,
	Doc:     "A script from an untrustworthy address is run.",
	Explain: "The address is not encrypted, a bare number, a link shortener or a paste site: what is run can be anyone's.",
	check: func(p *pass) {
		p.downloads(func(start, end int, line string) {
			if why := insecureURL(line); why != "" {
				p.at(start, end, nil, "a script from %s is run", why)
			}
		})
	},
}

var pipeToShell = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:-\w+\s+)*(?:ba|z|da|k)?sh\b|` +
		`\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b\s*(?:-\s*)?(?:$|[;&|` + "`" + `])|` +
		`\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b|` +
		`\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|\n]*\|\s*(?:iex|invoke-expression)\b|` +
		`\b(?:iex|invoke-expression)\b[^\n]*(?:downloadstring|\biwr\b|\birm\b)`)
})

// downloads visits the commands that run a script from the network, unless the text warns of them.
func (p *pass) downloads(visit func(start, end int, line string)) {
	p.linesWith([]string{"curl", "wget", "iex", "invoke-expression"}, func(start, end int) {
		line := p.Text[start:end]
		m := pipeToShell().FindStringIndex(line)
		if m == nil || strings.Contains(line, "localhost") || strings.Contains(line, "127.0.0.1") || p.warns(start+m[0]) {
			return
		}
		visit(start+m[0], start+m[1], line)
	})
}

// insecureURL says what is wrong with the addresses in a command, empty when nothing is.
func insecureURL(line string) string {
	lower := strings.ToLower(line)
	for _, host := range []string{"bit.ly/", "tinyurl.com/", "t.co/", "goo.gl/", "is.gd/", "pastebin.com/", "paste.ee/", "transfer.sh/", "hastebin.com/", "rentry.co/", "0x0.st/"} {
		if strings.Contains(lower, "/"+host) || strings.Contains(lower, " "+host) {
			return strings.TrimSuffix(host, "/")
		}
	}
	for _, scheme := range []string{"http://", "https://"} {
		_, after, ok := strings.Cut(lower, scheme)
		switch {
		case ok && strings.Trim(after[:len(after)-len(strings.TrimLeft(after, "0123456789."))], ".") != "" && strings.Count(after[:len(after)-len(strings.TrimLeft(after, "0123456789."))], ".") == 3:
			return "a bare IP address"
		case ok && scheme == "http://":
			return "an unencrypted address"
		}
	}
	return ""
}

var securityExfiltration = Rule{
	ID: "security-exfiltration", Family: "security", Severity: Error,
	Doc:     "A command sends credentials or the environment to the network, or an image address carries data out.",
	Explain: "One line reads keys, passwords or the whole environment and hands them to a network command; or an image's address has a place to be filled in, so that showing it sends the data.",
	check: func(p *pass) {
		p.linesWith([]string{"curl", "wget", "fetch(", "requests.post", "requests.get", "httpx.post", "invoke-webrequest", "invoke-restmethod", "| nc ", "/dev/tcp/"}, func(start, end int) {
			line := p.Text[start:end]
			m := credentials().FindStringIndex(line)
			if m == nil || strings.Contains(line, "localhost") || strings.Contains(line, "127.0.0.1") || p.warns(start+m[0]) {
				return
			}
			p.at(start+m[0], start+m[1], nil, "credentials are handed to a network command")
		})
		for i := range p.Links {
			l := &p.Links[i]
			_, query, ok := strings.Cut(l.Target, "?")
			if l.Image && l.Kind == LinkURL && ok && strings.ContainsAny(query, "{}$<") && !p.warns(l.Start) {
				p.reportLink(l, nil, "the address of the image is to be filled in with data")
			}
		}
	},
}

var credentials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)~/\.ssh/|\bid_(?:rsa|ed25519)\b|\.aws/credentials|\.netrc\b|/etc/(?:passwd|shadow)\b|\.kube/config\b|\.docker/config\.json|` +
		`\$\((?:env|printenv|set)\b[^)]*\)|` + "`(?:env|printenv)`" + `|\b(?:env|printenv)\s*\||@\.env\b|\bcat \S*\.env\b|<\s*\.env\b|` +
		`json\.dumps\((?:dict\()?os\.environ|JSON\.stringify\(process\.env\)|(?:data|json)=(?:dict\()?os\.environ\b`)
})

var securitySecret = Rule{
	ID: "security-secret", Family: "security", Severity: Error,
	Doc:     "The file holds a secret key.",
	Explain: "Whoever can read the skill can use the key. Revoke it, and read it from the environment instead. Keys that are plainly examples are not reported.",
	check: func(p *pass) {
		for _, s := range findSecrets(p.Text) {
			p.at(s.start, s.end, nil, "%s", fmt.Sprintf("this looks like %s (%d characters)", s.kind, s.end-s.start))
		}
	},
}
