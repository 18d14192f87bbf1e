package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/skill"
)

// phrase is a list of patterns that are tried on lines with a word of a group.
type phrase struct {
	name     string // of its needs
	words    wordGroup
	also     [][]string // one of each of these, in lower case, is on the line too
	patterns []string   // in any case of letters

	once    sync.Once
	clauses []clause
}

// clause is a pattern with groups of words, in lower case: every match has one of each group. Trying a pattern takes a
// hundred times as long as looking for them, so most are never even compiled.
type clause struct {
	needs   [][]string
	pattern func() *regexp.Regexp
}

// compile prepares the patterns of a phrase.
func (f *phrase) compile() []clause {
	f.once.Do(func() {
		for i, x := range f.patterns {
			f.clauses = append(f.clauses, clause{phraseNeeds[f.name][i], pattern(x)})
		}
	})
	return f.clauses
}

// find is where the first match of the patterns begins and ends, nil when there is none. Lower is the line in lower case.
func (f *phrase) find(line, lower string) []int {
	var first []int
	for i := range f.compile() {
		c := &f.clauses[i]
		if slices.ContainsFunc(c.needs, func(words []string) bool { return !containsAny(lower, words) }) {
			continue
		}
		if m := c.pattern().FindStringIndex(line); m != nil && (first == nil || m[0] < first[0]) {
			first = m
		}
	}
	return first
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
		lower := s.lower()[start:end]
		for _, words := range f.also {
			if !containsAny(lower, words) {
				return
			}
		}
		if m := f.find(s.text[start:end], lower); m != nil && !s.commented(start+m[0]) && !s.warns(start+m[0]) {
			last = start + m[1]
			visit(start+m[0], start+m[1])
		}
	})
}

// phrases are all of them.
var phrases = [...]*phrase{&concealment, &hiddenElement, &injection, &pipeToShell, &destruction, &lockedArchive, &decodeAndRun, &credentials, &keyInAddress, &remoteShells, &filledImage, &orderToSend, &remoteOrders}

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
			if s.isMarkdown() {
				p.match(s, &hiddenElement, func(start, end int) {
					if !s.fenced(start) && !s.quoted(start, end) {
						p.in(s, start, end, nil, "text that the model reads and the user does not see")
					}
				})
			}
		})
	},
}

const (
	notTo   = `\b(?:do not|don['’]t|never|must not|should not) `
	theUser = `(?:the |your )?users?`
)

var concealment = phrase{name: "concealment", words: aboutHiding, patterns: []string{
	`without (?:ever )?(?:telling|informing|notifying|alerting) ` + theUser + `\b`,
	`without the user(?:'s|’s)? (?:knowledge|noticing)`,
	`\b(?:hide|conceal) (?:this|it|them|that|all of this|these)(?: \w+){0,3} from ` + theUser + `\b`,
	`\bkeep (?:this|it|that|these)(?: \w+){0,3} (?:secret|hidden|quiet|confidential) from ` + theUser + `\b`,
	notTo + `(?:tell|inform|notify|alert) ` + theUser + ` (?:about (?:this|these|it|the)|of (?:this|these|it)|that (?:this|these|it|you))\b`,
	notTo + `(?:mention|reveal|disclose|include|report) (?:this|it|any of this|these|the existence)(?: \w+){0,5} (?:to (?:` + theUser + `|anyone)|in (?:your|the) (?:summary|answer|response|reply|report|output|log))\b`,
	notTo + `(?:reveal|disclose|mention|admit) to (?:` + theUser + `|anyone)\b`,
	notTo + `log (?:this|these) \w+`,
	`\bthe user (?:must|should|may|can) (?:not|never) (?:know|learn|notice|find out|be (?:told|aware|informed))\b`,
	`\b(?:make sure|ensure|so) (?:that )?the user (?:does not|doesn['’]t|never|cannot|can['’]t) (?:know|learns?|notices?|sees?|finds? out|suspects?)\b`,
	`\b(?:secretly|covertly) (?:\w+ ){0,1}(?:add|copy|send|upload|collect|forward|read|run|execute|install|record|store|download|insert|change|log|track)`,
	`(?:^|[.!:;]\s+|[-*]\s|\d\.\s|\bthen |\band )(?:silently|quietly) (?:copy|send|upload|forward|collect|transmit|record|exfiltrate)\b`,
	`\bif (?:the user |they |anyone )?ask(?:s|ed)?\b[^.\n]{0,40}[,:] *(?:then )?(?:deny|lie|claim|pretend|say (?:that )?(?:it|you|nothing))\b`,
	`\bas if nothing (?:had |has )?happened\b`,
	`<!--\s*(?:(?:note|message|instructions?) (?:to|for) )?(?:the )?(?:ai|assistant|agent|claude|gpt|llm|model|system)(?: (?:agent|assistant|model))?\s*[:,][^>]{20,}`,
	`\bhistory -c\b`, `\bunset HISTFILE\b`, `\bHISTSIZE=0\b`, `\bHISTFILE=/dev/null`, `\b(?:rm|shred)\b[^\n]*\.(?:bash|zsh)_history\b`,
}}

// hiddenElement is a piece of markup that is not shown and has words in it.
var hiddenElement = phrase{name: "hiddenElement", words: aboutHiding, also: [][]string{{"hidden", "style="}, {"</"}}, patterns: []string{
	`<\w+[^>]*\sstyle\s*=\s*["'][^"'>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em)?\s*[;"']|[^-]color\s*:\s*(?:white|transparent|#fff(?:fff)?)\s*[;"']|opacity\s*:\s*0\s*[;"'])[^>]*>[^<]*\w+ \w+[^<]*<`,
	`<\w+[^>]*\s(?:style=["']color\s*:\s*white[^>]*|hidden)\s*>[^<]*\w+ \w+[^<]*<`,
}}

var securityInjection = Rule{
	ID: "security-injection", Family: "security", Severity: Error,
	Doc:     "The skill tries to override the model's instructions.",
	Explain: "Phrases such as \"ignore all previous instructions\" have no place in a skill. Texts that warn of them, quote them or explain them are not reported.",
	check: func(p *pass) {
		p.eachText(func(s *source) {
			p.match(s, &injection, func(start, end int) {
				if !s.quoted(start, end) {
					p.in(s, start, end, nil, "an attempt to override the model's instructions")
				}
			})
		})
	},
}

const earlier = `(?:previous|prior|above|earlier|preceding|former|original|existing|system|safety|security)`

var injection = phrase{name: "injection", words: aboutInjection, patterns: []string{
	`\b(?:ignore|disregard|forget|override|discard) (?:all |any |every )?(?:of )?(?:the |your |my |these |those )?` + earlier + ` (?:\w+ )?(?:instructions?|prompts?|rules|guidelines|messages|directives|polic(?:y|ies)|constraints)\b`,
	`\bforget (?:everything|all) (?:that )?(?:you|above|before)\b`,
	`\b(?:` + earlier + `|your) (?:instructions|rules|guidelines|polic(?:y|ies)|constraints|text)(?: \w+){0,3} (?:no longer appl(?:y|ies)|do not apply|don['’]t apply|(?:is|are) (?:void|suspended|cancelled|superseded|overridden))\b`,
	`\btext above is void\b`,
	`\b(?:reveal|print|output|repeat|show|display|dump) (?:your|the) (?:full |entire |hidden |complete |original |whole )*system prompt\b`,
	`\byou are (?:now |no longer )?(?:in )?(?:an? )?(?:unrestricted|jailbroken|unfiltered|uncensored|developer mode|god mode|bound by|restricted by|limited by)\b`,
	`\byour new (?:role|task|identity|instructions?) (?:is|are)\b`,
	`\b(?:act|behave|respond|pretend|imagine)\b[^.\n]{0,40}\b(?:without|no|free (?:of|from)) (?:any )?(?:restrictions|limitations|filters|guardrails|safety rules)\b`,
	`\bact as DAN\b`,
	`\bbypass (?:all |any |the |your )?(?:safety|content|security|permission|approval|confirmation) (?:checks|prompts?|dialogs?|filters?|guidelines|polic(?:y|ies)|restrictions|rules)\b`,
	`\b(?:disable|turn off|switch off) (?:all |any |the |your )*(?:safety|confirmation|permission) (?:checks|prompts?|filters?|guidelines|guardrails)\b`,
	`</?system>.{0,80}\b(?:from now on|obey|ignore|do as|you (?:may|must|are|can|will)|new instructions|override)`,
	`<\|im_start\|>\s*system\b`,
	`^\W*system\W*[\]:]\W*(?:new instructions|you are now|from now on|override|ignore)`,
	`\b(?:has|have|takes?|given) (?:absolute |the |highest )*(?:precedence|priority) over (?:the |any |all |your )*(?:system (?:prompt|message|instructions)|user(?:'s|’s)? (?:instructions|requests?|wishes)|anything the user|safety)\b`,
	`\b(?:ai|llm)[ -](?:agents?|assistants?|models?)\b[^\n]{0,60}:.{0,100}\b(?:stop (?:your|the) task|is (?:void|cancelled)|disregard|ignore (?:the|all|your)|instead\b|e-?mail the|upload the|send the)`,
	`\bnever ask (?:the user )?for (?:permission|confirmation|approval|consent)\b`,
	`\bwithout asking (?:the user )?for (?:permission|confirmation|approval|consent)\b[^.\n]{0,40}\b(?:even (?:if|when)|regardless|whatever|no matter)\b`,
	`\b(?:append|add|write|save|insert|copy)\b[^\n]{0,120}(?:CLAUDE\.md|AGENTS\.md|MEMORY\.md|\.cursorrules|\.claude/\S+)\b[^\n]{0,80}\b(?:obey(?:ed|s)?|trust(?:ed)?|without asking)\b`,
}}

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

var pipeToShell = phrase{name: "pipeToShell", words: aboutDownload, also: [][]string{{"|", "$(", "<(", "downloadstring", "iwr", "irm", "requests.", "urlopen", "fetch(", "httpx."}}, patterns: []string{
	`\b(?:exec|eval)\s*\(\s*(?:compile\s*\(\s*)?(?:await\s*\(?\s*)*(?:requests\.get|httpx\.get|urllib\.request\.urlopen|urlopen|fetch)\s*\(`,
	`\b(?:python3?|node|perl|ruby|php)\s+-[cer]\s+["']?\$\(\s*(?:curl|wget)\b`,
	`\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:-\w+\s+)*(?:ba|z|da|k)?sh\b`,
	`\b(?:curl|wget)\b[^|;&\n]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b\s*(?:-\s*)?(?:$|[;&|` + "`" + `])`,
	`\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b`,
	`\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|\n]*\|\s*(?:iex|invoke-expression)\b`,
	`\b(?:iex|invoke-expression)\b[\s("'&{$]*(?:new-object\b[^\n]*downloadstring|(?:iwr|irm|invoke-webrequest|invoke-restmethod|curl|wget)\b\s+[^\n]*:)`,
}}

// downloads visits the commands that run a script from the network.
func (p *pass) downloads(visit func(s *source, start, end int, line string)) {
	p.eachText(func(s *source) {
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
	Doc:     "A command deletes the whole disk or home folder, overwrites a device, or starts processes without end.",
	Explain: "rm -rf of / or of the home folder in any language, writing to a disk's device, deleting the main branch or a production database, and fork bombs. Texts that quote such commands or warn of them are not reported.",
	check: func(p *pass) {
		p.eachText(func(s *source) {
			p.match(s, &destruction, func(start, end int) {
				if (!s.quoted(start, end) || s.ordered(start)) && !containsAny(s.above(start, 4), denying[:]) {
					p.in(s, start, end, nil, "a command that destroys more than a skill may touch")
				}
			})
		})
	},
}

// denying are words above a list of what is not to be done.
var denying = [...]string{"block", "deny", "denied", "forbid", "prevent", "guard", "reject", "disallow"}

const (
	homeFolders = `(?:~|\$HOME|\$\{HOME\}|\$env:USERPROFILE|%USERPROFILE%)`
	wholeDisk   = `(?:/(?:\*|(?:etc|usr|var|home|boot|bin|lib|opt|root|Users|System)/?\*?)?|` + homeFolders + `(?:/(?:\*|\.|Documents\S*|Desktop\S*|Pictures\S*)?)?)`
	commandEnd  = `["']?(?:\s*$|\s*[;&|)"'` + "`" + `]|\s+-|\s+2?>|\s+[~/$]|\s+and\b)`
	device      = `/dev/(?:sd|hd|vd|xvd|nvme|disk|rdisk|mmcblk)\w*`
)

var destruction = phrase{name: "destruction", words: aboutDestroying, patterns: []string{
	`:\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:`,
	`\brm\s+(?:-\S+\s+)*-(?:\w*r\w*|-recursive)\s+(?:-\S+\s+)*["']?` + wholeDisk + commandEnd,
	`\brm\b[^\n]*--no-preserve-root`,
	`\bdd\b[^\n|;]*\bof=` + device, `\bmkfs(?:\.\w+)?\s[^\n|;]*` + device, `\b(?:wipefs|sgdisk|shred)\b[^\n|;]*` + device, `[^>2]>\s*` + device, `^\s*>\s*` + device,
	`\bshred\b[^\n]*` + homeFolders + `/`, `\bdiskutil\s+erase\w*`,
	`\brmtree\(\s*(?:os\.path\.expanduser\(\s*["']~/?["']|(?:pathlib\.)?Path\.home\(\)\s*[,)]|["'](?:/|~|C:\\+)["']|os\.environ\[["']HOME["']\]\s*[,)])`,
	`\b(?:fs(?:\.promises)?\.(?:rm|rmdir)(?:Sync)?|rimraf(?:\.sync)?|fse?\.remove(?:Sync)?)\(\s*(?:os\.homedir\(\)\s*[,)]|process\.env\.HOME\s*[,)]|["'](?:/|~|C:\\+)["'])`,
	`\bRemove-Item\b[^\n]*-Recurse[^\n]*(?:[A-Z]:\\(?:\s|$|["'*]|Users|Windows)|` + homeFolders + `(?:["']?\s|["']?$|\\\*))`,
	`\bRemove-Item\b[^\n]*[A-Z]:\\(?:\*|Users|Windows)[^\n]*-Recurse`,
	`\bfind\s+["']?(?:/|` + homeFolders + `)["']?/?\s[^\n]*(?:-delete\b|-exec\s+rm\b)`,
	`\bch(?:mod|own)\s+-R\s+\S+\s+["']?(?:/|` + homeFolders + `)/?["']?(?:\s|$|[;&|])`,
	`\b(?:del|erase)\s+(?:/\w\s+)*[A-Z]:\\(?:\s|$|\*)`, `\b(?:rd|rmdir)\s+(?:/\w\s+)+[A-Z]:\\(?:\s|$|\*|Users|Windows)`, `(?:^|[\s&;])format\s+[a-z]:`,
	`\bdrop\s+database\s+(?:if\s+exists\s+)?\W?\w*prod\w*`,
	`\bkubectl\s+delete\s+(?:ns|namespaces?|all|pv|nodes?)\b[^\n]*--all\b`,
	`\bgit\s+push\b[^\n;|&]*(?:--delete\s+|\s-d\s+|\s:)(?:main|master)\b`,
}}

var securityObfuscation = Rule{
	ID: "security-obfuscation", Family: "security", Severity: Error,
	Doc:     "Encoded text is decoded and run, or a locked archive is unpacked and run.",
	Explain: "Code that is kept in base64, hex or character numbers and handed to a shell or to eval cannot be read before it is run, and neither can what is in an archive with a password. There is no need for it in a skill.",
	check: func(p *pass) {
		p.eachText(func(s *source) {
			p.match(s, &decodeAndRun, func(start, end int) {
				if !s.listed(start) {
					p.in(s, start, end, nil, "encoded text is decoded and run")
				}
			})
			p.match(s, &lockedArchive, func(start, end int) {
				p.in(s, start, end, nil, "an archive that is locked by a password is unpacked and run")
			})
		})
	},
}

// lockedArchive is an archive that no scanner can look into.
var lockedArchive = phrase{name: "lockedArchive", words: aboutArchives, also: [][]string{{"zip", "7z", "archive", "extract", "unpack", ".rar"}, {"&&", ";", "run", "execute", "install", "./", "launch", "start"}}, patterns: []string{
	`\bunzip\b[^\n]*\s-P\s*\S+`, `\b7z\w*\s+[xe]\b[^\n]*\s-p\S+`,
	`\b(?:extract|unzip|unpack|decompress|open)\b[^\n]{0,160}\b(?:with|using)\s+(?:the\s+)?pass(?:word|phrase|code)\b[^\n]{0,80}\b(?:run|execute|install|launch|start|open)`,
	`\bpassword[- ]protected\s+(?:zip|archive|file)\b[^\n]{0,120}\b(?:run|execute|install|launch|start)\b`,
}}

var decodeAndRun = phrase{name: "decodeAndRun", words: aboutDecoding, also: [][]string{{"|", "eval", "exec", "function", "powershell"}}, patterns: []string{
	`\b(?:eval|exec)\s*\(\s*(?:compile\s*\(\s*)?(?:bytes\.fromhex|(?:binascii\.)?unhexlify|marshal\.loads|codecs\.decode|zlib\.decompress)\s*\(`,
	`\b(?:eval|new\s+Function|vm\.runIn\w+)\s*\(\s*Buffer\.from\s*\([^)\n]*["'](?:base64|hex)["']`,
	`\b(?:printf|echo\s+-e)\s+["'](?:\\x[0-9a-f]{2}){4,}[^|\n]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b`,
	`\bopenssl\s+enc\b[^|\n]*-d\b[^|\n]*\|\s*(?:ba|z|da|k)?sh\b`,
	`\b(?:base64\s+(?:-d|--decode)|xxd\s+-r(?:\s+-p)?)\b[^|\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|node)\b`,
	`\b(?:eval|exec)\s*\(\s*(?:compile\s*\(\s*)?(?:zlib\.decompress\s*\(\s*)?(?:__import__\(['"]base64['"]\)\.|base64\.)?b64decode\s*\(`,
	`\b(?:eval|new\s+Function)\s*\(\s*(?:atob|String\.fromCharCode)\s*\(`,
	`\beval\s+["']?(?:\$\(|` + "`" + `)[^)\n]*\bbase64\s+(?:-d|--decode)\b`,
	`\bpowershell(?:\.exe)?\b[^\n]*\s-e(?:c|nc|ncodedcommand)?\s+[a-z0-9+/=]{20,}`,
}}

var securityExfiltration = Rule{
	ID: "security-exfiltration", Family: "security", Severity: Error,
	Doc:     "A command sends credentials or the environment to the network, or an image address carries data out.",
	Explain: "One line reads keys, passwords or the whole environment and hands them to a network command; or an image's address has a place to be filled in, so that showing it sends the data.",
	check: func(p *pass) {
		p.eachText(func(s *source) {
			p.match(s, &credentials, func(start, end int) {
				from, to := s.around(start)
				if line := s.text[from:to]; !isLocal(line) && (uploads().MatchString(line) || s.sentLater(start, line)) {
					if i := strings.IndexAny(s.text[start:end], "~$/"); i == 1 || i == 2 {
						start += i // what stands in front was looked at to tell a key from a file
					}
					p.in(s, start, end, nil, "credentials are handed to a network command")
				}
			})
			p.match(s, &keyInAddress, func(start, end int) {
				if line := s.text[start:end]; !isLocal(line) && goesElsewhere(line) {
					p.in(s, start, end, nil, "a key is sent to somebody it does not belong to")
				}
			})
			p.match(s, &remoteShells, func(start, end int) {
				p.in(s, start, end, nil, "a shell or its output is handed to another machine")
			})
			if s.kind == prose {
				p.match(s, &filledImage, func(start, end int) {
					if !s.own || s.quoted(start, end) || s.fenced(start) {
						p.in(s, start, end, nil, "the address of the image is to be filled in with data")
					}
				})
				p.match(s, &orderToSend, func(start, end int) {
					from, to := s.around(start)
					if line := strings.ToLower(s.text[from:to]); !s.quoted(start, end) && !containsAny(line, logins[:]) {
						p.in(s, start, end, nil, "an order to send what is not the skill's to send")
					}
				})
			}
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
var credentials = phrase{name: "credentials", words: aboutSending | aboutShells, patterns: []string{
	`(?:^|[^i]\s|[^\s])(?:~|\$HOME|\$\{HOME\}|/root|/home/\w+)/\.(?:ssh|aws|gnupg|netrc|npmrc|pypirc|git-credentials|kube|docker/config|config/gcloud|azure|env)\b`,
	`expanduser\(["']~/\.\w+`, `\bhomedir\(\)[^\n]{0,20}\.(?:ssh|aws|gnupg|netrc|npmrc|kube)\b`,
	`\bid_(?:rsa|ed25519)\b`, `\.aws/credentials`, `\.netrc\b`, `/etc/(?:passwd|shadow)\b`, `\.kube/config\b`, `\.docker/config\.json`,
	`\$\((?:env|printenv|set)\b[^)]*\)`, "`(?:env|printenv)`", `\b(?:env|printenv)\s*\|`, `@\.env\b`, `\bcat \S*\.env\b`, `<\s*\.env\b`,
	`\bsecurity\s+find-(?:generic|internet)-password\b`, `\b(?:Login Data|cookies\.sqlite|key4\.db|wallet\.dat)\b`,
	`(?:json\.dumps|str|dict|repr)\(\s*(?:dict\(\s*)?os\.environ\s*\)`, `(?:data|json|content)=(?:dict\()?os\.environ\b(?:[^.\[]|$)`,
	`JSON\.stringify\(\s*process\.env\s*\)`, `:\s*process\.env\s*[,})]`, `\.\.\.process\.env\b`,
}}

// uploads are the ways a command sends data. Reading a key to log in with it is none.
var uploads = pattern(`\bcurl\b.*\s(?:-[a-z]*[dFT]\b|--data|--form|--upload-file|--json)`, `\bcurl\b[^|]*[?&][\w-]+=[^|]*\$`, `\bwget\b.*--(?:post|body)`, `\|\s*n(?:c|cat)\b`, `/dev/tcp/`,
	`\.post\(`, `\.put\(`, `\bfetch\(`, `\burlopen\(`, `\bmethod\s+(?:post|put)\b`, `\|\s*(?:\S+\s+)*?(?:xargs\b[^|]*)?\bcurl\b`, `\bscp\b[^|]*\s\S+:\S*`, `\brsync\b[^|]*(?:\s\S+@\S+:|rsync://)`,
	`\baws\s+s3\s+(?:cp|sync|mv)\b.*\ss3://`, `\b(?:nslookup|dig|host)\b`, `\bsendBeacon\(`, `\.sendmail\(`, `\b(?:send|upload|post|e-?mail|forward|transmit)\b[^.\n]{0,80}\b(?:to|into)\b[^.\n]{0,40}(?:https?://|webhook|server|endpoint|bucket)`)

// sentLater reports whether a line of a script that gives a name to something is followed by one that sends it.
func (s *source) sentLater(offset int, line string) bool {
	name, _, ok := strings.Cut(line, "=")
	fields := strings.Fields(name)
	if !ok || s.kind != script || len(fields) == 0 || len(fields) > 3 {
		return false
	}
	name = fields[len(fields)-1]
	for n := s.LineAt(offset) + 1; n <= min(s.LineAt(offset)+10, s.Lines()); n++ {
		from, to := s.Bounds(n)
		next := s.text[from:min(to, from+maxPatternLine)]
		for rest := next; ; {
			before, after, found := strings.Cut(rest, name)
			if !found {
				break
			}
			whole := (before == "" || !isKeyByte(before[len(before)-1])) && (after == "" || !isKeyByte(after[0]))
			if whole && uploads().MatchString(next) && !isLocal(next) {
				return true
			}
			rest = after
		}
	}
	return false
}

// vendors are the beginnings of the names of keys, with what the addresses of their owners have in them.
const vendors = `OPENAI|ANTHROPIC|CLAUDE|AWS|GITHUB|GH|GITLAB|GOOGLE|GEMINI|STRIPE|SLACK|AZURE|HF|NPM|HUGGINGFACE|GROQ|MISTRAL|COHERE|DATABASE|TWILIO|SENDGRID|CLOUDFLARE|VERCEL`

// keyInAddress is a vendor's key in the query or the body of a request.
var keyInAddress = phrase{name: "keyInAddress", words: aboutSending, also: [][]string{{"key", "token", "secret", "password"}}, patterns: []string{
	`https?://[^\s"'?]+\?[^\s]*\b(?:` + vendors + `)_\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*`,
	`https?://\S+[^\n]*(?:\s-d\s|--data\S*\s|json=|data=|params=|body:)[^\n]*\b(?:` + vendors + `)_\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*`,
	`(?:\s-d\s|--data\S*\s)[^\n]*\b(?:` + vendors + `)_\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*[^\n]*https?://\S+`,
}}

var vendorKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + vendors + `)_\w*(?:KEY|TOKEN|SECRET|PASSWORD)`)
})

// goesElsewhere reports whether the address of a request is not one of the vendor whose key it carries.
func goesElsewhere(line string) bool {
	lower := strings.ToLower(line)
	_, host, _ := strings.Cut(lower, "://")
	host, _, _ = strings.Cut(host, "?")
	m := vendorKey().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	vendor := strings.ToLower(m[1])
	switch vendor {
	case "gh":
		vendor = "github"
	case "hf":
		vendor = "huggingface"
	case "claude":
		vendor = "anthropic"
	case "gemini":
		vendor = "google"
	case "aws":
		vendor = "amazon"
	}
	return !strings.Contains(host, vendor)
}

// remoteShells hand a shell, or the output of a command, to another machine.
var remoteShells = phrase{name: "remoteShells", words: aboutShells | aboutSending, patterns: []string{
	`/dev/tcp/[\w.$-]+/\d+`, `\bn(?:c|cat)\b[^\n|;]*\s-\w*[ec]\s*\S*/?(?:ba|z)?sh\b`, `\bmkfifo\b[^\n]*\bnc\b`,
	`\.connect\(\(?[^\n]*(?:dup2|/bin/(?:ba)?sh)`, `\bdup2\([^\n]*/bin/(?:ba)?sh`,
	`\b(?:nslookup|dig|host|ping)\b[^\n]*(?:\$\(|` + "`" + `)\s*(?:cat|whoami|hostname|id|env|base64|uname|head)\b`,
}}

// filledImage is an image whose address is to be filled in, where it is no link of the skill but spoken of.
var filledImage = phrase{name: "filledImage", words: aboutShells, also: [][]string{{"!["}, {"{", "$", "<"}}, patterns: []string{
	`!\[[^\]\n]*\]\(https?://[^)\s]*\?[^)\s]*[{<$]+\s*(?:\w+_)?(?:conversation|chat|history|secrets?|keys?|tokens?|context|prompt|data|env|memory|messages?|user\w*)`,
}}

// orderToSend tells the model to hand out what it knows or finds.
var orderToSend = phrase{name: "orderToSend", words: aboutShells, also: [][]string{{"key", "credential", "password", "secret", "token", "cookie", ".env", ".ssh", "id_rsa", "conversation", "environment variables", "history"}}, patterns: []string{
	`\b(?:send|upload|post|e-?mail|transmit|forward|exfiltrate|submit)\b[^.\n]{0,60}(?:` + belongings + `)[^\n]{0,60}\b(?:to|into)\b[^\n]{0,40}(?:` + strangers + `)`,
	`(?:` + belongings + `)[^\n]{0,80}\b(?:send|upload|post|e-?mail|transmit|forward|exfiltrate|submit)\b (?:it|them|its|their|the)\b[^\n]{0,40}\bto\b[^\n]{0,30}(?:` + strangers + `)`,
}}

const (
	belongings = `\b(?:api )?keys\b|\bapi key\b|\bcredentials\b|\bpasswords?\b|\bsecrets\b|\btokens\b|\bcookies\b|\bprivate keys?\b|\.env\b|~/\.ssh\S*|\bid_rsa\b|\b(?:whole |full |entire )?conversation\b|\benvironment variables\b|\bchat history\b`
	strangers  = `https?://|\bwebhook\b|\b\w* ?server\b|\bendpoint\b|\S+@\S+\.\w+`
)

// logins are words of a text about logging in, where a password is sent to whom it is for.
var logins = [...]string{"header", "authoriz", "oauth", "log in", "login", "sign in", "authenticat", "token endpoint", "grant", "session", "client"}

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

var remoteOrders = phrase{name: "remoteOrders", words: aboutRemote, also: [][]string{{"instructions", "commands", "steps"}, {"follow", "execute", "obey", "run ", "carry out", "do "}}, patterns: []string{
	`\b(?:fetch|download|curl|wget|load|visit|open|read|get)\b[^.\n]{0,60}\bhttps?://[^\s)"'` + "`" + `>]+[^.\n]{0,40}\b(?:and|then)\b (?:then )?(?:exactly )?(?:follow|execute|obey|run|carry out|do)\b (?:exactly )?(?:all |any |each )?(?:of )?(?:the |its |their |those |these )?(?:instructions|commands|steps)\b`,
	`\b(?:fetch|download|load|read|get) and (?:then )?(?:follow|execute|obey|run) (?:the |all |its )?(?:instructions|commands|steps) (?:at|from|in|on) [<(]?https?://`,
}}

var securitySecret = Rule{
	ID: "security-secret", Family: "security", Severity: Error,
	Doc:     "The file holds a secret key.",
	Explain: "Whoever can read the skill can use the key. Revoke it, and read it from the environment instead. Keys that are plainly examples are not reported.",
	check: func(p *pass) {
		for _, s := range p.sources() {
			last := 0
			s.wordyLines(aboutKeys|aboutSecrets, func(start, end int, has wordGroup) {
				find := findSecrets
				if has&aboutKeys == 0 {
					find = findNamed
				}
				for _, k := range find(s.text, max(start, last), max(end, last)) {
					last = max(last, k.end)
					p.in(s, k.start, k.end, nil, "this looks like %s (%d characters)", k.kind, k.end-k.start)
				}
			})
		}
	},
}
