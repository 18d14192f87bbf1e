package mcpclient

// valid is json.Valid at a third of its time: an answer is checked before
// anything in it is believed, and most of an answer is one long text.
func valid(b []byte) bool {
	i := validValue(b, skipBlank(b, 0), 0)
	return i > 0 && skipBlank(b, i) == len(b)
}

// maxNesting is how deep encoding/json goes.
const maxNesting = 10_000

// validValue gives the index behind the value at b[i], or -1.
func validValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return validString(b, i)
	case c == '{' || c == '[':
		if depth == maxNesting {
			return -1
		}
		return validNested(b, i, depth+1)
	case c == '-' || isDigit(b, i):
		return validNumber(b, i)
	}
	for _, word := range []string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}

// validNested reads an object or an array.
func validNested(b []byte, i, depth int) int {
	object, end := b[i] == '{', b[i]+2 // } after {, ] after [
	if i = skipBlank(b, i+1); i < len(b) && b[i] == end {
		return i + 1
	}
	for i < len(b) {
		if object {
			if b[i] != '"' {
				return -1
			}
			if i = validString(b, i); i < 0 {
				return -1
			}
			if i = skipBlank(b, i); i == len(b) || b[i] != ':' {
				return -1
			}
			i = skipBlank(b, i+1)
		}
		if i = validValue(b, i, depth); i < 0 {
			return -1
		}
		if i = skipBlank(b, i); i == len(b) {
			return -1
		}
		switch b[i] {
		case end:
			return i + 1
		case ',':
			i = skipBlank(b, i+1)
		default:
			return -1
		}
	}
	return -1
}

func validString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i == len(b) || escapes[b[i]] == 0 {
				return -1
			}
			if b[i] == 'u' {
				if _, ok := hexDigits(b, i+1); !ok {
					return -1
				}
				i += 4
			}
		}
	}
	return -1
}

func validNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if !isDigit(b, i) {
		return -1
	}
	if b[i] == '0' {
		i++
	} else {
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		if i++; !isDigit(b, i) {
			return -1
		}
		i = skipDigits(b, i)
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !isDigit(b, i) {
			return -1
		}
		i = skipDigits(b, i)
	}
	return i
}

func isDigit(b []byte, i int) bool { return i < len(b) && '0' <= b[i] && b[i] <= '9' }

func skipDigits(b []byte, i int) int {
	for isDigit(b, i) {
		i++
	}
	return i
}

// escapes is what a character stands for after a backslash; u stands for
// itself, and four digits follow.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'u': 'u'}

// hexDigits reads the four digits of a \u escape.
func hexDigits(b []byte, i int) (r rune, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
