package judge

import (
	"strings"
	"unicode"
)

// textMark is put before a line that looks like a delimiter and is text.
const textMark = "[text] "

// hiddenMark replaces characters that a model reads and a person does not
// see.
const hiddenMark = "[hidden characters]"

// neutral gives a text in which nothing can be taken for a delimiter of ours
// or for a control token of a chat: lines that look like a delimiter are
// marked, tokens are broken up by a space, characters that hide text are
// replaced. It tells whether anything was changed that a judge would see.
func neutral(text string) (out string, changed bool) {
	text = strings.Map(lineEnd, strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n"))
	shown := unhidden(text)
	lines := strings.Split(brokenTokens(shown), "\n")
	for i, line := range lines {
		if likeDelimiter(line) {
			lines[i] = textMark + spaced(line)
		}
	}
	out = strings.Join(lines, "\n")
	return out, out != text
}

// lineEnd makes one of everything that looks like the end of a line: a
// delimiter after any of them would stand alone on its line.
func lineEnd(r rune) rune {
	switch r {
	case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return '\n'
	}
	return r
}

// unhidden replaces runs of characters that carry invisible text (tags), turn
// its direction, or are no text at all.
func unhidden(text string) string {
	if strings.IndexFunc(text, hides) < 0 {
		return text
	}
	var b strings.Builder
	in := false
	for _, r := range text {
		if h := hides(r); !h {
			b.WriteRune(r)
			in = false
		} else if !in {
			b.WriteString(hiddenMark)
			in = true
		}
	}
	return b.String()
}

func hides(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case 0xE0000 <= r && r <= 0xE0FFF: // tags, and variation selectors that can spell bytes
		return true
	}
	return 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069
}

// controlTokens are the turns and ends of chats that some servers read out of
// any text. Those between <| and |> are found by their form.
var controlTokens = []string{
	"<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>",
	"[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]",
}

// brokenTokens puts a space into control tokens, after their first character.
func brokenTokens(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if (text[i] == '<' || text[i] == '[') && beginsToken(text[i:]) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// beginsToken tells whether a text begins with a control token.
func beginsToken(text string) bool {
	for _, t := range controlTokens {
		if len(text) >= len(t) && strings.EqualFold(text[:len(t)], t) {
			return true
		}
	}
	const longest = 64
	for _, bar := range []string{"|", "｜"} {
		inner, ok := strings.CutPrefix(text[1:], bar)
		if !ok {
			continue
		}
		end := strings.Index(inner[:min(len(inner), longest)], bar+">")
		if end >= 0 && !strings.ContainsAny(inner[:end], " \t\n<>") {
			return true
		}
	}
	return false
}

// spaced breaks up runs of the marks our delimiters are made of.
func spaced(line string) string {
	var b strings.Builder
	var last rune
	for _, r := range line {
		if (r == '<' || r == '>') && r == last {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// edges are the words that open or close a section.
var edges = []string{"begin", "close", "end", "finish", "open", "start", "stop"}

// glyph is a character as it looks: a plain letter or digit, a mark, or space.
type glyph struct {
	letter      rune
	mark, angle bool
}

// glyphs is a line as it looks; what cannot be seen is left out.
func glyphs(line string) []glyph {
	out := make([]glyph, 0, len(line))
	for _, r := range line {
		switch letter := plainLetter(r); {
		case letter != 0:
			out = append(out, glyph{letter: letter})
		case strings.ContainsRune("<>＜＞‹›«»《》〈〉⟨⟩❮❯≪≫", r):
			out = append(out, glyph{mark: true, angle: true})
		case unicode.IsPunct(r) || unicode.IsSymbol(r):
			out = append(out, glyph{mark: true})
		case unicode.IsSpace(r):
			out = append(out, glyph{})
		}
	}
	return out
}

// likeDelimiter tells whether a reader might take a line for a delimiter, or
// part of it: an edge and a section's name behind two angles, or as the first
// words of the line behind any two marks, or alone on it; or an edge behind
// three angles, whatever follows. Case, accents,
// spaces between the letters and letters that only look the same do not
// matter; a call such as list.append(answer) does not look like one.
func likeDelimiter(line string) bool {
	g := glyphs(line)
	first := true // no letter came yet
	for i := range g {
		if g[i].letter == 0 || i > 0 && g[i-1].letter != 0 {
			continue
		}
		marks, angles := marksBefore(g[:i])
		switch end := edgeAndName(g[i:]); {
		case end > 0 && (angles >= 2 || first && (marks >= 2 || onlyCode(g[i+end:]))):
			return true
		case angles >= 3 && edgeEnd(g[i:]) > 0:
			return true
		}
		first = false
	}
	return false
}

// marksBefore counts the marks at the end of a list.
func marksBefore(g []glyph) (marks, angles int) {
	for i := len(g) - 1; i >= 0 && g[i].letter == 0; i-- {
		if g[i].mark {
			marks++
		}
		if g[i].angle {
			angles++
		}
	}
	return marks, angles
}

// edgeAndName is where an edge and a section's name end that a line begins
// with, or 0.
func edgeAndName(g []glyph) int {
	at := edgeEnd(g)
	if at == 0 {
		return 0
	}
	for _, small := range []string{"of", "the"} {
		if next := wordEnd(g, at, small); next > 0 {
			at = next
		}
	}
	for _, name := range sectionNames {
		end := wordEnd(g, at, strings.ReplaceAll(name.text, " ", ""))
		if end > 0 && (end == len(g) || g[end].letter == 0) {
			return end
		}
	}
	return 0
}

// edgeEnd is where an edge ends that a line begins with, or 0.
func edgeEnd(g []glyph) int {
	for _, edge := range edges {
		if at := wordEnd(g, 0, edge); at > 0 {
			return at
		}
	}
	return 0
}

// wordEnd is where a word ends that begins at a place, whatever but angles
// is before and between its letters; 0 when it does not.
func wordEnd(g []glyph, at int, word string) int {
	for _, letter := range word {
		for at < len(g) && g[at].letter == 0 && !g[at].angle {
			at++
		}
		if at == len(g) || g[at].letter != letter {
			return 0
		}
		at++
	}
	return at
}

// onlyCode tells whether nothing follows but what a delimiter may end with.
func onlyCode(g []glyph) bool {
	for _, x := range g {
		if x.letter != 0 && !strings.ContainsRune("0123456789abcdef", x.letter) {
			return false
		}
	}
	return true
}

// lookAlikes are letters of other alphabets and styles beside the letter each
// is taken for.
const lookAlikes = "аaеeоoрpсcуyхxіiѕsԁdոnһhјjԛqԝwтtкkмmнhвb" + // Cyrillic, Armenian
	"οoνvαaεeιiκkρpτtυuχxηn" + // Greek
	"ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzıi" + // small capitals
	"àaáaâaãaäaåaāaèeéeêeëeēeėeęeìiíiîiïiīiòoóoôoõoöoøoōoùuúuûuüuūuñnńnçcćcýyÿyśsšs" // accents

// plainLetter is the ASCII letter or digit a character looks like, in lower
// case, or 0 when it looks like neither.
func plainLetter(r rune) rune {
	if r < 0x80 {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		}
		return 0
	}
	switch {
	case 0xFF21 <= r && r <= 0xFF3A: // full width
		return r - 0xFF21 + 'a'
	case 0xFF41 <= r && r <= 0xFF5A:
		return r - 0xFF41 + 'a'
	case 0x1D400 <= r && r <= 0x1D6A3: // mathematical: alphabets of 26 capital and 26 small letters
		return 'a' + (r-0x1D400)%26
	case 0x24B6 <= r && r <= 0x24E9: // in circles
		return 'a' + (r-0x24B6)%26
	case 0x1F110 <= r && r <= 0x1F189: // in brackets, squares and circles, 26 in 32
		if n := (r - 0x1F110) % 32; n < 26 {
			return 'a' + n
		}
	}
	return lookAlike(unicode.ToLower(r))
}

func lookAlike(r rune) rune {
	if r < 0x80 { // the Kelvin sign, whose lower case is k
		return r
	}
	i := strings.IndexRune(lookAlikes, r)
	if i < 0 {
		return 0
	}
	return rune(lookAlikes[i+len(string(r))])
}
