package lint

import (
	"slices"
	"strings"
)

// secret is a place in a text that holds a key.
type secret struct {
	start, end int
	kind       string
}

// secretKind is a form that keys of one kind have: a fixed beginning and a length.
type secretKind struct {
	prefix   string
	min, max int    // characters after the prefix
	extra    string // characters besides letters and digits
	kind     string
}

var secretKinds = [...]secretKind{
	{"AKIA", 16, 16, "", "an AWS access key"},
	{"ASIA", 16, 16, "", "an AWS access key"},
	{"AIza", 35, 35, "_-", "a Google API key"},
	{"SG.", 60, 70, "_-.", "a SendGrid key"},
	{"dckr_pat_", 20, 40, "_-", "a Docker token"},
	{"dop_v1_", 64, 64, "", "a DigitalOcean token"},
	{"figd_", 35, 60, "_-", "a Figma token"},
	{"ghp_", 36, 40, "", "a GitHub token"},
	{"gho_", 36, 40, "", "a GitHub token"},
	{"ghs_", 36, 40, "", "a GitHub token"},
	{"ghu_", 36, 40, "", "a GitHub token"},
	{"github_pat_", 50, 100, "_", "a GitHub token"},
	{"glpat-", 20, 40, "_-", "a GitLab token"},
	{"gsk_", 40, 60, "", "a Groq key"},
	{"hf_", 34, 40, "", "a Hugging Face token"},
	{"lin_api_", 32, 48, "", "a Linear key"},
	{"lsv2_pt_", 40, 60, "_", "a LangSmith key"},
	{"npm_", 36, 36, "", "an npm token"},
	{"pypi-AgEIcHlwaS5vcmc", 50, 300, "_-", "a PyPI token"},
	{"r8_", 37, 40, "", "a Replicate token"},
	{"rk_live_", 24, 120, "", "a Stripe key"},
	{"sbp_", 40, 40, "", "a Supabase token"},
	{"shpat_", 32, 32, "", "a Shopify token"},
	{"sk-", 48, 48, "", "an OpenAI key"},
	{"sk-ant-", 40, 140, "_-", "an Anthropic key"},
	{"sk-proj-", 40, 200, "_-", "an OpenAI key"},
	{"sk_live_", 24, 120, "", "a Stripe key"},
	{"xapp-", 40, 120, "-", "a Slack token"},
	{"xoxb-", 40, 90, "-", "a Slack token"},
	{"xoxp-", 40, 90, "-", "a Slack token"},
}

const privateKey = "PRIVATE KEY-----"

// findSecrets finds the keys in a range of a text.
func findSecrets(text string, start, end int) []secret {
	found := findKeys(text, start, end)
	return append(found, findOthers(text, start, end, found)...)
}

// findNamed finds the keys that are known by what stands in front of them.
func findNamed(text string, start, end int) []secret { return findOthers(text, start, end, nil) }

// findKeys finds the keys that begin in a range of a text, by their forms. Letters after a form's beginning must look
// random: repeated, counted or spelt out ones are examples.
func findKeys(text string, start, end int) []secret {
	var found []secret
	for _, k := range secretKinds {
		for from := start; ; {
			i := strings.Index(text[from:end], k.prefix)
			if i < 0 {
				break
			}
			i += from
			from = k.end(text[:end], i)
			n := from - i - len(k.prefix)
			bounded := i == 0 || !isAlnum(text[i-1]) && text[i-1] != '_'
			if bounded && n >= k.min && n <= k.max && looksRandom(text[i+len(k.prefix):from]) {
				found = append(found, secret{i, from, k.kind})
			}
		}
	}
	return append(found, findPrivateKeys(text, start, end)...)
}

// secretMarks are what stands in front of a key that has no form of its own: a name, or a part of an address.
var secretMarks = [...]struct {
	mark string
	find func(text string, at, end int) (secret, bool) // at is behind the mark
}{
	{"://", urlPassword},
	{"eyj", webToken},
	{"hooks.slack.com/services/", webhook},
	{"/api/webhooks/", webhook},
	{":aa", botToken},
	{"-u ", userPassword},
	{"mysql", mysqlPassword},
	{"secret", assigned},
	{"token", assigned},
	{"passwd", assigned},
	{"password", assigned},
	{"key", assigned},
}

// findOthers finds the keys that are known by what stands in front of them, and that are not among those found.
func findOthers(text string, start, end int, known []secret) (found []secret) {
	for _, m := range &secretMarks {
		for at := start; ; {
			i := indexFolded(text[at:end], m.mark)
			if i < 0 {
				break
			}
			at += i + len(m.mark)
			s, ok := m.find(text, at, end)
			overlaps := func(k secret) bool { return s.start < k.end && k.start < s.end }
			if ok && !slices.ContainsFunc(known, overlaps) && !slices.ContainsFunc(found, overlaps) {
				found = append(found, s)
				at = max(at, s.end)
			}
		}
	}
	return found
}

// indexFolded finds a word in lower case in a text in any case.
func indexFolded(text, word string) int {
	upper := word[0]
	if upper >= 'a' && upper <= 'z' {
		upper -= 'a' - 'A'
	}
	for from := 0; ; {
		i := strings.IndexByte(text[from:], word[0])
		if upper != word[0] {
			if j := strings.IndexByte(text[from:], upper); j >= 0 && (i < 0 || j < i) {
				i = j
			}
		}
		if i < 0 {
			return -1
		}
		if from += i; foldedAt(text, from, word) {
			return from
		}
		from++
	}
}

// run is the end of the characters from a place on that a function takes, 300 at most.
func run(text string, at, end int, takes func(c byte) bool) int {
	end = min(end, at+300)
	for at < end && takes(text[at]) {
		at++
	}
	return at
}

func isKeyByte(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

// urlPassword is the password of an address such as postgres://user:password@host.
func urlPassword(text string, at, end int) (secret, bool) {
	user := run(text, at, end, func(c byte) bool { return isKeyByte(c) || c == '.' || c == '%' })
	if user >= end || text[user] != ':' {
		return secret{}, false
	}
	last := run(text, user+1, end, func(c byte) bool { return c > ' ' && strings.IndexByte("@/<>{}$\"'`|", c) < 0 })
	if last >= end || text[last] != '@' || last-user < 9 || !isMixed(text[user+1:last]) {
		return secret{}, false
	}
	return secret{user + 1, last, "a password in an address"}, true
}

// webToken is a signed token of three parts.
func webToken(text string, at, end int) (secret, bool) {
	start := at - len("eyj")
	last := start
	for part := range 3 {
		from := last
		if last = run(text, from, end, isKeyByte); last-from < 10 || part < 2 && (last >= end || text[last] != '.') {
			return secret{}, false
		}
		if part < 2 {
			last++
		}
	}
	return secret{start, last, "a signed token"}, text[start:start+3] == "eyJ" && looksRandom(text[start:last]) && last-start > 60
}

// webhook is an address whoever knows it can post to.
func webhook(text string, at, end int) (secret, bool) {
	last := run(text, at, end, func(c byte) bool { return isKeyByte(c) || c == '/' })
	path := text[at:last]
	return secret{at, last, "the address of a webhook"}, strings.Contains(path, "/") && len(path) >= 40 && looksRandom(path)
}

// botToken is a token of a Telegram bot: its number, a colon and 35 characters.
func botToken(text string, at, end int) (secret, bool) {
	colon := at - len(":aa")
	last := run(text, at, end, isKeyByte)
	start := colon
	for start > 0 && colon-start < 10 && text[start-1] >= '0' && text[start-1] <= '9' {
		start--
	}
	return secret{start, last, "a token of a Telegram bot"}, colon-start >= 8 && last-colon == 36 && looksRandom(text[colon:last])
}

// userPassword is what curl is given to log in with.
func userPassword(text string, at, end int) (secret, bool) {
	at = run(text, at, end, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' })
	return urlLogin(text, at, end)
}

func urlLogin(text string, at, end int) (secret, bool) {
	colon := run(text, at, end, func(c byte) bool { return isKeyByte(c) || c == '.' || c == '@' })
	last := run(text, colon+min(1, end-colon), end, isValueByte)
	if colon >= end || text[colon] != ':' || !isMixed(text[colon+1:last]) {
		return secret{}, false
	}
	return secret{colon + 1, last, "a password"}, last-colon > 10
}

// mysqlPassword is the password that is glued to -p.
func mysqlPassword(text string, at, end int) (secret, bool) {
	i := strings.Index(text[at:min(end, at+200)], " -p")
	if i < 0 {
		return secret{}, false
	}
	at += i + len(" -p")
	last := run(text, at, end, isValueByte)
	return secret{at, last, "a password"}, last-at >= 10 && isMixed(text[at:last])
}

func isValueByte(c byte) bool { return isKeyByte(c) || strings.IndexByte("+/=.!#%^&*~", c) >= 0 }

// assigned is a value that is given to a name that ends in a word such as secret or token.
func assigned(text string, at, end int) (secret, bool) {
	from := run(text, at, end, func(c byte) bool { return c == '"' || c == '\'' || c == '`' || c == ']' || c == ' ' })
	if from >= end || text[from] != '=' && text[from] != ':' || from-at > 4 {
		return secret{}, false
	}
	name := at
	for name > 0 && at-name < 40 && isKeyByte(text[name-1]) {
		name--
	}
	if lower := strings.ToLower(text[name:at]); containsAny(lower, []string{"public", "pub_", "cache", "sort", "hash", "idempot", "partition", "foreign"}) {
		return secret{}, false
	}
	from = run(text, from+1, end, func(c byte) bool { return c == ' ' || c == '"' || c == '\'' || c == '`' || c == '=' })
	last := run(text, from, end, isValueByte)
	for last > from && strings.IndexByte(".,;", text[last-1]) >= 0 {
		last--
	}
	value := text[from:last]
	if len(value) < 16 || strings.HasPrefix(value, "0x") || isAddress(value) || strings.Contains(value, ".") && !strings.Contains(value, "=") {
		return secret{}, false
	}
	if last < end && strings.IndexByte("({[<$", text[last]) >= 0 || !isMixed(value) {
		return secret{}, false
	}
	return secret{from, last, "a secret"}, true
}

// isAddress reports whether a value has the form of a public address of a block chain: 43 or 44 characters of base58.
func isAddress(s string) bool {
	return (len(s) == 43 || len(s) == 44) && !strings.ContainsAny(s, "0OIl+/_-")
}

// isMixed reports whether a value was made by a machine: its characters look random, and it changes between capitals,
// small letters and digits more often than words do.
func isMixed(s string) bool {
	if !looksRandom(s) {
		return false
	}
	changes := 0
	for i := 1; i < len(s); i++ {
		if classOf(s[i]) != classOf(s[i-1]) {
			changes++
		}
	}
	return 10*changes >= 4*(len(s)-1)
}

func classOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return 1
	case c >= 'A' && c <= 'Z':
		return 2
	case c >= 'a' && c <= 'z':
		return 3
	}
	return 4
}

// end is the end of what can be a key of this kind, or one more: then it is too long.
func (k *secretKind) end(text string, start int) int {
	end := start + len(k.prefix)
	for end < len(text) && end-start <= k.max+len(k.prefix) && (isAlnum(text[end]) || strings.IndexByte(k.extra, text[end]) >= 0) {
		end++
	}
	return end
}

// findPrivateKeys finds keys in PEM form that have a body.
func findPrivateKeys(text string, start, end int) []secret {
	var found []secret
	for from := start; ; {
		i := strings.Index(text[from:end], privateKey)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(privateKey)
		before := max(start, i-40)
		begin := strings.LastIndex(text[before:i], "-----BEGIN")
		body := strings.TrimLeft(text[from:min(len(text), from+200)], " \t\r\n\\n>")
		line := body[:len(body)-len(strings.TrimLeftFunc(body, isBase64))]
		if begin >= 0 && len(line) >= 40 && looksRandom(line) {
			found = append(found, secret{before + begin, from, "a private key"})
		}
	}
}

func isBase64(r rune) bool {
	return r < 0x80 && (isAlnum(byte(r)) || r == '+' || r == '/' || r == '=')
}

// looksRandom reports whether a run of letters and digits can be a key: both kinds, many different ones, and no word that
// says it is an example.
func looksRandom(s string) bool {
	lower := strings.ToLower(s)
	for _, w := range [...]string{"example", "xxx", "your", "abcdef", "12345", "secret", "token", "placeholder", "dummy", "fake", "test", "redacted", "00000", "aaaa"} {
		if strings.Contains(lower, w) {
			return false
		}
	}
	var seen [256]bool
	different, digits, letters := 0, false, false
	for i := range len(s) {
		if c := s[i]; !seen[c] {
			seen[c] = true
			different++
			digits = digits || c >= '0' && c <= '9'
			letters = letters || isLetterASCII(c)
		}
	}
	return digits && letters && different >= min(10, len(s)/2+2)
}

// redact puts stars in the place of keys, so that no report repeats them.
func redact(text string) string {
	for _, s := range findSecrets(text, 0, len(text)) {
		text = text[:s.start] + strings.Repeat("*", s.end-s.start) + text[s.end:]
	}
	return text
}
