package report

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// trouble is a class of results that a person should look at. The classes are
// listed apart, because what broke on the way is no verdict.
type trouble int

const (
	failures  trouble = iota // a check of error severity failed
	faults                   // no answer could be had
	undecided                // a check could not decide
	warnings                 // a check of warn severity failed, whatever became of the case
)

// troubleMarks are the signs of the classes, the same wherever one is shown.
var troubleMarks = [...]string{failures: "✗", faults: "!", undecided: "?", warnings: "▲"}

// item is one result of a class, cut down to what a report shows of it and
// safe to show.
type item struct {
	id      string // of the case, with the trial when it is not the first
	name    string
	pos     eval.Pos
	reasons []string
	answer  string // the start of it, with its lines
}

const (
	reasonBytes = 2000 // of one reason
	reasonsMax  = 40   // of one result
)

func newItem(r *eval.Result, reasons []string, answerBytes int) item {
	it := item{id: caseID(r), name: term.OneLine(r.Case.Name, 300), pos: r.Case.Pos, reasons: reasons}
	if answerBytes > 0 {
		it.answer = excerpt(r.Response, answerBytes)
	}
	return it
}

// heading is the item's case in one line.
func (it item) heading() string {
	if it.name == "" {
		return it.id
	}
	return it.id + ": " + it.name
}

func (it item) place() string {
	p := it.pos
	p.Col = 0
	return term.OneLine(p.String(), 500)
}

func caseID(r *eval.Result) string {
	id := term.OneLine(r.Case.ID, 200)
	if r.Trial > 1 {
		id += fmt.Sprintf(" (trial %d)", r.Trial)
	}
	return id
}

// excerpt is the start of an answer, its lines kept.
func excerpt(resp *eval.Response, n int) string {
	if resp == nil {
		return ""
	}
	text := resp.Text
	if text == "" {
		text = resp.Raw
	}
	s := term.SanitizeBlock(strings.TrimSpace(term.Clip(text, n)))
	if len(text) > n {
		s += fmt.Sprintf("\n(%d bytes in all)", len(text))
	}
	return s
}

// of gives the reasons for which a result belongs to the class; none, and it
// does not.
func (t trouble) of(r *eval.Result) []string {
	switch t {
	case failures:
		if r.Status == eval.Fail {
			return orElse(scoreReasons(r, eval.Fail, eval.ErrorSeverity), "failed")
		}
	case faults:
		if r.Status == eval.Error {
			return []string{faultReason(r.Fault)}
		}
	case undecided:
		if r.Status == eval.Unscored {
			return orElse(scoreReasons(r, eval.Unscored, eval.ErrorSeverity), "could not be scored")
		}
	case warnings:
		return scoreReasons(r, eval.Fail, eval.WarnSeverity)
	}
	return nil
}

func orElse(reasons []string, otherwise string) []string {
	if len(reasons) == 0 {
		return []string{otherwise}
	}
	return reasons
}

// scoreReasons gives the reasons of the scores with a status and severity. A
// failed case also names the checks that could not decide, marked as such.
func scoreReasons(r *eval.Result, status eval.Status, severity eval.Severity) (out []string) {
	more := 0
	for _, s := range r.Scores {
		warn := s.Severity == eval.WarnSeverity
		aside := s.Status == eval.Unscored && status == eval.Fail && !warn && severity != eval.WarnSeverity
		if (s.Status != status && !aside) || warn != (severity == eval.WarnSeverity) {
			continue
		}
		if len(out) == reasonsMax {
			more++
			continue
		}
		reason := term.OneLine(s.Reason, reasonBytes)
		if strings.TrimSpace(reason) == "" {
			reason = term.OneLine(s.Key, 200) + ": no reason given"
		}
		if aside {
			reason = "unscored: " + reason
		}
		out = append(out, reason)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("… and %s", plural(more, "more check")))
	}
	return out
}

func faultReason(f *eval.Fault) string {
	if f == nil {
		return "no answer"
	}
	return term.OneLine(f.Class, 60) + ": " + term.OneLine(f.Message, reasonBytes)
}

// status is that of the results of a class; those with a warning may have any.
func (t trouble) status() eval.Status {
	return [...]eval.Status{failures: eval.Fail, faults: eval.Error, undecided: eval.Unscored, warnings: ""}[t]
}

// count is how many results of a class the summary counts; it does not know how
// many have warnings.
func (t trouble) count(s *eval.Summary) int {
	return [...]int{failures: s.Failed, faults: s.Errors, undecided: s.Unscored, warnings: 0}[t]
}

// digest is what one pass over a run finds beyond its summary: the first items
// of each class.
type digest struct {
	items  [len(troubleMarks)][]item
	counts [len(troubleMarks)]int
}

// newDigest reads the results once and keeps at most limit items of a class.
func newDigest(run *eval.Run, limit, answerBytes int) (*digest, error) {
	d := new(digest)
	err := d.read(run, limit, func(t trouble, r *eval.Result, reasons []string) {
		d.items[t] = append(d.items[t], newItem(r, reasons, answerBytes))
	})
	return d, err
}

// read calls show with the first results of each class, at most limit of them,
// and counts all. Results that would not be shown are not read where the run can
// tell them apart.
func (d *digest) read(run *eval.Run, limit int, show func(trouble, *eval.Result, []string)) error {
	if !worthReading(run.Summary) {
		return nil
	}
	var shown [len(troubleMarks)]int
	for t := range warnings {
		d.counts[t] = t.count(run.Summary)
	}
	skip := func(s eval.Status) bool {
		for t := range warnings {
			if t.status() == s && shown[t] < limit {
				return false
			}
		}
		return true
	}
	for r, err := range notable(run, skip) {
		if err != nil {
			return err
		}
		for t := range trouble(len(shown)) {
			if t != warnings && shown[t] >= limit {
				continue
			}
			reasons := t.of(r)
			if len(reasons) == 0 {
				continue
			}
			if t == warnings {
				d.counts[t]++
			}
			if shown[t] < limit {
				shown[t]++
				show(t, r, reasons)
			}
		}
	}
	return nil
}

// worthReading tells whether a run's results hold anything for a digest. A
// pass over a large run takes seconds, and most runs in CI are green.
func worthReading(s *eval.Summary) bool {
	return s.Passed+s.Skipped < s.Total ||
		slices.ContainsFunc(s.ByKey, func(k eval.Scored) bool { return k.Failed > 0 })
}

// every yields all items of a class by reading the run again, so that showing
// everything needs no more memory than showing some.
func every(run *eval.Run, t trouble) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		for r, err := range notable(run, func(s eval.Status) bool { return s != t.status() }) {
			if err != nil {
				yield(item{}, err)
				return
			}
			if reasons := t.of(r); len(reasons) > 0 && !yield(newItem(r, reasons, 0), nil) {
				return
			}
		}
	}
}
