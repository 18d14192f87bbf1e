package skill

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Table is a table with its header row.
type Table struct {
	Line, Col     int
	Header        []string
	Columns, Rows int // header row not counted
	Section       *Section

	start int // offset of the header in the body
}

// paragraphs looks at each paragraph before the Markdown parser reads what is in its lines. It finds the tables, by
// GitHub's rules: a header row, below it a row of dashes with as many cells, and then every line to the end of the
// paragraph. And it spares the parser the lines of paragraphs that can have neither a link nor a path in back-ticks:
// most have none.
type paragraphs struct{}

// tablesKey is where the tables wait until the sections are known.
var tablesKey = parser.NewContextKey()

// Transform looks at one paragraph.
func (paragraphs) Transform(node *ast.Paragraph, reader text.Reader, context parser.Context) {
	lines, source := node.Lines(), reader.Source()
	below, _ := reader.PeekLine()
	heading := isUnderline(below)
	table, marks := heading, heading
	ticks, slash := false, false // a path in back-ticks needs both
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(source)
		marks = marks || bytes.IndexByte(line, '[') >= 0 || bytes.IndexByte(line, '<') >= 0
		ticks = ticks || bytes.IndexByte(line, '`') >= 0
		slash = slash || bytes.IndexByte(line, '/') >= 0
		if !table && i > 0 {
			table = addTable(context, source, lines, i)
		}
	}
	if !marks && !(ticks && slash) {
		node.SetLines(text.NewSegments())
	}
}

// addTable notes a table if a line is the row of dashes below its header.
func addTable(context parser.Context, source []byte, lines *text.Segments, i int) bool {
	head, rule := lines.At(i-1), lines.At(i)
	columns, ok := delimiterRow(rule.Value(source))
	if !ok {
		return false
	}
	header := cells(head.Value(source))
	if len(header) == columns {
		found, _ := context.Get(tablesKey).([]Table)
		context.Set(tablesKey, append(found, Table{Header: header, Columns: columns, Rows: lines.Len() - i - 1, start: head.Start}))
	}
	return len(header) == columns
}

// isUnderline reports whether a line can make a heading of the paragraph above it, which then needs its lines
// and is no table.
func isUnderline(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '=' || line[0] == '-') && len(bytes.Trim(line, "=-")) == 0
}

// readTables puts the tables that were met into their sections.
func (d *Document) readTables(context parser.Context) {
	d.Tables, _ = context.Get(tablesKey).([]Table)
	section := d.sectionCursor()
	for i := range d.Tables {
		t := &d.Tables[i]
		t.Section = section(d.BodyStart + t.start)
		t.Line, t.Col = d.Place(d.BodyStart + t.start)
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
