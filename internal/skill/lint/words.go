package lint

import (
	"strings"
	"sync"
)

// wordGroup is a set of words that make a line worth a closer look. All groups are looked for in one pass, because most
// files have next to none of them.
type wordGroup uint16

const (
	aboutHiding wordGroup = 1 << iota
	aboutInjection
	aboutDownload
	aboutSending
	aboutDecoding
	aboutDestroying
	aboutHome
	aboutRemote
	aboutKeys
	aboutSecrets
	aboutArchives
	aboutShells
)

// words are the words of each group, in lower case.
var words = [...]struct {
	group wordGroup
	list  []string
}{
	{aboutHiding, []string{
		"the user", "from users", "secretly", "covertly", "silently", "quietly", "disclose", "nothing happened", "nothing had happened", "in your summary", "do not log", "<!--",
		"histfile", "histsize", "history -c", "_history", "if asked", "hidden>", "hidden ", "style=",
	}},
	{aboutInjection, []string{
		"ignore", "disregard", "forget", "override", "system prompt", "unrestricted", "jailbroken", "developer mode", "bypass", "no longer", "is void", "are void",
		"restrictions", "act as dan", "<system>", "</system>", "im_start", "[system]", "system:", "precedence over", "priority over", "assistant:", "ai agent", "ai assistant",
		"never ask", "without asking", "safety", "confirmation prompts", "claude.md", "agents.md", ".claude/", "memory.md", ".cursorrules",
	}},
	{aboutDownload, []string{"curl", "wget", "iex", "invoke-expression", "exec(", "eval("}},
	{aboutSending, []string{
		"curl", "wget", "fetch(", "requests.", "httpx.", "axios", "urlopen(", "invoke-webrequest", "invoke-restmethod", "| nc", "|nc", "scp ", "rsync ",
		"nslookup", "dig ", "s3 cp", "s3 sync", "s3 mv", "http.client", "urllib", "sendbeacon", "ncat", "ftp ", "xmlhttprequest", "smtp",
	}},
	{aboutShells, []string{"/dev/tcp/", "nc -", "ncat -", "dup2", "/bin/sh", "/bin/bash", "mkfifo", "send", "upload", "post ", "forward", "e-mail", "email", "transmit", "exfiltrat", "](http", "submit", "os.environ)", "process.env"}},
	{aboutDecoding, []string{"base64", "b64decode", "atob(", "fromcharcode", "encodedcommand", "-enc ", "-ec ", "xxd -r", "fromhex", `\x`, "marshal.loads", "unhexlify", "rot13", "openssl enc"}},
	{aboutArchives, []string{"unzip", "7z", "password", "passphrase"}},
	{aboutDestroying, []string{
		"rm -", ":(){", "dd ", "mkfs", "wipefs", "sgdisk", "shred ", "rmtree", "rmsync", "fs.rm(", "rimraf", "remove-item", "-delete", "-exec rm", "chmod -r", "chown -r", "del /", "rd /s", "rmdir /s",
		"format c:", "/dev/sd", "/dev/nvme", "/dev/disk", "drop database", "git push", "kubectl delete", "preserve-root", "diskpart", "diskutil",
	}},
	{aboutSecrets, []string{"://", "eyj", "hooks.slack.com", "/api/webhooks/", ":aa", "-u ", "mysql", "secret", "token", "passw", "key\"", "key'", "key=", "key =", "key:"}},
	{aboutRemote, []string{"http://", "https://"}},
	{aboutHome, []string{"/users/", "/home/", `:\users`, `:\\users`}},
}

// wordIndex finds words by two neighbouring bytes that are rare in English.
type wordIndex struct {
	class [256]uint8     // bytes that occur in words, numbered; capitals as small letters
	pairs [64 * 64]uint8 // for two classes the number of a bucket, 0 for none
	words [][]anchored   // by bucket
}

type anchored struct {
	text  string
	at    int // where in the text the two bytes stand
	group wordGroup
}

var index = sync.OnceValue(func() *wordIndex {
	x := &wordIndex{words: make([][]anchored, 1)}
	for _, w := range words {
		for _, text := range w.list {
			x.add(text, w.group)
		}
	}
	for _, k := range secretKinds {
		x.add(strings.ToLower(k.prefix), aboutKeys)
	}
	x.add(strings.ToLower(privateKey), aboutKeys)
	return x
})

func (x *wordIndex) add(text string, group wordGroup) {
	at := rarestPair(text)
	pair := x.classOf(text[at])<<6 | x.classOf(text[at+1])
	if x.pairs[pair] == 0 {
		x.pairs[pair] = uint8(len(x.words))
		x.words = append(x.words, nil)
	}
	bucket := &x.words[x.pairs[pair]]
	*bucket = append(*bucket, anchored{text, at, group})
}

// classOf numbers a byte. There are fewer than 64 different ones in all words.
func (x *wordIndex) classOf(c byte) int {
	if x.class[c] == 0 {
		next := uint8(1)
		for _, n := range x.class {
			next = max(next, n+1)
		}
		x.class[c] = next
		if c >= 'a' && c <= 'z' {
			x.class[c+'A'-'a'] = next
		}
	}
	return int(x.class[c])
}

// rarestPair is the place of the two letters of a word that other texts have least.
func rarestPair(word string) int {
	const common = "e taoinshrdlcumwfgypbvk-/.jxqz" // most frequent first; what is not listed is rarer still
	rank := func(c byte) int {
		if i := strings.IndexByte(common, c); i >= 0 {
			return i + 1
		}
		return len(common) + 1
	}
	best := 0
	for i := 0; i+1 < len(word); i++ {
		if rank(word[i])*rank(word[i+1]) > rank(word[best])*rank(word[best+1]) {
			best = i
		}
	}
	return best
}

// wordLine is a line, or a part of a long one, that has words, given by the place of the first.
type wordLine struct {
	offset int
	groups wordGroup
}

// lines finds the lines of a text that have words. A long line counts as several.
func (x *wordIndex) lines(text string) []wordLine {
	var found []wordLine
	start := 0 // of the current line
	for i := 0; i+1 < len(text); i++ {
		c := text[i]
		if c == '\n' || c == '\r' || i-start >= maxPatternLine {
			start = i + 1
		}
		bucket := x.pairs[int(x.class[c])<<6|int(x.class[text[i+1]])]
		if bucket == 0 {
			continue
		}
		for _, w := range x.words[bucket] {
			if !foldedAt(text, i-w.at, w.text) {
				continue
			}
			if n := len(found); n > 0 && found[n-1].offset >= start {
				found[n-1].groups |= w.group
			} else {
				found = append(found, wordLine{i - w.at, w.group})
			}
		}
	}
	return found
}

// foldedAt reports whether a word in lower case stands in a text, in any case.
func foldedAt(text string, at int, word string) bool {
	if at < 0 || at+len(word) > len(text) {
		return false
	}
	for i := range len(word) {
		if lowerByte(text[at+i]) != word[i] {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
