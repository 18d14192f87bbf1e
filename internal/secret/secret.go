// Package secret keeps credentials out of what people and files get to see. It
// guesses which names, words and parts of addresses hold one, and a [Redactor]
// takes known ones out of texts.
package secret

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Name tells whether a variable, a header or a parameter holds a credential, by
// the words people use for those.
func Name(name string) bool { return names.MatchString(name) }

// AUTH is not that of an author or an authority.
var names = regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|COOKIE|BEARER|AUTH(?:[^O]|ORIZ|$)`)

// Least is the length from which a value is looked for in answers: what is
// shorter is in them by chance. What a server or a model says decides verdicts,
// so only what cannot be an ordinary word is taken out of it.
const Least = 8

// leastNamed is [Least] for what is named as a secret and is not a word.
const leastNamed = 6

// Value tells whether the value of a variable whose name says that it is a
// secret can be one, and is not a word such as the name of the store that
// secrets are kept in.
func Value(value string) bool { return len(value) >= Least && !word(value) }

// word tells whether a value may be an ordinary word, or several.
func word(value string) bool {
	const longest = 16
	letter := func(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '-' }
	return len(value) < longest && strings.TrimFunc(value, letter) == ""
}

// named tells whether a setting is named as a secret and can be one.
func named(name, value string) bool {
	return Name(name) && (len(value) >= Least || len(value) >= leastNamed && !word(value))
}

// path tells whether a value is that of a file or a folder.
func path(value string) bool {
	return strings.HasPrefix(value, "/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") || strings.HasPrefix(value, "~/") ||
		len(value) > 2 && value[1:3] == `:\`
}

// Word tells whether a word of a command may hold a credential.
func Word(word string) bool {
	u, err := url.Parse(word)
	if err != nil || u.User != nil || u.RawQuery != "" {
		return word != ""
	}
	return Name(word) || likeKey(word) && !strings.ContainsAny(word, "/.@\\") // not those of a path or a package
}

// URL is the part of an address that may be shown: no user, no query, no
// fragment, and no path segment that looks like a key. It tells whether a part
// that is left out may be a credential.
func URL(raw string) (shown string, secret bool) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", raw != ""
	}
	secret = u.User != nil || u.RawQuery != "" || likeKey(u.Fragment)
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	shown = u.String()
	for _, key := range pathKeys(u) {
		shown, secret = strings.Replace(shown, "/"+key, "/…", 1), true
	}
	return shown, secret
}

// pathKeys are the segments of a path that look like keys, as they are escaped.
// Some hosts have them there.
func pathKeys(u *url.URL) (keys []string) {
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		if likeKey(segment) {
			keys = append(keys, segment)
		}
	}
	return keys
}

func likeKey(s string) bool { return len(s) >= 20 && strings.ContainsAny(s, "0123456789") }
