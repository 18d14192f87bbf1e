package lintreport

import (
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill/lint"
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sarifBase   = "%SRCROOT%" // what code scanning takes for the top of the repository
	homepage    = "https://github.com/mettle-eval/mettle"
	rulePages   = homepage + "/blob/main/docs/reference/lint.md#"
)

// The parts of SARIF 2.1.0 that are written. Names are the standard's.
type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string      `json:"id"`
		ShortDescription     sarifText   `json:"shortDescription"`
		FullDescription      sarifText   `json:"fullDescription"`
		Help                 sarifText   `json:"help"`
		HelpURI              string      `json:"helpUri"`
		DefaultConfiguration sarifConfig `json:"defaultConfiguration"`
		Properties           sarifTags   `json:"properties"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifTags struct {
		Tags []string `json:"tags"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion `json:"deletedRegion"`
		InsertedContent *sarifText  `json:"insertedContent,omitempty"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifFix struct {
		Description     sarifText     `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifResult struct {
		RuleID              string             `json:"ruleId"`
		RuleIndex           int                `json:"ruleIndex"`
		Level               string             `json:"level"`
		Message             sarifText          `json:"message"`
		Locations           []sarifLocation    `json:"locations"`
		PartialFingerprints map[string]string  `json:"partialFingerprints"`
		BaselineState       string             `json:"baselineState,omitempty"`
		Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
		Fixes               []sarifFix         `json:"fixes,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifInvocation struct {
		ExecutionSuccessful        bool                `json:"executionSuccessful"`
		ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
)

// sarif writes a log with one run. All rules that hold are listed, so that
// a finding that is gone can be told from a rule that is.
type sarif struct {
	document
	run   Run
	index map[string]int // of the rules
	n     int
	notes []sarifNotification
}

func newSARIF(w io.Writer, run Run, _ report.Options) Writer {
	s := &sarif{document: document{printer: newPrinter(w)}, run: run, index: map[string]int{}}
	driver := sarifDriver{Name: "mettle", Version: run.Tool, InformationURI: homepage, Rules: []sarifRule{}}
	for i, r := range run.Rules {
		s.index[r.ID] = i
		driver.Rules = append(driver.Rules, sarifRuleOf(r))
	}
	s.printf("{\n  \"$schema\": %q,\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"tool\": ", sarifSchema)
	s.value("      ", sarifTool{driver})
	s.print(",\n      \"columnKind\": \"unicodeCodePoints\",\n      \"originalUriBaseIds\": ")
	s.value("      ", map[string]any{sarifBase: map[string]any{"description": sarifText{"The folder that mettle was called in."}}})
	s.print(",\n      \"results\": [")
	return s
}

func sarifRuleOf(r Rule) sarifRule {
	return sarifRule{
		ID: r.ID, ShortDescription: sarifText{r.Doc}, FullDescription: sarifText{r.Doc + " " + r.Explain},
		Help: sarifText{r.Explain}, HelpURI: rulePages + r.ID,
		DefaultConfiguration: sarifConfig{sarifLevel(r.Level)}, Properties: sarifTags{[]string{r.Family}},
	}
}

func (s *sarif) File(f lint.Result) error {
	for i := range f.Findings {
		if s.n++; s.n > 1 {
			s.print(",")
		}
		s.print("\n        ")
		s.value("        ", s.result(&f.Findings[i]))
	}
	if f.Err != nil {
		at := sarifLocation{sarifPhysical{ArtifactLocation: artifact(f.Path)}}
		s.notes = append(s.notes, sarifNotification{"error", sarifMessage(f.Err.Error()), []sarifLocation{at}})
	}
	return s.err
}

func (s *sarif) Close(*lint.Totals) error {
	if s.n > 0 {
		s.print("\n      ")
	}
	s.print("],\n      \"invocations\": ")
	s.value("      ", []sarifInvocation{{len(s.notes) == 0, s.notes}})
	s.print("\n    }\n  ]\n}\n")
	return s.flush()
}

func (s *sarif) result(f *lint.Finding) sarifResult {
	file := artifact(f.File)
	r := sarifResult{
		RuleID: f.Rule, RuleIndex: s.index[f.Rule], Level: sarifLevel(f.Severity), Message: sarifMessage(f.Message),
		Locations:           []sarifLocation{{sarifPhysical{file, &sarifRegion{f.Line, f.Col, f.EndLine, f.EndCol}}}},
		PartialFingerprints: map[string]string{"mettleFinding/v1": f.Fingerprint},
	}
	if s.run.Baseline {
		r.BaselineState = "new"
	}
	if f.Suppressed != "" {
		r.Suppressions = []sarifSuppression{{s.suppressedBy(f), f.Suppressed}}
	}
	if f.Fix != nil {
		change := sarifChange{ArtifactLocation: file}
		for _, e := range f.Fix.Edits {
			change.Replacements = append(change.Replacements, replacement(e))
		}
		r.Fixes = []sarifFix{{sarifText{f.Fix.Message}, []sarifChange{change}}}
	}
	return r
}

// sarifMessage is text in which nothing is a link: what a file says would lead
// people astray from the page of a finding.
func sarifMessage(s string) sarifText { return sarifText{strings.ReplaceAll(s, "](", "] (")} }

func replacement(e lint.Edit) sarifReplacement {
	r := sarifReplacement{DeletedRegion: sarifRegion{e.Line, e.Col, e.EndLine, e.EndCol}}
	if e.New != "" {
		r.InsertedContent = &sarifText{e.New}
	}
	return r
}

// suppressedBy tells a suppression in the file from one in the configuration,
// which has the reason.
func (s *sarif) suppressedBy(f *lint.Finding) string {
	if slices.ContainsFunc(s.run.Suppress, func(c lint.Suppression) bool { return c.Reason == f.Suppressed }) {
		return "external"
	}
	return "inSource"
}

func sarifLevel(s lint.Severity) string {
	switch s {
	case lint.Error, lint.Warning:
		return string(s)
	case lint.Off:
		return "none"
	}
	return "note"
}

// artifact is a path as a URI: one from the working directory stays relative.
func artifact(file string) sarifArtifact {
	u := url.URL{Path: file}
	if path.IsAbs(file) || len(file) > 2 && file[1:3] == ":/" {
		u.Scheme = "file"
		if !strings.HasPrefix(file, "/") {
			u.Path = "/" + file
		}
		return sarifArtifact{URI: u.String()}
	}
	return sarifArtifact{URI: u.String(), URIBaseID: sarifBase}
}
