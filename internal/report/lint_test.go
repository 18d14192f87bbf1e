package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/term"
)

// lintRules are two made-up rules: reports must not change with the catalogue.
func lintRules() []LintRule {
	return []LintRule{
		{&skill.Rule{ID: "frontmatter-quote", Family: "frontmatter", Severity: skill.Error, Doc: "A value needs quotes.", Explain: "YAML reads it otherwise.", Fixes: true}, skill.Error},
		{&skill.Rule{ID: "link-broken", Family: "link", Severity: skill.Warning, Doc: "A link leads nowhere.", Explain: "Nobody can follow it."}, skill.Warning},
	}
}

const hostileLine = "see \x1b[31mred\x1b[0m \u202eabc | ](http://x) ::error::x `code` <b>@all & %0A\n::set"

// lintSample is findings of every kind: on one line and over several, at a long
// line's end, without a width, with a fix, suppressed both ways, hostile.
func lintSample() []LintFile {
	long := "description: " + strings.Repeat("word ", 20) + "[here](there.md) " + strings.Repeat("more ", 12) + "…"
	quote := skill.Finding{
		Rule: "frontmatter-quote", Family: "frontmatter", Severity: skill.Error, Message: "the value must be quoted",
		File: "skills/a/SKILL.md", Line: 3, Col: 14, EndLine: 3, EndCol: 26, Start: 30, End: 42,
		Excerpt: "description: Use: it well", ExcerptCol: 1, Fingerprint: "0011223344556677",
		Fix: &skill.Fix{Message: "quote the value", Edits: []skill.Edit{{Start: 30, End: 42, Line: 3, Col: 14, EndLine: 3, EndCol: 26, New: `"Use: it well"`}}},
	}
	link := skill.Finding{
		Rule: "link-broken", Family: "link", Severity: skill.Warning, Message: "there is no there.md",
		File: "skills/a/SKILL.md", Line: 120, Col: 240, EndLine: 120, EndCol: 248, Start: 900, End: 908,
		Excerpt: long, ExcerptCol: 121, Fingerprint: "8899aabbccddeeff",
	}
	wide := link
	wide.Line, wide.Col, wide.EndLine, wide.EndCol, wide.Severity = 5, 4, 7, 2, skill.Info
	wide.Excerpt, wide.ExcerptCol, wide.Message = "日本語\tのリンク\x1b", 1, "it goes over several lines"
	whole := link
	whole.Line, whole.Col, whole.EndLine, whole.EndCol, whole.Message = 1, 1, 1, 1, "the file as a whole is not right"
	bad := link
	bad.File, bad.Message, bad.Excerpt, bad.Line, bad.Col, bad.EndLine, bad.EndCol, bad.ExcerptCol = "evil \x1b]0;x/SKILL.md", hostileLine, hostileLine, 9, 5, 9, 12, 1
	inline, external := quote, link
	inline.Suppressed, external.Suppressed = "it is meant so", "made when packed"
	fixed := quote
	fixed.File = "skills/b/SKILL.md"
	return []LintFile{
		{Path: "skills/a/SKILL.md", Findings: []skill.Finding{whole, quote, wide, link, inline, external}},
		{Path: "skills/b/SKILL.md", Fixed: []skill.Finding{fixed}},
		{Path: "skills/clean/SKILL.md"},
		{Path: "skills/gone: 100%/SKILL.md", Err: errors.New("read skill: open skills/gone: permission denied")},
		{Path: bad.File, Findings: []skill.Finding{bad}},
		{Path: "skills/a/SKILL.md", Findings: []skill.Finding{{
			Rule: "link-broken", Family: "link", Severity: skill.Warning, Message: "the same as skills/clean/SKILL.md", File: "skills/a/SKILL.md",
			Line: 2, Col: 7, EndLine: 2, EndCol: 8, Start: 10, End: 11, Excerpt: "name: a", ExcerptCol: 1, Fingerprint: "ffff",
		}}},
	}
}

func lintRunOf(failOn skill.Severity) LintRun {
	return LintRun{
		Tool: "1.2.3", Profile: "ours", FailOn: failOn, Rules: lintRules(),
		Suppress: []skill.Suppression{{Rule: "link", Reason: "made when packed"}},
	}
}

// writeLint writes files in a format as the command does.
func writeLint(t testing.TB, f LintFormat, files []LintFile, run LintRun, o Options) string {
	t.Helper()
	var b bytes.Buffer
	totals := &LintTotals{Baseline: 3}
	seen := map[string]bool{}
	w := f.New(&b, run, o)
	for _, file := range files {
		if !seen[file.Path] {
			seen[file.Path] = true
			totals.Files++
		}
		totals.Add(file)
		if err := w.File(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(totals); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestLintGolden compares each report with testdata/lint-FORMAT.txtar.
func TestLintGolden(t *testing.T) {
	for _, f := range LintFormats {
		t.Run(f.Name, func(t *testing.T) {
			got := &txtar.Archive{Comment: []byte("The " + f.Name + " report of the findings in lint_test.go.\n")}
			seen := map[string]bool{}
			for _, v := range []struct {
				name  string
				files []LintFile
				run   LintRun
				o     Options
			}{
				{"full", lintSample(), lintRunOf(skill.Error), Options{}},
				{"color-60", lintSample(), lintRunOf(skill.Info), Options{Color: true, Width: 60}},
				{"warnings", lintSample()[5:], LintRun{Profile: "spec", FailOn: skill.Error, Baseline: true, Rules: lintRules()}, Options{}},
				{"clean", lintSample()[2:3], lintRunOf(skill.Error), Options{}},
				{"unread", lintSample()[3:4], lintRunOf(skill.Error), Options{}},
			} {
				out := strings.ReplaceAll(writeLint(t, f, v.files, v.run, v.o), "\x1b", "{ESC}")
				if seen[out] {
					continue
				}
				seen[out] = true
				got.Files = append(got.Files, txtar.File{Name: v.name, Data: []byte(out)})
			}
			golden(t, filepath.Join("testdata", "lint-"+f.Name+".txtar"), got)
		})
	}
}

func TestLintFormats(t *testing.T) {
	var names []string
	for _, f := range LintFormats {
		names = append(names, f.Name)
		if f.Doc == "" || f.New == nil {
			t.Errorf("format %q is not complete", f.Name)
		}
		out := writeLint(t, f, lintSample(), lintRunOf(skill.Error), Options{})
		for i, r := range out {
			if r != '\n' && (r < ' ' || obeyed(r)) {
				t.Fatalf("%s holds %U after %q", f.Name, r, out[max(0, i-40):i])
			}
		}
		if again := writeLint(t, f, lintSample(), lintRunOf(skill.Error), Options{}); again != out {
			t.Errorf("%s differs when written twice", f.Name)
		}
		w := f.New(fullDisk{}, lintRunOf(skill.Error), Options{})
		if err := errors.Join(w.File(lintSample()[0]), w.Close(new(LintTotals))); !errors.Is(err, errFull) {
			t.Errorf("%s: error is %v, want one that wraps %v", f.Name, err, errFull)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("formats are not in order: %v", names)
	}
	if _, ok := FindLint("pdf"); ok {
		t.Error("found a format that is not there")
	}
}

// TestLintJSONReadsBack: what was found can be had back from the report, but
// for bytes that are no text.
func TestLintJSONReadsBack(t *testing.T) {
	f, _ := FindLint("json")
	var got struct {
		Version  int
		Findings []skill.Finding
		Fixed    []skill.Finding
		Problems []lintProblem
		Summary  LintTotals
	}
	if err := json.Unmarshal([]byte(writeLint(t, f, lintSample(), lintRunOf(skill.Error), Options{})), &got); err != nil {
		t.Fatal(err)
	}
	var want []skill.Finding
	for _, file := range lintSample() {
		want = append(want, file.Findings...)
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Version != lintVersion || len(got.Fixed) != 1 || len(got.Problems) != 1 || got.Summary.Errors != 1 || got.Summary.Suppressed != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestLintJUnitIsXML(t *testing.T) {
	f, _ := FindLint("junit")
	d := xml.NewDecoder(strings.NewReader(writeLint(t, f, lintSample(), lintRunOf(skill.Error), Options{})))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLintMarkdownFits: a comment has a limit, and errors go first.
func TestLintMarkdownFits(t *testing.T) {
	f, _ := FindLint("markdown")
	var files []LintFile
	for range 400 {
		files = append(files, lintSample()[4], LintFile{Path: "a", Err: errors.New("no")})
	}
	out := writeLint(t, f, append(files, lintSample()[0]), lintRunOf(skill.Error), Options{})
	if len(out) > 65_000 {
		t.Errorf("%d bytes are too many", len(out))
	}
	if !strings.Contains(out, "the value must be quoted") || !strings.Contains(out, "more.") {
		t.Errorf("the error is not in it, or nothing says that it was cut:\n%s", out[:2000])
	}
}

// TestLintAnnotationsAreBounded: GitHub shows the first few only.
func TestLintAnnotationsAreBounded(t *testing.T) {
	f, _ := FindLint("github")
	var files []LintFile
	for range 60 {
		files = append(files, lintSample()[5])
	}
	out := writeLint(t, f, files, lintRunOf(skill.Error), Options{})
	if n := strings.Count(out, "::warning"); n != annotationsMax || !strings.Contains(out, "10 more annotations not shown") {
		t.Errorf("%d annotations:\n%s", n, out[len(out)-300:])
	}
}

func TestLintTotals(t *testing.T) {
	for _, c := range []struct {
		totals LintTotals
		failOn skill.Severity
		want   bool
	}{
		{LintTotals{Errors: 1}, skill.Error, true},
		{LintTotals{Warnings: 1}, skill.Error, false},
		{LintTotals{Warnings: 1}, skill.Warning, true},
		{LintTotals{Infos: 1}, skill.Warning, false},
		{LintTotals{Infos: 1}, skill.Info, true},
		{LintTotals{Suppressed: 1, Problems: 1}, skill.Info, false},
	} {
		if got := c.totals.Failed(c.failOn); got != c.want {
			t.Errorf("%+v fails on %s: %v, want %v", c.totals, c.failOn, got, c.want)
		}
	}
}

// sarifSubset says of the parts that are written what the published schema of
// SARIF 2.1.0 does: which members there are, which must be there, and of what
// type they are.
const sarifSubset = `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object", "additionalProperties": false, "required": ["version", "runs"],
  "properties": {
    "$schema": {"type": "string", "format": "uri"}, "version": {"enum": ["2.1.0"]},
    "runs": {"type": "array", "items": {"$ref": "#/definitions/run"}}
  },
  "definitions": {
    "text": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string"}}},
    "level": {"enum": ["none", "note", "warning", "error"]},
    "artifact": {"type": "object", "additionalProperties": false, "properties": {
      "uri": {"type": "string", "format": "uri-reference"}, "uriBaseId": {"type": "string"}, "description": {"$ref": "#/definitions/text"}}},
    "region": {"type": "object", "additionalProperties": false, "properties": {
      "startLine": {"type": "integer", "minimum": 1}, "startColumn": {"type": "integer", "minimum": 1},
      "endLine": {"type": "integer", "minimum": 1}, "endColumn": {"type": "integer", "minimum": 1}}},
    "location": {"type": "object", "additionalProperties": false, "properties": {
      "physicalLocation": {"type": "object", "additionalProperties": false, "required": ["artifactLocation"], "properties": {
        "artifactLocation": {"$ref": "#/definitions/artifact"}, "region": {"$ref": "#/definitions/region"}}}}},
    "rule": {"type": "object", "additionalProperties": false, "required": ["id"], "properties": {
      "id": {"type": "string"}, "shortDescription": {"$ref": "#/definitions/text"}, "fullDescription": {"$ref": "#/definitions/text"},
      "help": {"$ref": "#/definitions/text"}, "helpUri": {"type": "string", "format": "uri"},
      "defaultConfiguration": {"type": "object", "additionalProperties": false, "properties": {"level": {"$ref": "#/definitions/level"}}},
      "properties": {"type": "object", "properties": {"tags": {"type": "array", "uniqueItems": true, "items": {"type": "string"}}}}}},
    "fix": {"type": "object", "additionalProperties": false, "required": ["artifactChanges"], "properties": {
      "description": {"$ref": "#/definitions/text"},
      "artifactChanges": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {
        "type": "object", "additionalProperties": false, "required": ["artifactLocation", "replacements"], "properties": {
          "artifactLocation": {"$ref": "#/definitions/artifact"},
          "replacements": {"type": "array", "minItems": 1, "items": {
            "type": "object", "additionalProperties": false, "required": ["deletedRegion"], "properties": {
              "deletedRegion": {"$ref": "#/definitions/region"}, "insertedContent": {"$ref": "#/definitions/text"}}}}}}}}},
    "result": {"type": "object", "additionalProperties": false, "required": ["message"], "properties": {
      "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": -1}, "level": {"$ref": "#/definitions/level"},
      "message": {"$ref": "#/definitions/text"}, "locations": {"type": "array", "items": {"$ref": "#/definitions/location"}},
      "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
      "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
      "suppressions": {"type": "array", "uniqueItems": true, "items": {"type": "object", "additionalProperties": false, "required": ["kind"],
        "properties": {"kind": {"enum": ["inSource", "external"]}, "justification": {"type": "string"}}}},
      "fixes": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/definitions/fix"}}}},
    "run": {"type": "object", "additionalProperties": false, "required": ["tool"], "properties": {
      "tool": {"type": "object", "additionalProperties": false, "required": ["driver"], "properties": {
        "driver": {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
          "name": {"type": "string"}, "version": {"type": "string"}, "informationUri": {"type": "string", "format": "uri"},
          "rules": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/definitions/rule"}}}}}},
      "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
      "originalUriBaseIds": {"type": "object", "additionalProperties": {"$ref": "#/definitions/artifact"}},
      "results": {"type": "array", "items": {"$ref": "#/definitions/result"}},
      "invocations": {"type": "array", "uniqueItems": true, "items": {
        "type": "object", "additionalProperties": false, "required": ["executionSuccessful"], "properties": {
          "executionSuccessful": {"type": "boolean"},
          "toolExecutionNotifications": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["message"], "properties": {
            "level": {"$ref": "#/definitions/level"}, "message": {"$ref": "#/definitions/text"},
            "locations": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/definitions/location"}}}}}}}}}}
  }
}`

// TestLintSARIFIsValid. The published schema was asked too, by hand: it is too
// large to keep here for what it adds.
func TestLintSARIFIsValid(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(sarifSubset))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := FindLint("sarif")
	for _, files := range [][]LintFile{lintSample(), nil} {
		for _, run := range []LintRun{lintRunOf(skill.Error), {Baseline: true}} {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(writeLint(t, f, files, run, Options{})))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestArtifact(t *testing.T) {
	for in, want := range map[string]sarifArtifact{
		"skills/a b/SKILL.md": {"skills/a%20b/SKILL.md", sarifBase},
		"../x#y%/SKILL.md":    {"../x%23y%25/SKILL.md", sarifBase},
		"a:b/SKILL.md":        {"./a:b/SKILL.md", sarifBase},
		"/tmp/日/SKILL.md":     {"file:///tmp/%E6%97%A5/SKILL.md", ""},
		"C:/x/SKILL.md":       {"file:///C:/x/SKILL.md", ""},
		"<stdin>":             {"%3Cstdin%3E", sarifBase},
	} {
		if got := artifact(in); got != want {
			t.Errorf("%s is %v, want %v", in, got, want)
		}
	}
}

// TestMarkLine: the mark stands under the place in whatever room there is.
func TestMarkLine(t *testing.T) {
	line := strings.Repeat("日本 ", 20) + "X" + strings.Repeat(" né\x1b", 20)
	at := len([]rune(line[:strings.IndexByte(line, 'X')]))
	for room := 8; room < 160; room++ {
		text, indent, marked := markLine(&skill.Finding{Line: 1, Col: at + 1, EndLine: 1, EndCol: at + 2, Excerpt: line, ExcerptCol: 1}, room)
		if term.Columns(text) > room {
			t.Errorf("%d columns in a room of %d", term.Columns(text), room)
		}
		if head, _, found := strings.Cut(text, "X"); term.Columns(head) != indent || !found || marked != 1 {
			t.Errorf("room %d: the mark is at column %d of %q", room, indent, text)
		}
	}
}
