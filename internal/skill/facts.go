package skill

import (
	"strings"
	"unicode/utf8"
)

// mostFacts bounds the lists of facts: past it, more of the same says nothing new.
const mostFacts = 100

// readFacts looks at the file as a whole and returns the byte range that holds the skill.
func (d *Document) readFacts() (start, end int) {
	f := &d.Facts
	f.InvalidUTF8 = -1
	f.UTF16 = isUTF16(d.Text)
	if strings.HasPrefix(d.Text, byteOrderMark) {
		f.BOM = true
		start = len(byteOrderMark)
	}
	end = len(d.Text)
	d.readCharacters(start)
	d.readMergeMarkers()
	if from, to, ok := d.wholeFence(start); ok {
		f.Fenced = true
		return from, to
	}
	return start, end
}

// isUTF16 reports whether a file is in UTF-16: it begins with its byte order mark, or every other of its first bytes is zero.
func isUTF16(s string) bool {
	if strings.HasPrefix(s, "\xff\xfe") || strings.HasPrefix(s, "\xfe\xff") {
		return true
	}
	head := s[:min(len(s), 64)]
	return len(head) >= 8 && 5*strings.Count(head, "\x00") >= 2*len(head)
}

// readCharacters counts line ends and notes what a text file should not hold.
func (d *Document) readCharacters(from int) {
	f, s := &d.Facts, d.Text
	for i := from; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f || c == '\t' {
			i++
			continue
		}
		size := 1
		switch {
		case c == '\n':
			f.LF++
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			f.CRLF++
			size = 2
		case c == '\r':
			f.CR++
		case c < utf8.RuneSelf:
			f.addControl(i)
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 && f.InvalidUTF8 < 0 {
				f.InvalidUTF8 = i
			}
			if r >= 0x80 && r < 0xA0 || r == 0x2028 || r == 0x2029 {
				f.addControl(i)
			}
		}
		i += size
	}
}

func (f *Facts) addControl(offset int) {
	if len(f.Controls) < mostFacts {
		f.Controls = append(f.Controls, offset)
	}
}

// readMergeMarkers looks for the seven-character markers of a merge conflict. A row of equals signs alone underlines a
// heading, so it takes a beginning to make a conflict.
func (d *Document) readMergeMarkers() {
	if !strings.Contains(d.Text, "<<<<<<<") && !strings.Contains(d.Text, ">>>>>>>") {
		return
	}
	open := false
	for n := 1; n <= d.Lines() && len(d.Facts.MergeMarkers) < mostFacts; n++ {
		l := d.Line(n)
		switch {
		case isMergeMarker(l, "<<<<<<<"):
			open = true
		case open && isMergeMarker(l, ">>>>>>>"):
			open = false
		case open && l == "=======":
		default:
			continue
		}
		d.Facts.MergeMarkers = append(d.Facts.MergeMarkers, n)
	}
}

func isMergeMarker(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || rest[0] == ' ')
}

// wholeFence finds the text inside a fence that wraps the whole file, frontmatter first. A model that was asked for a
// file often answers so.
func (d *Document) wholeFence(start int) (from, to int, ok bool) {
	s := d.Text[start:]
	trimmed := strings.TrimLeft(s, " \t\r\n")
	mark := strings.TrimLeft(trimmed, "`")
	run := trimmed[:len(trimmed)-len(mark)]
	if len(run) < 3 {
		return 0, 0, false
	}
	info, inside, found := strings.Cut(mark, "\n")
	if !found || strings.Contains(info, "`") || !strings.HasPrefix(strings.TrimLeft(inside, " \t\r\n"), "---") {
		return 0, 0, false
	}
	end := strings.TrimRight(inside, " \t\r\n")
	if !strings.HasSuffix(end, "\n"+run) {
		return 0, 0, false
	}
	from = len(d.Text) - len(inside)
	return from, from + len(end) - len(run), true
}
