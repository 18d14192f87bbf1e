package skill

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Table is a table with its header row.
type Table struct {
	Line, Col     int
	Header        []string
	Columns, Rows int // header row not counted
	Section       *Section
}

// readTables finds the tables in a paragraph, by GitHub's rules: a header row, below it a row of dashes with as many
// cells, and then every line to the end of the paragraph.
func (d *Document) readTables(p ast.Node, source []byte, section func(int) *Section) {
	lines := p.Lines()
	for i := 1; i < lines.Len(); i++ {
		rule := lines.At(i)
		columns, ok := delimiterRow(rule.Value(source))
		if !ok {
			continue
		}
		head := lines.At(i - 1)
		header := cells(head.Value(source))
		if len(header) != columns {
			continue
		}
		start := d.bodyStart + head.Start
		t := Table{Header: header, Columns: columns, Rows: lines.Len() - i - 1, Section: section(start)}
		t.Line, t.Col = d.Place(start)
		d.Tables = append(d.Tables, t)
		return
	}
}

// delimiterRow counts the cells of a row that consists of dashes, with colons for the alignment.
func delimiterRow(line []byte) (columns int, ok bool) {
	line = bytes.TrimSpace(line)
	if bytes.IndexByte(line, '|') < 0 || bytes.IndexByte(line, '-') < 0 || len(bytes.Trim(line, "|:- \t")) > 0 {
		return 0, false
	}
	line = bytes.TrimSuffix(bytes.TrimPrefix(line, []byte("|")), []byte("|"))
	for cell := range bytes.SplitSeq(line, []byte("|")) {
		cell = bytes.TrimSpace(cell)
		cell = bytes.TrimSuffix(bytes.TrimPrefix(cell, []byte(":")), []byte(":"))
		if len(cell) == 0 || len(bytes.Trim(cell, "-")) > 0 {
			return 0, false
		}
		columns++
	}
	return columns, true
}

// cells splits a row at the bars that are not escaped.
func cells(line []byte) []string {
	line = bytes.TrimPrefix(bytes.TrimSpace(line), []byte("|"))
	var list []string
	start := 0
	for i, c := range line {
		if c == '|' && (i == 0 || line[i-1] != '\\') {
			list = append(list, cellText(line[start:i]))
			start = i + 1
		}
	}
	if start < len(line) {
		list = append(list, cellText(line[start:]))
	}
	return list
}

// cellText is a cell without its marks.
func cellText(cell []byte) string {
	text := string(cell)
	for _, mark := range [...][2]string{{"\\|", "|"}, {"`", ""}, {"**", ""}} {
		text = strings.ReplaceAll(text, mark[0], mark[1])
	}
	return strings.Trim(text, " \t\n*")
}
