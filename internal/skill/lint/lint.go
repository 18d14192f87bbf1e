// Package lint says what is wrong with Agent Skills.
//
// A [Rule] looks at one [skill.Document], or at all of them together; the rules are listed in one table ([Rules]) with
// one source file per family. A [Profile] says which of them hold and how much they weigh. A [Linter] checks documents;
// a [Job] checks files: it reads them side by side, makes fixes if asked to, and hands on one [Result] after another.
// A finding can be suppressed by a comment or by the configuration, and remembered by a [Baseline].
//
// The text is foreign: nothing panics, and time grows with the length of a file, not with its shape.
package lint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Severity says how bad a finding is.
type Severity string

// The severities, worst first; Off silences a rule.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
	Off     Severity = "off"
)

// mostFindings bounds the findings of one rule in one file: what comes after them is the same again.
const mostFindings = 50

// Rule is one thing that can be wrong with a skill.
type Rule struct {
	ID       string // stable: configurations and baselines name it
	Family   string
	Severity Severity
	Doc      string   // one line: what is wrong
	Explain  string   // why it matters and what to do
	Profiles []string // built-in profiles it belongs to; nil means all
	Fixes    bool     // it offers fixes

	check    func(*pass) // looks at one file
	checkAll func(*pass) // looks at all files together; pass.entries holds them
}

// Finding is one place where a rule is broken. Lines and columns start at 1, columns count characters, and the end is
// the place behind the last character. Start and End are the same places as byte offsets into the file as it is stored.
type Finding struct {
	Rule        string   `json:"rule"`
	Family      string   `json:"family"`
	Severity    Severity `json:"severity"`
	Message     string   `json:"message"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
	Col         int      `json:"col"`
	EndLine     int      `json:"end_line"`
	EndCol      int      `json:"end_col"`
	Start       int      `json:"start"`
	End         int      `json:"end"`
	Excerpt     string   `json:"excerpt,omitempty"`     // the line, or the part of a long one around the place, keys made stars
	ExcerptCol  int      `json:"excerpt_col,omitempty"` // column the excerpt begins at
	Fix         *Fix     `json:"fix,omitempty"`
	Fingerprint string   `json:"fingerprint"`          // the same when the lines around it move
	Suppressed  string   `json:"suppressed,omitempty"` // the reason, when a suppression covers it
}

// Options choose what [Lint] looks for.
type Options struct {
	Profile        string              // a built-in profile or one of Profiles; "spec" when empty
	Profiles       []Profile           // own profiles
	Rules          map[string]Severity // severities by rule id or family, on top of the profile
	Suppress       []Suppression
	KeepSuppressed bool // list suppressed findings too, marked as such
	Baseline       *Baseline
}

// Lint checks skills, each by itself and all of them together. An error means that the options are wrong. Findings come
// in the order of the files and of the places in them.
func Lint(docs []*skill.Document, opts Options) ([]Finding, error) {
	l, err := NewLinter(opts)
	if err != nil {
		return nil, err
	}
	var all []Finding
	for _, d := range docs {
		all = append(all, l.File(d)...)
	}
	all = append(all, l.Finish()...)
	Sort(all)
	return all, nil
}

// Sort puts findings in the order of files, places and rules.
func Sort(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Col-b.Col, strings.Compare(a.Rule, b.Rule))
	})
}

// Linter checks one file after another and keeps of each only what the rules across files need, so memory does not grow
// with the text. Its methods are safe for concurrent use.
type Linter struct {
	opts    Options
	profile resolved
	rules   []weighed // those that look at one file
	mu      sync.Mutex
	entries []*entry

	remembered int             // findings that the baseline has
	found      map[string]bool // their fingerprints
}

// NewLinter checks the options and prepares a linter.
func NewLinter(opts Options) (*Linter, error) {
	p, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	l := &Linter{opts: opts, profile: p}
	for _, r := range Rules() {
		if s := p.severity(r); r.check != nil && s != Off {
			l.rules = append(l.rules, weighed{r, s})
		}
	}
	return l, nil
}

// weighed is a rule with the severity that the profile gives it.
type weighed struct {
	*Rule
	severity Severity
}

// Severity is how much a rule weighs for this linter, [Off] when it does not hold.
func (l *Linter) Severity(r *Rule) Severity { return l.profile.severity(r) }

// File checks one skill by itself and remembers it for [Linter.Finish].
func (l *Linter) File(d *skill.Document) []Finding { return l.files([]*skill.Document{d})[0] }

// files checks some skills, each by itself. What costs less for several of them is done for all at once.
func (l *Linter) files(docs []*skill.Document) [][]Finding {
	passes := make([]*pass, len(docs))
	for i, d := range docs {
		passes[i] = &pass{Document: d, profile: &l.profile}
	}
	if l.profile.severity(&codeSyntax) != Off {
		parseExamples(passes)
	}
	found := make([][]Finding, len(docs))
	for i, p := range passes {
		found[i] = l.file(p)
	}
	return found
}

func (l *Linter) file(p *pass) []Finding {
	e := newEntry(p.Document)
	l.mu.Lock()
	l.entries = append(l.entries, e)
	l.mu.Unlock()
	for _, r := range l.rules {
		if p.Facts.UTF16 && r.Rule != &markdownEncoding {
			continue // read as UTF-8 it has nothing in it that its author wrote
		}
		p.rule, p.reported = r, 0
		r.check(p)
	}
	found := l.suppress(p.findings, e)
	return l.afterBaseline(append(found, l.checkIgnores(p.Document, e)...))
}

// Finish checks the skills against each other. All files must have been checked by then.
func (l *Linter) Finish() []Finding {
	slices.SortStableFunc(l.entries, func(a, b *entry) int { return strings.Compare(a.file, b.file) })
	var found []Finding
	for _, r := range Rules() {
		severity := l.profile.severity(r)
		if r.checkAll == nil || severity == Off {
			continue
		}
		p := &pass{rule: weighed{r, severity}, profile: &l.profile, entries: l.entries}
		r.checkAll(p)
		for i, f := range p.findings {
			found = append(found, l.suppress([]Finding{f}, p.origins[i])...)
		}
	}
	found = l.afterBaseline(found)
	Sort(found)
	return found
}

func (l *Linter) afterBaseline(found []Finding) []Finding {
	if l.opts.Baseline != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		found = slices.DeleteFunc(found, l.remembers)
	}
	Sort(found)
	return found
}

// remembers reports whether the baseline has a finding, and counts it.
func (l *Linter) remembers(f Finding) bool {
	if f.Suppressed != "" || !l.opts.Baseline.Has(f) {
		return false
	}
	if l.found == nil {
		l.found = map[string]bool{}
	}
	l.remembered++
	l.found[f.Fingerprint] = true
	return true
}

// pass is one rule at work.
type pass struct {
	*skill.Document
	rule     weighed
	profile  *resolved
	findings []Finding
	reported int
	prints   map[string]int // fingerprints given so far, to tell equal lines apart

	examples []*skill.Block        // those that are meant to parse
	parsed   map[*skill.Block]bool // of them, those known to

	// What rules about the folder share, each filled in when first asked for.
	texts     []*source
	files     []bundledFile
	listed    bool
	contents  map[string]string
	readBytes int
	linked    []*page
	labels    map[string]bool
	second    *[2]int // lines of a second frontmatter, once it was looked for

	entries []*entry // all skills, for rules across files
	origins []*entry // where each finding of such a rule stands
}

// full reports whether the rule has said all it may about this file.
func (p *pass) full() bool { return p.reported >= mostFindings }

// at reports a finding for a byte range.
func (p *pass) at(start, end int, fix *Fix, format string, args ...any) {
	p.report(p.Path, &p.Index, start, end, fix, format, args...)
}

// report reports a finding for a byte range of a file.
func (p *pass) report(path string, in *skill.Index, start, end int, fix *Fix, format string, args ...any) {
	if p.reported++; p.reported > mostFindings {
		return
	}
	f := Finding{File: path, Message: fmt.Sprintf(format, args...), Fix: fix}
	f.Start, f.End = start, max(end, start)
	f.Line, f.Col = in.Place(f.Start)
	f.EndLine, f.EndCol = in.Place(f.End)
	if fix != nil {
		fix.place(p.Document)
	}
	from, _ := in.Bounds(f.Line)
	p.add(f, in.Line(f.Line), f.Start-from)
}

// line reports a finding for a whole line.
func (p *pass) line(line int, fix *Fix, format string, args ...any) {
	from, to := p.Bounds(min(max(line, 1), p.Lines()))
	p.at(from, to, fix, format, args...)
}

// file reports a finding about the file as a whole, shown at its first line.
func (p *pass) file(fix *Fix, format string, args ...any) {
	p.at(0, 0, fix, format, args...)
}

// textLine is the first line of the body that is not blank, where findings about the body as a whole are shown.
func (p *pass) textLine() int {
	body := p.Body()
	return p.LineAt(p.BodyStart + len(body) - len(strings.TrimLeft(body, " \t\r\n")))
}

// field reports a finding for the value of a field.
func (p *pass) field(f *skill.Field, fix *Fix, format string, args ...any) {
	start := p.Offset(f.ValueLine, f.ValCol)
	p.at(start, max(f.ValueEnd, start), fix, format, args...)
}

// key reports a finding for the key of a field.
func (p *pass) key(f *skill.Field, fix *Fix, format string, args ...any) {
	p.at(f.KeyStart, f.KeyStart+len(f.Key), fix, format, args...)
}

// entry reports a finding of a rule across files.
func (p *pass) entry(e *entry, place span, format string, args ...any) {
	p.add(Finding{
		File: e.file, Message: fmt.Sprintf(format, args...),
		Line: place.line, Col: place.col, EndLine: place.endLine, EndCol: place.endCol, Start: place.start, End: place.end,
	}, place.text, place.at)
	p.origins = append(p.origins, e)
}

// add keeps a finding that begins at a byte of a line.
func (p *pass) add(f Finding, line string, at int) {
	f.Rule, f.Family, f.Severity = p.rule.ID, p.rule.Family, p.rule.severity
	f.Excerpt, f.ExcerptCol = excerpt(line, f.Col, at)
	f.Excerpt = strings.Clone(f.Excerpt) // a part of the file would keep all of it
	f.Fingerprint = p.fingerprint(f, line)
	p.findings = append(p.findings, f)
}

// fingerprint identifies a finding by its rule, file and line text, and by its number among equal ones, so that it stays
// the same when lines are added above. The message is left out: it may count things.
func (p *pass) fingerprint(f Finding, line string) string {
	if len(line) > 4096 {
		line = line[:4096]
	}
	key := strings.Join([]string{f.Rule, f.File, strings.Join(strings.Fields(line), " ")}, "\x00")
	if p.prints == nil {
		p.prints = map[string]int{}
	}
	p.prints[key]++
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s\x00%d", key, p.prints[key])))
	return hex.EncodeToString(sum[:8])
}

const (
	excerptWidth  = 200 // characters of a line that an excerpt has
	excerptBefore = 80  // of them, those in front of a place that is further away from the line's beginning
	excerptMargin = 400 // bytes read around an excerpt to know a key that reaches into it; none is longer
)

// excerpt is the part of a line that shows the column col, which is at byte at, and the column that part begins at.
func excerpt(line string, col, at int) (text string, from int) {
	at = min(max(at, 0), len(line))
	begin, from := 0, 1
	if col > excerptWidth-excerptBefore/2 {
		for begin = at; begin > 0 && from <= excerptBefore; {
			if begin--; line[begin]&0xC0 != 0x80 {
				from++
			}
		}
		from = col - from + 1
	}
	low, high := max(0, begin-excerptMargin), min(len(line), begin+5*excerptWidth+excerptMargin)
	return skill.Shorten(redact(line[low:high])[begin-low:], excerptWidth), from
}
