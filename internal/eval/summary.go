package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Counts says how many results ended how. A result is counted once.
type Counts struct {
	Total    int `json:"total"`
	Passed   int `json:"passed"`
	Failed   int `json:"failed"`
	Unscored int `json:"unscored"`
	Errors   int `json:"errors"`
	Skipped  int `json:"skipped"`
}

func (c *Counts) add(s Status) {
	c.Total++
	switch s {
	case Pass:
		c.Passed++
	case Fail:
		c.Failed++
	case Unscored:
		c.Unscored++
	case Error:
		c.Errors++
	case Skip:
		c.Skipped++
	}
}

// Judged is how many have a verdict.
func (c Counts) Judged() int { return c.Passed + c.Failed }

// PassRate is the share of passes among the results that have a verdict, from
// 0 to 1; it is 0 when there are none.
func (c Counts) PassRate() float64 {
	if c.Judged() == 0 {
		return 0
	}
	return float64(c.Passed) / float64(c.Judged())
}

// Summary is what a run's results add up to.
type Summary struct {
	Counts
	Cases        int      `json:"cases"`
	Score        Mean     `json:"score"`
	Confidence   Mean     `json:"confidence"` // over answers that state one above 0, which means "found nothing"
	Latency      Latency  `json:"latency"`
	Usage        *Spent   `json:"usage,omitempty"` // nil when no model was asked
	ByDifficulty []Group  `json:"by_difficulty,omitempty"`
	ByTool       []Group  `json:"by_tool,omitempty"`
	ByProject    []Group  `json:"by_project,omitempty"`
	ByTag        []Group  `json:"by_tag,omitempty"`
	BySuite      []Group  `json:"by_suite,omitempty"`
	ByKey        []Scored `json:"by_key,omitempty"`
	ByKind       []Scored `json:"by_kind,omitempty"`
	Modes        []Mode   `json:"failure_modes,omitempty"`
	Retries      []Mode   `json:"retries,omitempty"` // tries after the first, by why the one before failed
	Spread       []Spread `json:"spread,omitempty"`  // cases whose trials differ
}

// Spent is what the models of a run consumed, the judges apart.
type Spent struct {
	Answer Usage `json:"answer"`
	Judge  Usage `json:"judge"`
}

// Mean is an average that says how many values it was taken from.
type Mean struct {
	Mean float64 `json:"mean"`
	N    int     `json:"n"`

	millionths int64 // the sum, whole, so that the order of adding cannot show
}

func (m *Mean) add(v float64) {
	m.N++
	m.millionths += int64(math.Round(v * 1e6))
	m.Mean = float64(m.millionths) / 1e6 / float64(m.N)
}

// Latency describes how long answers took, in milliseconds.
type Latency struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean_ms"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
	P99  float64 `json:"p99_ms"`
	Max  float64 `json:"max_ms"`
}

// Group counts the results that share a name: a tool, a difficulty, a tag.
type Group struct {
	Name string `json:"name"`
	Counts
}

// Scored counts the scores that share a key or a kind. Those of a key say what
// kind they are of, when it is one.
type Scored struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	Counts
	Mean float64 `json:"mean"` // of the values that were scored

	value Mean
}

// Mode is a cause of failures with the cases it hit. A result that failed for
// several causes counts under each.
type Mode struct {
	Name  string   `json:"name"`
	Count int      `json:"count"`
	Cases []string `json:"cases"` // the first few
}

// Spread is a case whose trials did not agree.
type Spread struct {
	Case string `json:"case"`
	Counts
}

// Verdicts is the compact outcome of one case in one arm: the status and value
// of each trial, and the values of its graded scores by key. Comparisons and
// histories read nothing else.
type Verdicts struct {
	Suite  string              `json:"suite,omitempty"`
	Case   string              `json:"case"`
	Arm    string              `json:"arm,omitempty"`
	Trials []Status            `json:"trials"`           // "" for one that is missing
	Values []Number            `json:"values,omitempty"` // of the case, by trial
	Scores map[string][]Number `json:"scores,omitempty"` // by key, then by trial
}

// Number is a value that may be missing: NaN, which is null in JSON.
type Number float64

// NoNumber is a missing value.
var NoNumber = Number(math.NaN())

// MarshalJSON writes null for a missing value.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// UnmarshalJSON reads null as a missing value.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = NoNumber
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("invalid number %q", b)
	}
	*n = Number(v)
	return nil
}

// maxTrials bounds the runs per case.
const maxTrials = 10_000

// modeCases bounds how many cases a failure mode names.
const modeCases = 20

// Tally adds results up. It holds numbers and names, never responses, so its
// size does not grow with what targets say.
type Tally struct {
	sum       Summary
	latencies []float64
	groups    map[string]*groups
	keys      map[string]*Scored
	kinds     map[string]*Scored
	modes     map[string]*Mode
	retries   map[string]*Mode       // by why the try before failed
	cases     map[Identity]*Verdicts // the trial left out
	graded    map[string]KindInfo
	gates     []gateTally
}

type groups struct{ byName map[string]*Group }

// NewTally starts a tally that also measures gates. kinds tells which scores
// are graded: the verdicts of cases keep their values.
func NewTally(gates []Gate, kinds map[string]KindInfo) *Tally {
	t := &Tally{
		groups: map[string]*groups{}, keys: map[string]*Scored{}, kinds: map[string]*Scored{},
		modes: map[string]*Mode{}, retries: map[string]*Mode{}, cases: map[Identity]*Verdicts{}, graded: kinds,
	}
	for _, g := range gates {
		t.gates = append(t.gates, gateTally{gate: g, others: g.coveredBy(gates)})
	}
	return t
}

// Add counts one result.
func (t *Tally) Add(r *Result) {
	t.sum.add(r.Status)
	t.addTrial(r)
	if r.Status == Pass || r.Status == Fail {
		t.sum.Score.add(r.Value)
	}
	if r.Response != nil {
		if r.Response.Latency > 0 { // an answer that came without being timed says nothing
			t.latencies = append(t.latencies, Millis(r.Response.Latency))
		}
		if c, ok := r.Response.Confidence(); ok {
			t.sum.Confidence.add(c)
		}
	}
	t.addUsage(r)
	t.group("difficulty", string(r.Case.Difficulty), r)
	t.group("tool", r.Case.Tool, r)
	t.group("project", r.Case.Project, r)
	t.group("suite", r.Case.Suite, r)
	for _, tag := range r.Case.Tags {
		t.group("tag", tag, r)
	}
	t.addScores(r.Scores)
	t.addModes(r)
	t.addRetries(r)
	for i := range t.gates {
		t.gates[i].add(r)
	}
}

// Spent is what a result cost, nil when no model was asked. A check that holds
// others has what they cost in its own.
func (r *Result) Spent() *Spent {
	s := new(Spent)
	if r.Response != nil {
		s.Answer.Add(r.Response.Usage)
	}
	if r.Fault != nil {
		s.Answer.Add(r.Fault.Usage)
	}
	for i := range r.Scores {
		s.Judge.Add(r.Scores[i].Usage)
	}
	if s.Answer.Calls+s.Judge.Calls == 0 {
		return nil
	}
	return s
}

func (t *Tally) addUsage(r *Result) {
	spent := r.Spent()
	if spent == nil {
		return
	}
	if t.sum.Usage == nil {
		t.sum.Usage = new(Spent)
	}
	t.sum.Usage.Answer.Add(&spent.Answer)
	t.sum.Usage.Judge.Add(&spent.Judge)
}

func (t *Tally) addTrial(r *Result) {
	id := r.Identity()
	id.Trial = 0
	v := t.cases[id]
	if v == nil {
		v = &Verdicts{Suite: id.Suite, Case: id.Case, Arm: id.Arm}
		t.cases[id] = v
	}
	trial := min(max(1, r.Trial), maxTrials) // what a file says may be anything
	for len(v.Trials) < trial {
		v.Trials, v.Values = append(v.Trials, ""), append(v.Values, NoNumber)
	}
	v.Trials[trial-1] = r.Status
	if r.Status == Pass || r.Status == Fail {
		v.Values[trial-1] = Number(r.Value)
	}
	t.addValues(v, trial, r.Scores)
}

// addValues keeps the values of graded scores, those inside others too.
func (t *Tally) addValues(v *Verdicts, trial int, scores []Score) {
	for i := range scores {
		s := &scores[i]
		t.addValues(v, trial, s.Checks)
		if !t.graded[s.Kind].Graded || s.Negated || s.Implicit {
			continue
		}
		if v.Scores == nil {
			v.Scores = map[string][]Number{}
		}
		values := v.Scores[s.Key]
		for len(values) < trial {
			values = append(values, NoNumber)
		}
		if s.Counts() {
			values[trial-1] = Number(s.Value)
		}
		v.Scores[s.Key] = values
	}
}

// has tells whether a result was counted.
func (t *Tally) has(id Identity) bool {
	trial := id.Trial
	id.Trial = 0
	v := t.cases[id]
	return v != nil && trial >= 1 && trial <= len(v.Trials) && v.Trials[trial-1] != ""
}

func (t *Tally) group(by, name string, r *Result) {
	if name == "" {
		return
	}
	g := t.groups[by]
	if g == nil {
		g = &groups{map[string]*Group{}}
		t.groups[by] = g
	}
	if g.byName[name] == nil {
		g.byName[name] = &Group{Name: name}
	}
	g.byName[name].add(r.Status)
}

// addScores counts scores, and those inside them, under their keys and kinds.
func (t *Tally) addScores(scores []Score) {
	for i := range scores {
		s := &scores[i]
		addScore(t.keys, s.Key, s.Kind, s)
		if !s.Negated { // a turned-round value says nothing of its kind
			addScore(t.kinds, s.Kind, "", s)
		}
		t.addScores(s.Checks)
	}
}

func addScore(into map[string]*Scored, name, kind string, s *Score) {
	if s.Implicit {
		return
	}
	c := into[name]
	if c == nil {
		c = &Scored{Name: name, Kind: kind}
		into[name] = c
	}
	if c.Kind != kind {
		c.Kind = ""
	}
	c.add(s.Status)
	if s.Counts() {
		c.value.add(s.Value)
		c.Mean = c.value.Mean
	}
}

func (t *Tally) addModes(r *Result) {
	for _, name := range r.Modes() {
		m := t.modes[name]
		if m == nil {
			m = &Mode{Name: name}
			t.modes[name] = m
		}
		m.Count++
		m.Cases = append(m.Cases, r.Case.ID)
	}
}

// addRetries counts the tries that failed by their reason. One whose reason was
// not kept is counted by what came of it.
func (t *Tally) addRetries(r *Result) {
	count := func(reason string, n int) {
		m := t.retries[reason]
		if m == nil {
			m = &Mode{Name: reason}
			t.retries[reason] = m
		}
		m.Count += n
		m.Cases = append(m.Cases, r.Case.ID)
	}
	unknown := r.Retries()
	if r.Response != nil {
		for _, reason := range r.Response.Retries[:min(unknown, len(r.Response.Retries))] {
			count(reason, 1)
			unknown--
		}
	}
	switch {
	case unknown > 0 && r.Fault != nil:
		count(r.Fault.Class+" error", unknown)
	case unknown > 0:
		count("reason not recorded", unknown)
	}
}

// Summary gives what has been counted so far. It does not depend on the order
// in which results came in.
func (t *Tally) Summary() *Summary {
	s := t.sum
	s.Cases = len(t.cases)
	s.Latency = latencyOf(t.latencies)
	s.ByDifficulty = t.sorted("difficulty")
	s.ByTool = t.sorted("tool")
	s.ByProject = t.sorted("project")
	s.ByTag = t.sorted("tag")
	s.BySuite = t.sorted("suite")
	s.ByKey, s.ByKind = sortedScores(t.keys), sortedScores(t.kinds)
	s.Modes, s.Retries = sortedModes(t.modes), sortedModes(t.retries)
	s.Spread = t.spread()
	return &s
}

// sortedModes lists modes, the most frequent first, each with its first cases.
func sortedModes(modes map[string]*Mode) (out []Mode) {
	for _, m := range modes {
		cases := slices.Compact(slices.Sorted(slices.Values(m.Cases)))
		out = append(out, Mode{m.Name, m.Count, cases[:min(len(cases), modeCases)]})
	}
	slices.SortFunc(out, func(a, b Mode) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Outcomes holds the gates against what has been counted so far.
func (t *Tally) Outcomes() []GateOutcome {
	var out []GateOutcome
	for i := range t.gates {
		if o := t.gates[i].outcome(); o.N > 0 || len(t.gates[i].others) == 0 { // otherwise others cover everything
			out = append(out, o)
		}
	}
	return out
}

// Verdicts lists the compact outcomes of the cases that have any, by suite, id
// and arm.
func (t *Tally) Verdicts() []Verdicts {
	out := make([]Verdicts, 0, len(t.cases))
	for _, v := range t.cases {
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b Verdicts) int {
		return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Case, b.Case), cmp.Compare(a.Arm, b.Arm))
	})
	return out
}

func (t *Tally) spread() (out []Spread) {
	for id, v := range t.cases {
		s := Spread{Case: id.Case}
		for _, status := range v.Trials {
			if status != "" {
				s.add(status)
			}
		}
		if s.Passed > 0 && s.Failed > 0 { // an error is no verdict that could differ
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Spread) int { return cmp.Compare(a.Case, b.Case) })
	return out
}

// sorted lists groups by name; difficulties by how hard they are.
func (t *Tally) sorted(by string) (out []Group) {
	if t.groups[by] == nil {
		return nil
	}
	for _, g := range t.groups[by].byName {
		out = append(out, *g)
	}
	rank := func(g Group) int { return slices.Index(Difficulties, Difficulty(g.Name)) }
	slices.SortFunc(out, func(a, b Group) int {
		if by == "difficulty" {
			return cmp.Compare(rank(a), rank(b))
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

func sortedScores(m map[string]*Scored) (out []Scored) {
	for _, s := range m {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Scored) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func latencyOf(values []float64) Latency {
	if len(values) == 0 {
		return Latency{}
	}
	sorted := slices.Sorted(slices.Values(values))
	var sum float64
	for _, v := range sorted {
		sum += v
	}
	return Latency{
		N: len(sorted), Mean: sum / float64(len(sorted)), Max: sorted[len(sorted)-1],
		P50: quantile(sorted, 0.50), P95: quantile(sorted, 0.95), P99: quantile(sorted, 0.99),
	}
}

// quantile is the nearest-rank quantile: always a value that was measured.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, min(i, len(sorted)-1))]
}

// gateTally gathers what one gate needs.
type gateTally struct {
	gate       Gate
	others     []Gate // that cover results of a default gate
	counts     Counts
	score      Mean
	confidence Mean
	latencies  []float64
	retries    int
}

func (t *gateTally) add(r *Result) {
	if !t.gate.matches(r) || covers(t.others, r) {
		return
	}
	key, kind := t.gate.score()
	if key == "" && kind == "" {
		t.counts.add(r.Status)
		if r.Status == Pass || r.Status == Fail {
			t.score.add(r.Value)
		}
	}
	if key != "" || kind != "" {
		t.addScores(r.Scores)
	}
	t.retries += r.Retries()
	if r.Response == nil {
		return
	}
	if c, ok := r.Response.Confidence(); ok {
		t.confidence.add(c)
	}
	if strings.HasPrefix(t.gate.Metric, "latency_") && r.Response.Latency > 0 {
		t.latencies = append(t.latencies, Millis(r.Response.Latency))
	}
}

// addScores counts the scores a gate asks for, those inside others too.
func (t *gateTally) addScores(scores []Score) {
	for i := range scores {
		s := &scores[i]
		t.addScores(s.Checks)
		if !t.gate.looksAt(s) {
			continue
		}
		t.counts.add(s.Status)
		if s.Counts() {
			t.score.add(s.Value)
		}
	}
}

func (t *gateTally) outcome() GateOutcome {
	o := GateOutcome{Gate: t.gate, N: t.counts.Total}
	l := latencyOf(t.latencies)
	switch t.gate.Metric {
	case "pass_rate":
		o.Value, o.N = t.counts.PassRate(), t.counts.Judged()
	case "score":
		o.Value, o.N = t.score.Mean, t.score.N
	case "confidence":
		o.Value, o.N = t.confidence.Mean, t.confidence.N
	case "latency_mean":
		o.Value, o.N = l.Mean, l.N
	case "latency_p50":
		o.Value, o.N = l.P50, l.N
	case "latency_p95":
		o.Value, o.N = l.P95, l.N
	case "latency_p99":
		o.Value, o.N = l.P99, l.N
	case "latency_max":
		o.Value, o.N = l.Max, l.N
	default:
		o.Value = float64(t.count())
	}
	o.Open = o.N == 0 && !t.gate.Default
	o.Met = !o.Open && t.gate.met(o.Value)
	return o
}

func (t *gateTally) count() int {
	switch t.gate.Metric {
	case "passed":
		return t.counts.Passed
	case "failed":
		return t.counts.Failed
	case "errors":
		return t.counts.Errors
	case "unscored":
		return t.counts.Unscored
	case "skipped":
		return t.counts.Skipped
	case "retries":
		return t.retries
	}
	return t.counts.Total
}

// Confidence is the confidence an answer states, up to 100. 0 is not one: it is
// how servers say that they found nothing.
func (r *Response) Confidence() (float64, bool) {
	c, ok := r.MetaNumber("confidence")
	return c, ok && c > 0 && c <= 100
}

// MetaNumber is a number of the answer's metadata.
func (r *Response) MetaNumber(key string) (float64, bool) {
	v, ok := r.Meta[key].(float64)
	return v, ok && !math.IsNaN(v)
}
