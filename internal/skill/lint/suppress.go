package lint

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mettle-eval/mettle/internal/skill"
)

// Suppression silences a rule for some files. It is the configuration's counterpart to the comments in a file.
type Suppression struct {
	Rule   string `json:"rule" yaml:"rule"`           // a rule id or a family
	Path   string `json:"path,omitempty" yaml:"path"` // a pattern for the file ("skills/*/SKILL.md") or a folder above it; empty means all
	Reason string `json:"reason" yaml:"reason"`       // required: a silence nobody can explain hides the next bug
}

func (s *Suppression) check() error {
	var errs []error
	if !known(s.Rule) {
		errs = append(errs, fmt.Errorf("unknown rule %q%s", s.Rule, didYouMean(s.Rule, ruleNames())))
	}
	if strings.TrimSpace(s.Reason) == "" {
		errs = append(errs, errors.New("no reason given"))
	}
	if _, err := path.Match(s.Path, ""); err != nil {
		errs = append(errs, fmt.Errorf("path %q: %w", s.Path, err))
	}
	return errors.Join(errs...)
}

func (s *Suppression) covers(f *Finding) bool {
	if s.Rule != f.Rule && s.Rule != f.Family {
		return false
	}
	if s.Path == "" || strings.HasPrefix(f.File, strings.TrimSuffix(s.Path, "/")+"/") {
		return true
	}
	ok, _ := path.Match(s.Path, f.File)
	return ok
}

// covers reports whether a comment in a file speaks of a finding. What is said of the whole file goes for those bundled
// with it too.
func (g *ignore) covers(f *Finding, file string) bool {
	if f.File != file && !g.whole || f.File == file && (f.Line < g.first || f.Line > g.last) {
		return false
	}
	for _, id := range g.rules {
		if id == f.Rule || id == f.Family {
			return true
		}
	}
	return false
}

// suppress marks or drops the findings that are not wanted.
func (l *Linter) suppress(findings []Finding, e *entry) []Finding {
	kept := findings[:0:0]
	for _, f := range findings {
		f.Suppressed = l.reason(&f, e)
		if f.Suppressed == "" || l.opts.KeepSuppressed {
			kept = append(kept, f)
		}
	}
	return kept
}

// reason is why a finding is suppressed, empty when it is not. A comment without a reason suppresses nothing: a rule of
// its own speaks of it.
func (l *Linter) reason(f *Finding, e *entry) string {
	for i := range e.ignores {
		if g := &e.ignores[i]; g.reason != "" && g.covers(f, e.file) {
			e.used[i] = true
			return g.reason
		}
	}
	for i := range l.opts.Suppress {
		if s := &l.opts.Suppress[i]; s.covers(f) {
			return s.Reason
		}
	}
	return ""
}

// checkIgnores judges the suppressions of a file after its rules have run.
func (l *Linter) checkIgnores(d *skill.Document, e *entry) []Finding {
	p := &pass{Document: d, profile: &l.profile}
	for i, g := range e.ignores {
		unknown := ""
		crossing := false
		for _, id := range g.rules {
			if !known(id) {
				unknown = id
			}
			crossing = crossing || crossesFiles(id)
		}
		switch {
		case unknown != "":
			p.about(&suppressionUnknown, g, "there is no rule %q%s", unknown, didYouMean(unknown, ruleNames()))
		case len(g.rules) == 0 || g.reason == "":
			p.about(&suppressionReason, g, "the suppression gives no %s, so it suppresses nothing", missingPart(g))
		case !e.used[i] && !crossing:
			p.about(&suppressionUnused, g, "the suppression of %s covers no finding", strings.Join(g.rules, ", "))
		}
	}
	return p.findings
}

func missingPart(g ignore) string {
	if len(g.rules) == 0 {
		return "rule"
	}
	return "reason"
}

// crossesFiles reports whether a rule looks at all files; whether its suppressions are used is not known per file.
func crossesFiles(id string) bool {
	for _, r := range Rules() {
		if (r.ID == id || r.Family == id) && r.checkAll != nil {
			return true
		}
	}
	return false
}

func (p *pass) about(r *Rule, g ignore, format string, args ...any) {
	severity := p.profile.severity(r)
	if severity == Off {
		return
	}
	p.rule, p.reported = weighed{r, severity}, 0
	p.at(g.start, g.end, nil, format, args...)
}

var suppressionReason = Rule{
	ID: "suppression-reason", Family: "suppression", Severity: Warning,
	Doc: "A suppression comment gives no rule or no reason.",
	Explain: "Write <!-- mettle-ignore rule-id: the reason -->. Without a reason nobody can tell later whether the " +
		"silence is still wanted, so such a comment has no effect.",
}

var suppressionUnknown = Rule{
	ID: "suppression-unknown", Family: "suppression", Severity: Warning,
	Doc:     "A suppression comment names a rule that does not exist.",
	Explain: "The name must be the id of a rule or of a family of rules; a misspelt one silences nothing.",
}

var suppressionUnused = Rule{
	ID: "suppression-unused", Family: "suppression", Severity: Info, Profiles: []string{Strict},
	Doc:     "A suppression comment covers no finding.",
	Explain: "What it was written for has been mended or has moved. Delete it, so that it does not hide the next one.",
}
