package report

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// planTools are the tools that the JSON report always names, as the report it
// continues did.
var planTools = []string{"ask_docs", "get_working_example", "explain_error", "search_docs"}

type reportHead struct {
	Timestamp    string          `json:"timestamp"`
	Project      string          `json:"project,omitempty"`
	Run          runHead         `json:"run"`
	Status       eval.RunStatus  `json:"status"`
	Verdict      eval.Verdict    `json:"verdict"`
	Summary      reportSummary   `json:"summary"`
	ByDifficulty object          `json:"byDifficulty"`
	ByTool       object          `json:"byTool"`
	Gates        []gateReport    `json:"gates"`
	FailureModes []eval.Mode     `json:"failureModes"`
	Retries      []eval.Mode     `json:"retries,omitempty"`
	Scores       []scoreMark     `json:"scores,omitempty"`
	Usage        *eval.Spent     `json:"usage,omitempty"`
	Retrieval    []retrievalMark `json:"retrieval,omitempty"`
	Spread       []eval.Spread   `json:"spread,omitempty"`
}

type runHead struct {
	ID       string                       `json:"id"`
	Tool     string                       `json:"tool,omitempty"` // mettle's version
	Why      string                       `json:"why,omitempty"`
	Started  string                       `json:"started"`
	Finished string                       `json:"finished,omitempty"`
	Planned  int                          `json:"planned"`
	Trials   int                          `json:"trials"`
	Parent   string                       `json:"parent,omitempty"`
	Suites   []suiteHead                  `json:"suites"`
	Targets  map[string]map[string]string `json:"targets,omitempty"`
	Models   map[string]string            `json:"models,omitempty"`
	Prompts  map[string]string            `json:"prompts,omitempty"`
	Checkers map[string]string            `json:"checkers,omitempty"`
	Notes    []string                     `json:"notes,omitempty"`
	Git      *eval.Git                    `json:"git,omitempty"`
}

type suiteHead struct {
	Name    string `json:"name"`
	Project string `json:"project,omitempty"`
	Version string `json:"version,omitempty"`
	File    string `json:"file,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// reportSummary counts results: with trials, a case counts as often as it was
// put. passRate is over the results that have a verdict, passed and failed;
// averageConfidence over the answers that state one above 0;
// averageProcessingTime over the answers.
type reportSummary struct {
	TotalTests            int     `json:"totalTests"`
	Passed                int     `json:"passed"`
	Failed                int     `json:"failed"`
	PassRate              float64 `json:"passRate"`
	AverageConfidence     float64 `json:"averageConfidence"`
	AverageProcessingTime float64 `json:"averageProcessingTime"`

	Errors   int          `json:"errors"`
	Unscored int          `json:"unscored"`
	Skipped  int          `json:"skipped"`
	Cases    int          `json:"cases"`
	Score    eval.Mean    `json:"score"`
	Latency  eval.Latency `json:"latency"`
	Retries  int          `json:"retries,omitempty"`
}

type groupReport struct {
	Total    int     `json:"total"`
	Passed   int     `json:"passed"`
	PassRate float64 `json:"passRate"`

	Failed   int `json:"failed"`
	Errors   int `json:"errors"`
	Unscored int `json:"unscored"`
	Skipped  int `json:"skipped"`
}

type gateReport struct {
	Gate  string    `json:"gate"`
	Suite string    `json:"suite,omitempty"`
	Value float64   `json:"value"`
	Bound float64   `json:"bound"`
	N     int       `json:"n"`
	Met   bool      `json:"met"`
	Open  bool      `json:"open,omitempty"`
	Pos   *eval.Pos `json:"pos,omitempty"`
}

type retrievalMark struct {
	Metric   string   `json:"metric"`
	Mean     *float64 `json:"mean,omitempty"` // none when nothing was scored
	N        int      `json:"n"`              // scores the mean is over
	Unscored int      `json:"unscored"`
}

// scoreMark is a score by its key, over the whole run.
type scoreMark struct {
	Key      string   `json:"key"`
	Kind     string   `json:"kind"`
	Mean     *float64 `json:"mean,omitempty"` // none when nothing was scored
	N        int      `json:"n"`              // scores the mean is over
	Unscored int      `json:"unscored"`
	Skipped  int      `json:"skipped"`
}

// spillBytes bounds the failures that are kept while the results are written.
// They are compressed, because most of them are alike: it is enough for those of
// some hundred thousand results. Beyond it they are read again, which takes time
// instead of memory.
const spillBytes = 4 << 20

// spill keeps lines of JSON.
type spill struct {
	kept bytes.Buffer
	z    *flate.Writer
	full bool
}

// add keeps a line, unless there are too many.
func (s *spill) add(line []byte) error {
	if s.z == nil {
		z, err := flate.NewWriter(&s.kept, flate.BestSpeed)
		if err != nil {
			return err
		}
		s.z = z
	}
	if s.full = s.full || s.kept.Len() > spillBytes; s.full {
		s.kept = bytes.Buffer{}
		return nil
	}
	_, err := s.z.Write(append(line, '\n'))
	return err
}

// each calls yield with every line.
func (s *spill) each(yield func([]byte)) error {
	if s.z == nil {
		return nil
	}
	if err := s.z.Close(); err != nil {
		return err
	}
	lines := bufio.NewScanner(flate.NewReader(&s.kept))
	lines.Buffer(make([]byte, 64<<10), math.MaxInt)
	for lines.Scan() {
		yield(lines.Bytes())
	}
	return lines.Err()
}

// writeJSON writes the evaluation report, laid out as JSON.stringify would
// with two spaces. Its head and each result are built and written one by one.
func writeJSON(w io.Writer, run *eval.Run, _ Options) error {
	run, err := completed(run)
	if err != nil {
		return err
	}
	j := newJSONWriter(w)
	if err := j.open(headOf(run)); err != nil {
		return err
	}
	kept, err := j.results(run)
	if err != nil {
		return err
	}
	if err := j.failures(run, kept); err != nil {
		return err
	}
	j.print("\n}\n")
	return j.close()
}

// retries is how many tries were made after the first.
func retries(s *eval.Summary) (n int) {
	for _, why := range s.Retries {
		n += why.Count
	}
	return n
}

func headOf(run *eval.Run) *reportHead {
	s := run.Summary
	h := &reportHead{
		Timestamp: timestamp(ended(run)), Project: run.Project, Run: runHeadOf(run),
		Status: run.Header.Status, Verdict: run.Verdict,
		Summary: reportSummary{
			TotalTests: s.Total, Passed: s.Passed, Failed: s.Failed, PassRate: s.PassRate() * 100,
			AverageConfidence: roundUp(s.Confidence.Mean), AverageProcessingTime: roundUp(s.Latency.Mean),
			Errors: s.Errors, Unscored: s.Unscored, Skipped: s.Skipped, Cases: s.Cases, Score: s.Score, Latency: s.Latency, Retries: retries(s),
		},
		ByTool:       groupsOf(planTools, s.ByTool),
		Gates:        []gateReport{},
		FailureModes: append([]eval.Mode{}, s.Modes...),
		Retries:      s.Retries,
		Spread:       s.Spread, Usage: s.Usage,
	}
	difficulties := make([]string, 0, len(eval.Difficulties))
	for _, d := range eval.Difficulties {
		difficulties = append(difficulties, string(d))
	}
	h.ByDifficulty = groupsOf(difficulties, s.ByDifficulty)
	for _, o := range run.Outcomes {
		h.Gates = append(h.Gates, gateReportOf(o))
	}
	for _, k := range gradedScores(run) {
		m := scoreMark{Key: k.Name, Kind: k.Kind, N: k.Judged(), Unscored: k.Unscored, Skipped: k.Skipped}
		if m.N > 0 {
			m.Mean = &k.Mean
		}
		h.Scores = append(h.Scores, m)
	}
	for _, k := range retrieval(run) {
		m := retrievalMark{Metric: k.Name, N: k.Judged(), Unscored: k.Unscored}
		if m.N > 0 {
			m.Mean = &k.Mean
		}
		h.Retrieval = append(h.Retrieval, m)
	}
	return h
}

func runHeadOf(run *eval.Run) runHead {
	h := runHead{
		ID: run.ID, Tool: run.Tool, Why: run.Why, Started: timestamp(run.Started), Planned: run.Planned,
		Trials: max(1, run.Trials), Parent: run.Parent, Suites: []suiteHead{}, Targets: run.Targets, Git: run.Git,
		Models: modelsByRole(run), Prompts: run.Prompts, Checkers: run.Checkers,
	}
	if note := sameModel(run); note != "" {
		h.Notes = append(h.Notes, note)
	}
	if run.Finished != (time.Time{}) {
		h.Finished = timestamp(run.Finished)
	}
	for _, s := range run.Suites {
		h.Suites = append(h.Suites, suiteHead{s.Name, s.Project, s.Version, s.File, s.Digest})
	}
	return h
}

func gateReportOf(o eval.GateOutcome) gateReport {
	g := gateReport{Gate: o.Gate.Text, Suite: o.Gate.Suite, Value: o.Value, Bound: o.Gate.Bound, N: o.N, Met: o.Met, Open: o.Open}
	if o.Gate.Pos != (eval.Pos{}) {
		g.Pos = &o.Gate.Pos
	}
	return g
}

// groupsOf gives the named groups first, present or not, then all others.
func groupsOf(names []string, groups []eval.Group) object {
	var out object
	for _, name := range names {
		i := slices.IndexFunc(groups, func(g eval.Group) bool { return g.Name == name })
		if i < 0 {
			out = append(out, member{name, groupReport{}})
			continue
		}
		out = append(out, member{name, groupReportOf(groups[i].Counts)})
	}
	for _, g := range groups {
		if !slices.Contains(names, g.Name) {
			out = append(out, member{g.Name, groupReportOf(g.Counts)})
		}
	}
	return out
}

func groupReportOf(c eval.Counts) groupReport {
	return groupReport{c.Total, c.Passed, c.PassRate() * 100, c.Failed, c.Errors, c.Unscored, c.Skipped}
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// results writes the results and keeps the failures among them.
func (j *jsonWriter) results(run *eval.Run) (*spill, error) {
	list, kept := j.list("results"), new(spill)
	for r, err := range ahead(each(run)) {
		if err != nil {
			return nil, err
		}
		b, err := j.planned(r, false)
		if err != nil {
			return nil, err
		}
		list.add(b)
		if r.Status != eval.Fail {
			continue
		}
		from := j.plan.Mark()
		j.plan.failure(r)
		if err := kept.add(j.plan.Since(from)); err != nil {
			return nil, err
		}
	}
	list.end()
	return kept, nil
}

// planned is a result as the report has it among its results or its failures.
func (j *jsonWriter) planned(r *eval.Result, failure bool) ([]byte, error) {
	j.plan.Reset()
	from := 0
	if failure {
		j.plan.validations(r)
		from = j.plan.Mark()
		j.plan.failure(r)
	} else {
		j.plan.result(r)
	}
	if _, err := j.plan.Bytes(); err != nil {
		return nil, fmt.Errorf("write the result of case %s: %w", r.Case.ID, err)
	}
	return j.layOut("    ", j.plan.Since(from)), nil
}

func (j *jsonWriter) failures(run *eval.Run, kept *spill) error {
	list := j.list("failures")
	defer list.end()
	if !kept.full {
		return kept.each(func(b []byte) { list.add(j.layOut("    ", b)) })
	}
	for r, err := range ahead(notable(run, func(s eval.Status) bool { return s != eval.Fail })) {
		if err != nil {
			return err
		}
		if r.Status != eval.Fail {
			continue
		}
		b, err := j.planned(r, true)
		if err != nil {
			return err
		}
		list.add(b)
	}
	return nil
}
