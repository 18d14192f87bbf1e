package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Baseline remembers findings that were there when a project began to lint, so that only new ones are shown.
type Baseline struct {
	Version  int             `json:"version"`
	Findings []BaselineEntry `json:"findings"`

	known map[string]bool
}

// BaselineEntry is one remembered finding. Only the fingerprint counts; the rest is for the reader.
type BaselineEntry struct {
	Fingerprint string `json:"fingerprint"`
	Rule        string `json:"rule"`
	File        string `json:"file"`
	Message     string `json:"message"`
}

const baselineVersion = 1

// NewBaseline remembers these findings.
func NewBaseline(findings []Finding) *Baseline {
	b := &Baseline{Version: baselineVersion, Findings: []BaselineEntry{}}
	for _, f := range findings {
		if f.Suppressed == "" {
			b.Findings = append(b.Findings, BaselineEntry{f.Fingerprint, f.Rule, f.File, f.Message})
		}
	}
	b.add(nil)
	return b
}

// add remembers more and puts all in order.
func (b *Baseline) add(more []BaselineEntry) {
	b.Findings = append(b.Findings, more...)
	slices.SortStableFunc(b.Findings, func(a, c BaselineEntry) int {
		return cmp.Or(strings.Compare(a.File, c.File), strings.Compare(a.Rule, c.Rule), strings.Compare(a.Fingerprint, c.Fingerprint))
	})
	b.index()
}

// ReadBaseline reads what [Baseline.Write] wrote.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	b := new(Baseline)
	if err := json.NewDecoder(r).Decode(b); err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if b.Version != baselineVersion {
		return nil, fmt.Errorf("read baseline: version %d, want %d", b.Version, baselineVersion)
	}
	b.index()
	return b, nil
}

// Write writes the baseline as JSON, the same bytes for the same findings.
func (b *Baseline) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(b)
}

func (b *Baseline) index() {
	b.known = make(map[string]bool, len(b.Findings))
	for _, f := range b.Findings {
		b.known[f.Fingerprint] = true
	}
}

// Has reports whether a finding is remembered.
func (b *Baseline) Has(f Finding) bool { return b.known[f.Fingerprint] }
