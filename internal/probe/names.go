package probe

import (
	"slices"
	"strings"
	"unicode"
)

// What a tool may be called: the protocol's rule, and that of the model APIs
// most clients pass names on to.
const (
	maxName    = 128
	maxAPIName = 64
)

// nameProblem says what is wrong with a tool's name.
func nameProblem(name string) (Status, string) {
	odd := strings.IndexFunc(name, func(r rune) bool { return !isNameRune(r) })
	switch {
	case name == "":
		return Fail, "the name is empty"
	case odd >= 0:
		return Fail, "the name has characters other than letters, digits, _ - and ."
	case len(name) > maxName:
		return Fail, "the name is longer than 128 characters"
	case strings.Contains(name, "."):
		return Warn, "the name has a dot, which some clients refuse though the protocol allows it"
	case len(name) > maxAPIName:
		return Warn, "the name is longer than 64 characters, which some clients refuse though the protocol allows it"
	}
	return Pass, ""
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// soundsLikeWrite tells whether a name's first verb is one of changing things:
// delete_note and notes.delete do, get_post and list_updates do not.
func soundsLikeWrite(name string) bool {
	for _, w := range nameWords(name) {
		switch {
		case slices.Contains(readVerbs, w):
			return false
		case slices.Contains(writeVerbs, w):
			return true
		}
	}
	return false
}

var (
	readVerbs = []string{
		"analyze", "ask", "calculate", "check", "compare", "count", "describe", "explain", "fetch", "find", "get", "inspect",
		"is", "list", "lookup", "preview", "query", "read", "resolve", "retrieve", "search", "show", "summarize", "validate", "view",
	}
	writeVerbs = []string{
		"add", "append", "apply", "approve", "archive", "assign", "cancel", "clear", "commit", "create", "delete", "deploy",
		"destroy", "disable", "drop", "edit", "enable", "erase", "execute", "grant", "import", "insert", "install", "invite",
		"kill", "merge", "modify", "move", "overwrite", "patch", "pay", "post", "publish", "purge", "push", "put", "remove",
		"rename", "replace", "reset", "restart", "restore", "revoke", "rm", "save", "send", "set", "shutdown", "start", "stop",
		"store", "submit", "terminate", "transfer", "truncate", "uninstall", "unset", "update", "upload", "upsert", "write",
	}
)

// nameWords splits a name at separators and where camelCase starts a word.
func nameWords(name string) (words []string) {
	start := 0
	flush := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(name[start:end]))
		}
		start = end
	}
	lower := false
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + len(string(r))
		case unicode.IsUpper(r) && lower:
			flush(i)
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	flush(len(name))
	return words
}

// hidden tells characters that a person does not see and a model does: a way
// to tell it something behind a person's back. Joiners and direction marks
// stay out of it, because scripts and emoji need them.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return false
	case r >= 0x200c && r <= 0x200f, r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x8e2:
		return false
	case r >= 0xe0000 && r <= 0xe0fff: // tags and variation selectors
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

func hasHidden(s string) bool { return strings.IndexFunc(s, hidden) >= 0 }
