package lint

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/skill"
)

// phrase is a pattern that is tried on lines with a word it needs. It is compiled when the first such line is met.
type phrase struct {
	words   wordGroup
	also    [][]string // one of each of these, in lower case, is on the line too: compiling and trying the pattern takes long
	pattern func() *regexp.Regexp
}

func pattern(alternatives ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)" + strings.Join(alternatives, "|")) })
}

// match visits where a phrase stands in a source, unless the text warns of it.
func (p *pass) match(s *source, f *phrase, visit func(start, end int)) {
	last := 0
	s.linesAbout(f.words, func(start, end int) {
		if start = max(start, last); start >= end || p.full() {
			return
		}
		line := s.text[start:end]
		lower := strings.ToLower(line)
		for _, words := range f.also {
			if !containsAny(lower, words) {
				return
			}
		}
		if m := f.pattern().FindStringIndex(line); m != nil && !s.commented(start+m[0]) && !s.warns(start+m[0]) {
			last = start + m[1]
			visit(start+m[0], start+m[1])
		}
	})
}

var securityBinary = Rule{
	ID: "security-binary", Family: "security", Severity: Warning,
	Doc:     "A bundled file is compiled code.",
	Explain: "Nobody can read what it does before an agent runs it. Bundle the source, or say where the program can be got.",
	check: func(p *pass) {
		for _, f := range p.bundle() {
			if what := compiled(p, f); what != "" && !p.full() {
				p.bundled(f.name, "%s is %s", f.name, what)
			}
		}
	},
}

// isSource reports whether files with an extension are the source of programs.
func isSource(ext string) bool {
	switch ext {
	case ".py", ".sh", ".js", ".ts", ".go", ".rb", ".ps1", ".mjs", ".tsx", ".rs", ".java", ".bash":
		return true
	}
	return false
}

// compiled says what a file is by its first bytes, empty when it is no compiled code.
func compiled(p *pass, f bundledFile) string {
	ext := path.Ext(f.name)
	if f.size < 8 || f.kind == media || f.kind == prose || f.kind == data || isSource(ext) {
		return ""
	}
	file, err := p.Folder.Open(f.name)
	if err != nil {
		return ""
	}
	defer file.Close()
	var head [4]byte
	if _, err := file.Read(head[:]); err != nil {
		return ""
	}
	switch magic := string(head[:]); {
	case magic == "\x7fELF", magic == "\xcf\xfa\xed\xfe", magic == "\xce\xfa\xed\xfe", magic[:2] == "MZ" && (ext == ".exe" || ext == ".dll"):
		return "a compiled program"
	case magic == "\xca\xfe\xba\xbe":
		return "a compiled class or program"
	case ext == ".pyc" && magic[2:] == "\r\n":
		return "compiled Python"
	}
	return ""
}

var securityConcealment = Rule{
	ID: "security-concealment", Family: "security", Severity: Error,
	Doc:     "The skill tells the model to hide something from the user.",
	Explain: "There is no good reason for it in a skill. Texts that forbid or describe such behaviour are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			p.match(s, &concealment, func(start, end int) {
				if !s.quoted(start, end) {
					p.in(s, start, end, nil, "an instruction to hide something from the user")
				}
			})
		})
	},
}

var concealment = phrase{aboutHiding, [][]string{{"without", "hide ", "conceal ", "keep ", "tell ", "inform ", "notify ", "alert ", "mention ", "reveal ", "disclose "}, {
	"telling ", "informing ", "notifying ", "alerting ", "knowledge", "noticing", "from the user", "from users", "do not ", "don't ", "don’t ", "never ",
}}, pattern(
	`without (?:ever )?(?:telling|informing|notifying|alerting) the user\b`,
	`without the user(?:'s|’s)? (?:knowledge|noticing)`,
	`\b(?:hide|conceal) (?:this|it|them|that|all of this|these \w+) from (?:the user|users)\b`,
	`\bkeep (?:this|it) (?:secret|hidden) from (?:the user|users)\b`,
	`\b(?:do not|don['’]t|never) (?:tell|inform|notify|alert) the user (?:about (?:this|these|it|the)|of (?:this|these|it)|that you (?:have|did|are|were|will))\b`,
	`\b(?:do not|don['’]t|never) (?:mention|reveal|disclose) (?:this|it|any of this|these \w+)(?: \w+)? to the user\b`,
)}

var securityInjection = Rule{
	ID: "security-injection", Family: "security", Severity: Error,
	Doc:     "The skill tries to override the model's instructions.",
	Explain: "Phrases such as \"ignore all previous instructions\" have no place in a skill. Texts that warn of them, quote them or explain them are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			p.match(s, &injection, func(start, end int) {
				if !s.quoted(start, end) {
					p.in(s, start, end, nil, "an attempt to override the model's instructions")
				}
			})
		})
	},
}

var injection = phrase{aboutInjection, [][]string{{"instruction", "prompt", "rule", "guideline", "message", "directive", "unrestricted", "jailbroken", "developer mode", "check", "filter", "polic", "restriction"}, {
	"previous ", "prior ", "above ", "earlier ", "preceding ", "system ", "safety ", "content ", "security ", "unrestricted", "jailbroken", "developer mode",
}}, pattern(
	`\b(?:ignore|disregard|forget|override) (?:all |any |every )?(?:of )?(?:the |your |my )?(?:previous|prior|above|earlier|preceding|system|safety) (?:instructions|prompts?|rules|guidelines|messages|directives)\b`,
	`\b(?:reveal|print|output|repeat|show) (?:your|the) (?:full |entire |hidden )?system prompt\b`,
	`\byou are (?:now )?(?:in )?(?:an? )?(?:unrestricted|jailbroken|developer mode)\b`,
	`\bbypass (?:all |any |the |your )?(?:safety|content|security) (?:checks|filters?|guidelines|polic(?:y|ies)|restrictions)\b`,
)}

var securityDownload = Rule{
	ID: "security-download", Family: "security", Severity: Info,
	Doc:     "A script from the network is run without being looked at.",
	Explain: "curl … | sh runs whatever the server sends that day. It is how many tools are installed; pin a version and check a sum where you can.",
	check: func(p *pass) {
		p.downloads(func(s *source, start, end int, line string) {
			if insecureURL(line) == "" {
				p.in(s, start, end, nil, "a script from the network is run without being looked at")
			}
		})
	},
}

var securityInsecureDownload = Rule{
	ID: "security-insecure-download", Family: "security", Severity: Error,
	Doc:     "A script from an untrustworthy address is run.",
	Explain: "The address is not encrypted, a bare number, a link shortener or a paste site: what is run can be anyone's.",
	check: func(p *pass) {
		p.downloads(func(s *source, start, end int, line string) {
			if why := insecureURL(line); why != "" {
				p.in(s, start, end, nil, "a script from %s is run", why)
			}
		})
	},
}

var pipeToShell = phrase{aboutDownload, [][]string{{"|", "$(", "<(", "downloadstring", "iwr", "irm"}}, pattern(
	`\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:-\w+\s+)*(?:ba|z|da|k)?sh\b`,
	`\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b\s*(?:-\s*)?(?:$|[;&|`+"`"+`])`,
	`\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b`,
	`\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|\n]*\|\s*(?:iex|invoke-expression)\b`,
	`\b(?:iex|invoke-expression)\b[\s("'&{$]*(?:new-object\b[^\n]*downloadstring|(?:iwr|irm|invoke-webrequest|invoke-restmethod|curl|wget)\b\s+[^\n]*:)`,
)}

// downloads visits the commands that run a script from the network.
func (p *pass) downloads(visit func(s *source, start, end int, line string)) {
	p.eachSource(func(s *source) {
		p.match(s, &pipeToShell, func(start, end int) {
			from, to := s.around(start)
			if line := s.text[from:to]; !isLocal(line) {
				visit(s, start, end, line)
			}
		})
	})
}

// isLocal reports whether a command talks to this machine.
func isLocal(line string) bool {
	return strings.Contains(line, "localhost") || strings.Contains(line, "127.0.0.1")
}

// insecureURL says what is wrong with the addresses in a command, empty when nothing is.
func insecureURL(line string) string {
	lower := strings.ToLower(line)
	for _, host := range [...]string{"bit.ly/", "tinyurl.com/", "t.co/", "goo.gl/", "is.gd/", "pastebin.com/", "paste.ee/", "transfer.sh/", "hastebin.com/", "rentry.co/", "0x0.st/"} {
		if strings.Contains(lower, "/"+host) || strings.Contains(lower, " "+host) {
			return strings.TrimSuffix(host, "/")
		}
	}
	for _, scheme := range [...]string{"http://", "https://"} {
		_, after, ok := strings.Cut(lower, scheme)
		number := after[:len(after)-len(strings.TrimLeft(after, "0123456789."))]
		switch {
		case ok && strings.Count(number, ".") == 3:
			return "a bare IP address"
		case ok && scheme == "http://":
			return "an unencrypted address"
		}
	}
	return ""
}

var securityDestructive = Rule{
	ID: "security-destructive", Family: "security", Severity: Error,
	Doc:     "A command deletes the whole disk or home folder, or starts processes without end.",
	Explain: "rm -rf of / or of the home folder, and fork bombs. Texts that quote such commands or warn of them are not reported.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			p.match(s, &destruction, func(start, end int) {
				if !s.quoted(start, end) && !containsAny(s.above(start, 4), denying[:]) {
					p.in(s, start, end, nil, "a command that destroys more than a skill may touch")
				}
			})
		})
	},
}

// denying are words above a list of what is not to be done.
var denying = [...]string{"block", "deny", "denied", "forbid", "prevent", "guard", "reject", "disallow"}

var destruction = phrase{aboutDestroying, nil, pattern(
	`:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:`,
	`\brm\s+(?:-\S+\s+)*-(?:\w*r\w*|-recursive)\s+(?:-\S+\s+)*(?:/|~/?|\$HOME/?|\$\{HOME\}/?|/\*)(?:\s*$|\s*[;&|]|\s+-|\s+2?>)`,
)}

var securityObfuscation = Rule{
	ID: "security-obfuscation", Family: "security", Severity: Error,
	Doc:     "Encoded text is decoded and run.",
	Explain: "Code that is kept in base64, hex or character numbers and handed to a shell or to eval cannot be read before it is run. There is no need for it in a skill.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			p.match(s, &decodeAndRun, func(start, end int) {
				if !s.listed(start) {
					p.in(s, start, end, nil, "encoded text is decoded and run")
				}
			})
		})
	},
}

var decodeAndRun = phrase{aboutDecoding, [][]string{{"|", "eval", "exec", "function", "powershell"}}, pattern(
	`\b(?:base64\s+(?:-d|--decode)|xxd\s+-r(?:\s+-p)?)\b[^|\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|node)\b`,
	`\b(?:eval|exec)\s*\(\s*(?:compile\s*\(\s*)?(?:zlib\.decompress\s*\(\s*)?(?:__import__\(['"]base64['"]\)\.|base64\.)?b64decode\s*\(`,
	`\b(?:eval|new\s+Function)\s*\(\s*(?:atob|String\.fromCharCode)\s*\(`,
	`\beval\s+["']?(?:\$\(|`+"`"+`)[^)\n]*\bbase64\s+(?:-d|--decode)\b`,
	`\bpowershell(?:\.exe)?\b[^\n]*\s-e(?:c|nc|ncodedcommand)?\s+[a-z0-9+/=]{40,}`,
)}

var securityExfiltration = Rule{
	ID: "security-exfiltration", Family: "security", Severity: Error,
	Doc:     "A command sends credentials or the environment to the network, or an image address carries data out.",
	Explain: "One line reads keys, passwords or the whole environment and hands them to a network command; or an image's address has a place to be filled in, so that showing it sends the data.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			p.match(s, &credentials, func(start, end int) {
				from, to := s.around(start)
				if line := s.text[from:to]; !isLocal(line) && uploads().MatchString(line) {
					p.in(s, start, end, nil, "credentials are handed to a network command")
				}
			})
		})
		own := p.sources()[0]
		for i := range p.Links {
			l := &p.Links[i]
			_, query, ok := strings.Cut(l.Target, "?")
			if l.Image && l.Kind == skill.LinkURL && ok && strings.ContainsAny(query, "{}$<") && !own.warns(l.Start) {
				p.reportLink(l, nil, "the address of the image is to be filled in with data")
			}
		}
	},
}

// credentials are files with keys, and the environment as a whole.
var credentials = phrase{aboutSending, [][]string{{"ssh", "id_rsa", "id_ed25519", "credentials", ".netrc", "/etc/", "config", "env", "$(set"}}, pattern(
	`~/\.ssh/`, `\bid_(?:rsa|ed25519)\b`, `\.aws/credentials`, `\.netrc\b`, `/etc/(?:passwd|shadow)\b`, `\.kube/config\b`, `\.docker/config\.json`,
	`\$\((?:env|printenv|set)\b[^)]*\)`, "`(?:env|printenv)`", `\b(?:env|printenv)\s*\|`, `@\.env\b`, `\bcat \S*\.env\b`, `<\s*\.env\b`,
	`json\.dumps\((?:dict\()?os\.environ`, `JSON\.stringify\(process\.env\)`, `(?:data|json)=(?:dict\()?os\.environ\b`,
)}

// uploads are the ways a command sends data. Reading a key to log in with it is none.
var uploads = pattern(`\bcurl\b.*\s(?:-[a-z]*[dFT]\b|--data|--form|--upload-file|--json)`, `\bcurl\b[^|]*[?&][\w-]+=[^|]*\$`, `\bwget\b.*--(?:post|body)`, `\|\s*nc\b`, `/dev/tcp/`,
	`\.post\(`, `\.put\(`, `\bfetch\(`, `\burlopen\(`, `\bmethod\s+(?:post|put)\b`, `\|\s*curl\b`)

var securityRemote = Rule{
	ID: "security-remote", Family: "security", Severity: Warning,
	Doc:     "The skill has the model follow instructions from the network.",
	Explain: "Whoever controls the address decides what the agent does, from one day to the next and without a review. Bring the instructions into the skill. Reading documentation is not meant.",
	check: func(p *pass) {
		p.eachSource(func(s *source) {
			if s.kind == prose {
				p.match(s, &remoteOrders, func(start, end int) {
					p.in(s, start, end, nil, "instructions from the network are to be followed")
				})
			}
		})
	},
}

var remoteOrders = phrase{aboutRemote, [][]string{{"instructions", "commands", "steps"}, {"follow", "execute", "obey", "run ", "carry out", "do "}}, pattern(
	`\b(?:fetch|download|curl|wget|load|visit|open|read|get)\b[^.\n]{0,60}\bhttps?://[^\s)"'`+"`"+`>]+[^.\n]{0,40}\b(?:and|then)\b (?:then )?(?:exactly )?(?:follow|execute|obey|run|carry out|do)\b (?:exactly )?(?:all |any |each )?(?:of )?(?:the |its |their |those |these )?(?:instructions|commands|steps)\b`,
	`\b(?:fetch|download|load|read|get) and (?:then )?(?:follow|execute|obey|run) (?:the |all |its )?(?:instructions|commands|steps) (?:at|from|in|on) [<(]?https?://`,
)}

var securitySecret = Rule{
	ID: "security-secret", Family: "security", Severity: Error,
	Doc:     "The file holds a secret key.",
	Explain: "Whoever can read the skill can use the key. Revoke it, and read it from the environment instead. Keys that are plainly examples are not reported.",
	check: func(p *pass) {
		for _, s := range p.sources() {
			last := 0
			s.linesAbout(aboutKeys, func(start, end int) {
				for _, k := range findSecrets(s.text, max(start, last), end) {
					last = max(last, k.end)
					p.in(s, k.start, k.end, nil, "this looks like %s (%d characters)", k.kind, k.end-k.start)
				}
			})
		}
	},
}
