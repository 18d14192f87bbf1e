package report

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

type (
	xmlProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	xmlCase struct {
		Name    string      `xml:"name,attr"`
		File    string      `xml:"file,attr"`
		Line    int         `xml:"line,attr"`
		Failure *xmlProblem `xml:"failure"`
		Error   *xmlProblem `xml:"error"`
		Skipped *xmlProblem `xml:"skipped"`
		Out     string      `xml:"system-out"`
	}
	xmlSuite struct {
		Name     string    `xml:"name,attr"`
		Tests    int       `xml:"tests,attr"`
		Failures int       `xml:"failures,attr"`
		Errors   int       `xml:"errors,attr"`
		Skipped  int       `xml:"skipped,attr"`
		Cases    []xmlCase `xml:"testcase"`
	}
)

// TestJUnitCountsWhatItHolds: each suite's attributes are the numbers of its
// elements, and every status has its own.
func TestJUnitCountsWhatItHolds(t *testing.T) {
	var doc struct {
		xmlSuite
		Suites []xmlSuite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(render(t, "junit", sampleRun(), Options{})), &doc); err != nil {
		t.Fatalf("not XML: %v", err)
	}
	if len(doc.Suites) != 2 {
		t.Fatalf("%d suites, want 2", len(doc.Suites))
	}
	for _, s := range doc.Suites {
		got := xmlSuite{Name: s.Name, Tests: len(s.Cases), Cases: s.Cases}
		for _, c := range s.Cases {
			if c.Failure != nil {
				got.Failures++
			}
			if c.Error != nil {
				got.Errors++
			}
			if c.Skipped != nil {
				got.Skipped++
			}
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("suite %s (-attributes +elements):\n%s", s.Name, diff)
		}
	}
	judged := doc.Suites[0].Cases[6]
	if judged.Error == nil || judged.Error.Type != "unscored" || judged.Line != 80 || judged.Out != "Perhaps." {
		t.Errorf("the unscored case is %+v", judged)
	}
}

func FuzzXML(f *testing.F) {
	f.Add(hostile)
	f.Add("\ufffe\uffff ]]> & < \" '")
	f.Fuzz(func(t *testing.T, s string) {
		doc := fmt.Sprintf(`<a b="%s">%s</a>`, xmlAttr(s), xmlText(s))
		var got struct {
			B    string `xml:"b,attr"`
			Text string `xml:",chardata"`
		}
		if err := xml.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatalf("%q is not XML: %v", doc, err)
		}
		if want := term.OneLine(s, reasonBytes+200); got.B != want {
			t.Fatalf("attribute is %q, want %q", got.B, want)
		}
		if want := term.SanitizeBlock(s); got.Text != want {
			t.Fatalf("text is %q, want %q", got.Text, want)
		}
	})
}

var workflowCommand = regexp.MustCompile(`^::(error|warning|notice) [^:]*::.*$`)

// TestGitHubLinesAreCommands: nothing in an answer can start a line.
func TestGitHubLinesAreCommands(t *testing.T) {
	out := render(t, "github", sampleRun(), Options{})
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for _, line := range lines {
		if !workflowCommand.MatchString(line) {
			t.Errorf("not a workflow command: %s", line)
		}
	}
	if len(lines) != 10 {
		t.Errorf("%d lines, want 5 errors, 4 warnings and a notice:\n%s", len(lines), out)
	}
}

func TestGitHubIsBounded(t *testing.T) {
	out := render(t, "github", largeRun(1000), Options{})
	if n := strings.Count(out, "\n"); n != 2*annotationsMax+1 {
		t.Errorf("%d lines, want %d", n, 2*annotationsMax+1)
	}
	if !strings.Contains(out, "more annotations not shown here") {
		t.Errorf("what was left out is not told: %s", out[strings.LastIndex(out, "::notice"):])
	}
}

func FuzzGitHub(f *testing.F) {
	f.Add(hostile)
	f.Add("100%0A::error::,title=")
	f.Fuzz(func(t *testing.T, s string) {
		line := annotation(failures, item{id: s, name: s, pos: eval.Pos{File: s + "x", Line: 1, Col: 2}, reasons: []string{s, s}})
		if r, bad := badRune(line); bad && (r != '\n' || strings.Count(line, "\n") != 1) {
			t.Fatalf("%q holds %U", line, r)
		}
		if !workflowCommand.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Fatalf("not a workflow command: %q", line)
		}
		props, _, _ := strings.Cut(strings.TrimPrefix(line, "::error "), "::")
		if n := strings.Count(props, ","); n != 3 {
			t.Fatalf("%d properties, want 4: %q", n+1, props)
		}
		unescape := strings.NewReplacer("%0A", "\n", "%0D", "\r", "%3A", ":", "%2C", ",", "%25", "%")
		if got := unescape.Replace(githubProperty(s)); got != term.Sanitize(s) {
			t.Fatalf("property reads %q, want %q", got, term.Sanitize(s))
		}
		if got := unescape.Replace(githubData(s)); got != term.Sanitize(s) {
			t.Fatalf("data reads %q, want %q", got, term.Sanitize(s))
		}
	})
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

// rendered walks Markdown as a browser's renderer reads it, and gives its
// plain text and the kinds of its nodes.
func rendered(source string) (plain string, kinds map[ast.NodeKind]int) {
	src := []byte(source)
	kinds = map[ast.NodeKind]int{}
	var b strings.Builder
	walk := func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			kinds[n.Kind()]++
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(src))
			case *ast.String:
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	}
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader(src)), walk) // walk returns no error
	return b.String(), kinds
}

// TestMarkdownHoldsTogether parses the report: the only HTML in it is ours,
// and hostile answers made neither links nor headings nor rules.
func TestMarkdownHoldsTogether(t *testing.T) {
	source := render(t, "markdown", sampleRun(), Options{})
	_, kinds := rendered(source)
	want := map[ast.NodeKind]int{
		ast.KindHeading: 1, ast.KindLink: 0, ast.KindAutoLink: 0, ast.KindImage: 0, ast.KindThematicBreak: 0, ast.KindBlockquote: 0,
		ast.KindRawHTML: 2, extast.KindTable: 10, extast.KindStrikethrough: 0, ast.KindFencedCodeBlock: 6, ast.KindCodeBlock: 0,
	}
	for kind, n := range want {
		if kinds[kind] != n {
			t.Errorf("%d nodes of kind %s, want %d", kinds[kind], kind, n)
		}
	}
	var html strings.Builder
	if err := gfm.Convert([]byte(source), &html); err != nil {
		t.Fatal(err)
	}
	if opened, closed := strings.Count(source, "<details>\n"), strings.Count(source, "\n</details>\n"); opened != closed || opened != 10 {
		t.Errorf("%d details are opened and %d closed, want 10", opened, closed)
	}
	for _, bad := range []string{"<script>", "<b>"} {
		if strings.Contains(html.String(), bad) {
			t.Errorf("the rendered report holds %s", bad)
		}
	}
	outside := strings.ReplaceAll(source, mdFence(hostile), "")
	if strings.Contains(outside, "@octocat") || strings.Contains(outside, "#1") {
		t.Error("an answer mentions a person or an issue outside of a block of code")
	}
}

// TestMarkdownFits: the largest and most hostile run makes a comment that
// GitHub takes, and says what was left out.
func TestMarkdownFits(t *testing.T) {
	nasty := strings.Repeat("@#|`<&*", 400)
	var results []*eval.Result
	for i := range 500 {
		c := sampleCase(fmt.Sprintf("%s-%d", nasty, i), nasty, i+1, check(nasty, nasty, nil))
		c.Tool, c.Project = fmt.Sprintf("%d%s", i, nasty), fmt.Sprintf("%d%s", i, nasty)
		c.Pos.File = nasty
		warn := scored(c.Checks[0], eval.Fail, 0, nasty)
		warn.Severity = eval.WarnSeverity
		fail := scored(c.Checks[0], eval.Fail, 0, nasty)
		fail.Mode = fmt.Sprintf("%d%s", i, nasty)
		results = append(results, answered(c, eval.Fail, 10, nasty, fail, fail, fail, warn, warn))
	}
	for _, run := range []*eval.Run{runOf(results, "failed{tool="+strings.ReplaceAll(nasty, "{", "")+"} == 0"), largeRun(3000)} {
		run.ID = strings.Repeat("#", 500)
		out := render(t, "markdown", run, Options{Dir: nasty})
		if len(out) >= 60_000 {
			t.Errorf("%d bytes, want fewer than 60,000", len(out))
		}
		if !strings.Contains(out, "more, left out to keep this comment short") {
			t.Error("the report does not say that something is left out")
		}
		if strings.Count(out, "<details>\n") != strings.Count(out, "\n</details>\n") {
			t.Error("details are not closed")
		}
	}
}

// readsAs undoes what the escaper may do and nothing else.
var readsAs = strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">", noLink, "")

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{hostile, "1. one", "- a", "+ b", "=", "---", "    code", "a | b", "``", "[x](y)", "![", "$x$", "www.a.b", "http://a.b", "a@b.c", "&copy;", "~~a~~", "\\", "<!--"} {
		f.Add(s)
	}
	escaped := regexp.MustCompile(`\\([!-/:-@[-` + "`" + `{-~])`)
	f.Fuzz(func(t *testing.T, s string) {
		got := mdText(s)
		if r, bad := badRune(got); bad {
			t.Fatalf("%q holds %U", got, r)
		}
		want := strings.TrimSpace(term.Sanitize(s))
		if back := readsAs.Replace(escaped.ReplaceAllString(got, "$1")); back != want {
			t.Fatalf("%q reads as %q, want %q", got, back, want)
		}
		_, kinds := rendered("- " + got + "\n")
		for kind := range kinds {
			switch kind {
			case ast.KindDocument, ast.KindList, ast.KindListItem, ast.KindTextBlock, ast.KindText, ast.KindString:
			default:
				t.Fatalf("%q as %q made a %s", s, got, kind)
			}
		}
		_, kinds = rendered("| a | b |\n|---|---|\n| " + got + " | c |\n")
		if kinds[extast.KindTableCell] != 4 {
			t.Fatalf("%q as %q broke a table row", s, got)
		}
		fuzzFence(t, s)
	})
}

func fuzzFence(t *testing.T, s string) {
	t.Helper()
	doc := gfm.Parser().Parse(text.NewReader([]byte("a\n\n" + mdFence(s) + "\n\nb\n")))
	if n := doc.ChildCount(); n != 3 {
		t.Fatalf("%q leaves its fence: %d blocks, want 3", s, n)
	}
	if code := mdCode(s); code != "" {
		_, kinds := rendered("x " + code + " y\n")
		if kinds[ast.KindCodeSpan] != 1 || kinds[ast.KindParagraph] != 1 || kinds[ast.KindRawHTML] != 0 {
			t.Fatalf("%q as %q is not one code span: %v", s, code, kinds)
		}
	}
}
