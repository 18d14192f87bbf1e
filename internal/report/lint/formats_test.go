package lintreport

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
	"github.com/mettle-eval/mettle/internal/term"
)

var update = flag.Bool("update", false, "rewrite the expected reports")

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// rules are two made-up rules: reports must not change with the catalogue.
func rules() []Rule {
	return []Rule{
		{&lint.Rule{ID: "frontmatter-quote", Family: "frontmatter", Severity: lint.Error, Doc: "A value needs quotes.", Explain: "YAML reads it otherwise.", Fixes: true}, lint.Error},
		{&lint.Rule{ID: "link-broken", Family: "link", Severity: lint.Warning, Doc: "A link leads nowhere.", Explain: "Nobody can follow it."}, lint.Warning},
	}
}

const hostileLine = "see \x1b[31mred\x1b[0m \u202eabc | ](http://x) ::error::x `code` <b>@all & %0A\n::set"

// sample is findings of every kind: on one line and over several, at a long
// line's end, without a width, with a fix, suppressed both ways, hostile.
func sample() []lint.Result {
	long := "description: " + strings.Repeat("word ", 20) + "[here](there.md) " + strings.Repeat("more ", 12) + "…"
	quote := lint.Finding{
		Rule: "frontmatter-quote", Family: "frontmatter", Severity: lint.Error, Message: "the value must be quoted",
		File: "skills/a/SKILL.md", Line: 3, Col: 14, EndLine: 3, EndCol: 26, Start: 30, End: 42,
		Excerpt: "description: Use: it well", ExcerptCol: 1, Fingerprint: "0011223344556677",
		Fix: &lint.Fix{Message: "quote the value", Edits: []lint.Edit{{Start: 30, End: 42, Line: 3, Col: 14, EndLine: 3, EndCol: 26, New: `"Use: it well"`}}},
	}
	link := lint.Finding{
		Rule: "link-broken", Family: "link", Severity: lint.Warning, Message: "there is no there.md",
		File: "skills/a/SKILL.md", Line: 120, Col: 240, EndLine: 120, EndCol: 248, Start: 900, End: 908,
		Excerpt: long, ExcerptCol: 121, Fingerprint: "8899aabbccddeeff",
	}
	wide := link
	wide.Line, wide.Col, wide.EndLine, wide.EndCol, wide.Severity = 5, 4, 7, 2, lint.Info
	wide.Excerpt, wide.ExcerptCol, wide.Message = "日本語\tのリンク\x1b", 1, "it goes over several lines"
	whole := link
	whole.Line, whole.Col, whole.EndLine, whole.EndCol, whole.Message = 1, 1, 1, 1, "the file as a whole is not right"
	bad := link
	bad.File, bad.Message, bad.Excerpt, bad.Line, bad.Col, bad.EndLine, bad.EndCol, bad.ExcerptCol = "evil \x1b]0;x/SKILL.md", hostileLine, hostileLine, 9, 5, 9, 12, 1
	inline, external := quote, link
	inline.Suppressed, external.Suppressed = "it is meant so", "made when packed"
	fixed := quote
	fixed.File = "skills/b/SKILL.md"
	return []lint.Result{
		{Path: "skills/a/SKILL.md", Findings: []lint.Finding{whole, quote, wide, link, inline, external}},
		{Path: "skills/b/SKILL.md", Fixed: []lint.Finding{fixed}},
		{Path: "skills/clean/SKILL.md"},
		{Path: "skills/gone: 100%/SKILL.md", Err: errors.New("read skill: open skills/gone: permission denied")},
		{Path: bad.File, Findings: []lint.Finding{bad}},
		{Path: "skills/a/SKILL.md", Findings: []lint.Finding{{
			Rule: "link-broken", Family: "link", Severity: lint.Warning, Message: "the same as skills/clean/SKILL.md", File: "skills/a/SKILL.md",
			Line: 2, Col: 7, EndLine: 2, EndCol: 8, Start: 10, End: 11, Excerpt: "name: a", ExcerptCol: 1, Fingerprint: "ffff",
		}}},
	}
}

func runOf(failOn lint.Severity) Run {
	return Run{
		Tool: "1.2.3", Profile: "ours", FailOn: failOn, Rules: rules(),
		Suppress: []lint.Suppression{{Rule: "link", Reason: "made when packed"}},
	}
}

// write writes files in a format as the command does.
func write(t testing.TB, f Format, files []lint.Result, run Run, o report.Options) string {
	t.Helper()
	var b bytes.Buffer
	totals := &lint.Totals{Baseline: 3}
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

// TestGolden compares each report with testdata/FORMAT.txtar.
func TestGolden(t *testing.T) {
	for _, f := range Formats {
		t.Run(f.Name, func(t *testing.T) {
			got := &txtar.Archive{Comment: []byte("The " + f.Name + " report of the findings in formats_test.go.\n")}
			seen := map[string]bool{}
			for _, v := range []struct {
				name  string
				files []lint.Result
				run   Run
				o     report.Options
			}{
				{"full", sample(), runOf(lint.Error), report.Options{}},
				{"color-60", sample(), runOf(lint.Info), report.Options{Color: true, Width: 60}},
				{"warnings", sample()[5:], Run{Profile: "spec", FailOn: lint.Error, Baseline: true, Rules: rules()}, report.Options{}},
				{"clean", sample()[2:3], runOf(lint.Error), report.Options{}},
				{"unread", sample()[3:4], runOf(lint.Error), report.Options{}},
			} {
				out := strings.ReplaceAll(write(t, f, v.files, v.run, v.o), "\x1b", "{ESC}")
				if seen[out] {
					continue
				}
				seen[out] = true
				got.Files = append(got.Files, txtar.File{Name: v.name, Data: []byte(out)})
			}
			path := filepath.Join("testdata", f.Name+".txtar")
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
				t.Errorf("%s (-want +got; -update rewrites it):\n%s", path, diff)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
		if f.Doc == "" || f.New == nil {
			t.Errorf("format %q is not complete", f.Name)
		}
		out := write(t, f, sample(), runOf(lint.Error), report.Options{})
		for i, r := range out {
			if r != '\n' && (r < ' ' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Fatalf("%s holds %U after %q", f.Name, r, out[max(0, i-40):i])
			}
		}
		if again := write(t, f, sample(), runOf(lint.Error), report.Options{}); again != out {
			t.Errorf("%s differs when written twice", f.Name)
		}
		w := f.New(fullDisk{}, runOf(lint.Error), report.Options{})
		if err := errors.Join(w.File(sample()[0]), w.Close(new(lint.Totals))); !errors.Is(err, errFull) {
			t.Errorf("%s: error is %v, want one that wraps %v", f.Name, err, errFull)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("formats are not in order: %v", names)
	}
	if _, ok := Find("pdf"); ok {
		t.Error("found a format that is not there")
	}
}

// TestJSONReadsBack: what was found can be had back from the report, but
// for bytes that are no text.
func TestJSONReadsBack(t *testing.T) {
	f, _ := Find("json")
	var got struct {
		Version  int
		Findings []lint.Finding
		Fixed    []lint.Finding
		Problems []problem
		Summary  lint.Totals
	}
	if err := json.Unmarshal([]byte(write(t, f, sample(), runOf(lint.Error), report.Options{})), &got); err != nil {
		t.Fatal(err)
	}
	var want []lint.Finding
	for _, file := range sample() {
		want = append(want, file.Findings...)
	}
	if diff := cmp.Diff(want, got.Findings); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got.Version != version || len(got.Fixed) != 1 || len(got.Problems) != 1 || got.Summary.Errors != 1 || got.Summary.Suppressed != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestJUnitIsXML(t *testing.T) {
	f, _ := Find("junit")
	d := xml.NewDecoder(strings.NewReader(write(t, f, sample(), runOf(lint.Error), report.Options{})))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMarkdownFits: a comment has a limit, and errors go first.
func TestMarkdownFits(t *testing.T) {
	f, _ := Find("markdown")
	var files []lint.Result
	for range 400 {
		files = append(files, sample()[4], lint.Result{Path: "a", Err: errors.New("no")})
	}
	out := write(t, f, append(files, sample()[0]), runOf(lint.Error), report.Options{})
	if len(out) > 65_000 {
		t.Errorf("%d bytes are too many", len(out))
	}
	if !strings.Contains(out, "the value must be quoted") || !strings.Contains(out, "more.") {
		t.Errorf("the error is not in it, or nothing says that it was cut:\n%s", out[:2000])
	}
}

// TestAnnotationsAreBounded: GitHub shows the first few only.
func TestAnnotationsAreBounded(t *testing.T) {
	f, _ := Find("github")
	var files []lint.Result
	for range 60 {
		files = append(files, sample()[5])
	}
	out := write(t, f, files, runOf(lint.Error), report.Options{})
	if n := strings.Count(out, "::warning"); n != report.AnnotationsMax || !strings.Contains(out, "10 more annotations not shown") {
		t.Errorf("%d annotations:\n%s", n, out[len(out)-300:])
	}
}

func TestTotals(t *testing.T) {
	for _, c := range []struct {
		totals lint.Totals
		failOn lint.Severity
		want   bool
	}{
		{lint.Totals{Errors: 1}, lint.Error, true},
		{lint.Totals{Warnings: 1}, lint.Error, false},
		{lint.Totals{Warnings: 1}, lint.Warning, true},
		{lint.Totals{Infos: 1}, lint.Warning, false},
		{lint.Totals{Infos: 1}, lint.Info, true},
		{lint.Totals{Suppressed: 1, Problems: 1}, lint.Info, false},
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

// TestSARIFIsValid. The published schema was asked too, by hand: it is too
// large to keep here for what it adds.
func TestSARIFIsValid(t *testing.T) {
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
	f, _ := Find("sarif")
	for _, files := range [][]lint.Result{sample(), nil} {
		for _, run := range []Run{runOf(lint.Error), {Baseline: true}} {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(write(t, f, files, run, report.Options{})))
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
		text, indent, marked := markLine(&lint.Finding{Line: 1, Col: at + 1, EndLine: 1, EndCol: at + 2, Excerpt: line, ExcerptCol: 1}, room)
		if term.Columns(text) > room {
			t.Errorf("%d columns in a room of %d", term.Columns(text), room)
		}
		if before, _, found := strings.Cut(text, "X"); !found || term.Columns(before) != indent || marked != 1 {
			t.Errorf("room %d: the mark is in column %d of %q", room, indent, text)
		}
	}
}
