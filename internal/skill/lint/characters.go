package lint

import "unicode/utf8"

// characterKind says which unusual characters a text has, so that most texts are looked through once for all of them.
type characterKind uint8

const (
	invisible   characterKind = 1 << iota // has no width: joiners, zero-width spaces
	directional                           // changes the direction of writing
	rightToLeft                           // a letter of a script that is written from right to left
	smuggled                              // can stand for a letter and is not shown: tags, variation selectors
	lookalike                             // a Greek or Cyrillic letter that looks like a Latin one
)

// unusual sorts a character; most are of no kind.
func unusual(r rune) characterKind {
	switch {
	case r < 0x370:
		return 0
	case r < 0x530:
		if latinTwin(r) != 0 {
			return lookalike
		}
		return 0
	case r < 0x2000:
		if r >= 0x590 && r < 0x780 || r >= 0x8a0 && r < 0x900 {
			return rightToLeft
		}
		return when(r == 0x180e, invisible)
	case isInvisible(r):
		return invisible
	case isDirectional(r):
		return directional
	case isSmuggled(r):
		return smuggled
	}
	return when(r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r < 0xfeff, rightToLeft)
}

func when(ok bool, k characterKind) characterKind {
	if ok {
		return k
	}
	return 0
}

// charactersOf sorts all characters of a text.
func charactersOf(text string) characterKind {
	var k characterKind
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		k |= unusual(r)
		i += size
	}
	return k
}

func isInvisible(r rune) bool {
	return r >= 0x200b && r <= 0x200d || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0x180e
}

// isDirectional reports whether a character embeds, overrides or isolates a direction of writing.
func isDirectional(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func isTag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

func isVariation(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

func isSmuggled(r rune) bool { return isTag(r) || isVariation(r) }

// latinTwin is the Latin letter that a Greek or Cyrillic one cannot be told from in most typefaces, 0 when there is none.
func latinTwin(r rune) rune {
	const (
		greek    = "ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοo"
		cyrillic = "АAВBЕEКKМMНHОOРPСCТTХXаaеeоoрpсcуyхxіiјjѕsԁdԛqԝwһh"
	)
	if r < 0x370 || r > 0x52f {
		return 0
	}
	pairs := cyrillic
	if r < 0x400 {
		pairs = greek
	}
	for i := 0; i < len(pairs); i += 3 { // two bytes and one
		if pairs[i] == byte(0xc0|r>>6) && pairs[i+1] == byte(0x80|r&0x3f) {
			return rune(pairs[i+2])
		}
	}
	return 0
}

func isLetterASCII(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlnum(c byte) bool { return isLetterASCII(c) || c >= '0' && c <= '9' }
