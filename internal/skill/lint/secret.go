package lint

import "strings"

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
	{"ghp_", 36, 40, "", "a GitHub token"},
	{"gho_", 36, 40, "", "a GitHub token"},
	{"ghs_", 36, 40, "", "a GitHub token"},
	{"ghu_", 36, 40, "", "a GitHub token"},
	{"github_pat_", 50, 100, "_", "a GitHub token"},
	{"glpat-", 20, 40, "_-", "a GitLab token"},
	{"hf_", 34, 40, "", "a Hugging Face token"},
	{"lsv2_pt_", 40, 60, "_", "a LangSmith key"},
	{"npm_", 36, 36, "", "an npm token"},
	{"pypi-AgEIcHlwaS5vcmc", 50, 300, "_-", "a PyPI token"},
	{"rk_live_", 24, 120, "", "a Stripe key"},
	{"sk-ant-", 40, 140, "_-", "an Anthropic key"},
	{"sk-proj-", 40, 200, "_-", "an OpenAI key"},
	{"sk_live_", 24, 120, "", "a Stripe key"},
	{"xoxb-", 40, 90, "-", "a Slack token"},
	{"xoxp-", 40, 90, "-", "a Slack token"},
}

const privateKey = "PRIVATE KEY-----"

// findSecrets finds the keys that begin in a range of a text, by their forms. Letters after a form's beginning must look
// random: repeated, counted or spelt out ones are examples.
func findSecrets(text string, start, end int) []secret {
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
	return digits && letters && different >= 10
}

// redact puts stars in the place of keys, so that no report repeats them.
func redact(text string) string {
	for _, s := range findSecrets(text, 0, len(text)) {
		text = text[:s.start] + strings.Repeat("*", s.end-s.start) + text[s.end:]
	}
	return text
}
