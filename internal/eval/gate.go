package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Gate is a condition on a run's results, such as
//
//	pass_rate{difficulty=basic} >= 90%
//	failed == 0
//	latency_p95 <= 2s
//
// Braces narrow the results it looks at; key and kind look at the scores of
// one check instead of whole cases.
type Gate struct {
	Text   string
	Metric string
	Labels []Label
	Op     string
	Bound  float64 // rates 0 to 1, latencies in milliseconds
	Suite  string  // the suite whose gate it is; empty for the whole run
	Pos    Pos

	// Default marks a gate that no file states. It looks only at results that
	// no other gate covers.
	Default bool
}

// Label narrows a gate to results where the named property has the value.
type Label struct{ Name, Value string }

// GateMetrics lists what a gate can bound, in the order help shows it.
var GateMetrics = []string{
	"pass_rate", "passed", "failed", "errors", "unscored", "skipped", "total", "retries", "score", "confidence",
	"latency_mean", "latency_p50", "latency_p95", "latency_p99", "latency_max",
}

// GateLabels lists what a gate can be narrowed by.
var GateLabels = []string{"difficulty", "tool", "project", "tag", "suite", "target", "key", "kind"}

var gateOps = []string{">=", "<=", "==", "!=", ">", "<"} // longest first

// ParseGate reads a gate from its text.
func ParseGate(text string) (Gate, error) {
	g := Gate{Text: strings.TrimSpace(text)}
	left, op, right := splitGate(g.Text)
	if op == "" {
		return g, fmt.Errorf("gate %q has no comparison: write it like %q", text, "pass_rate >= 90%")
	}
	g.Op = op
	var err error
	if g.Metric, g.Labels, err = parseGateSubject(left); err != nil {
		return g, err
	}
	g.Bound, err = parseBound(g.Metric, right)
	return g, err
}

func splitGate(text string) (left, op, right string) {
	from := strings.IndexByte(text, '}') + 1 // label values may hold any character but a brace
	for i := from; i < len(text); i++ {
		for _, op := range gateOps {
			if strings.HasPrefix(text[i:], op) {
				return strings.TrimSpace(text[:i]), op, strings.TrimSpace(text[i+len(op):])
			}
		}
	}
	return text, "", ""
}

func parseGateSubject(text string) (metric string, labels []Label, err error) {
	metric, rest, braced := strings.Cut(text, "{")
	metric = strings.TrimSpace(metric)
	if !slices.Contains(GateMetrics, metric) {
		return metric, nil, fmt.Errorf("unknown gate metric %q, want one of %s", metric, strings.Join(GateMetrics, ", "))
	}
	if !braced {
		return metric, nil, nil
	}
	inner, ok := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !ok {
		return metric, nil, fmt.Errorf("gate label list %q is not closed by }", "{"+rest)
	}
	for pair := range strings.SplitSeq(inner, ",") {
		name, value, ok := strings.Cut(pair, "=")
		l := Label{strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`)}
		if !ok || l.Value == "" {
			return metric, nil, fmt.Errorf("gate label %q is not name=value", strings.TrimSpace(pair))
		}
		if !slices.Contains(GateLabels, l.Name) {
			return metric, nil, fmt.Errorf("unknown gate label %q, want one of %s", l.Name, strings.Join(GateLabels, ", "))
		}
		if l.Name == "difficulty" && !slices.Contains(Difficulties, Difficulty(l.Value)) {
			return metric, nil, fmt.Errorf("unknown difficulty %q, want basic, intermediate or advanced", l.Value)
		}
		labels = append(labels, l)
	}
	return metric, labels, nil
}

// parseBound reads the right side in the unit of the metric, so that a rate
// of 90 or a latency without a unit cannot quietly mean something else.
func parseBound(metric, text string) (float64, error) {
	number, unit := text, ""
	for _, u := range []string{"%", "ms", "s"} {
		if n, ok := strings.CutSuffix(text, u); ok {
			number, unit = strings.TrimSpace(n), u
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || v != v || v > 1e15 {
		return 0, fmt.Errorf("gate bound %q is not a number of 0 or more", text)
	}
	switch {
	case strings.HasPrefix(metric, "latency_"):
		switch unit {
		case "ms":
			return v, nil
		case "s":
			return v * 1000, nil
		}
		return 0, fmt.Errorf("gate bound %q of %s needs a unit, ms or s", text, metric)
	case metric == "pass_rate" || metric == "score":
		if unit == "%" {
			v /= 100
		} else if unit != "" {
			return 0, fmt.Errorf("gate bound %q of %s is a rate, not a time", text, metric)
		}
		switch {
		case v > 1 && unit == "%":
			return 0, fmt.Errorf("gate bound %q of %s is over 100%%", text, metric)
		case v > 1:
			return 0, fmt.Errorf("gate bound %q of %s is over 1: write %s%%, or a number from 0 to 1", text, metric, number)
		}
		return v, nil
	case unit == "%" && metric == "confidence":
		return v, nil
	case unit != "":
		return 0, fmt.Errorf("gate bound %q: %s is a plain number", text, metric)
	}
	return v, nil
}

// matches tells whether the gate looks at a result, key and kind left aside.
func (g *Gate) matches(r *Result) bool {
	if g.Suite != "" && r.Case.Suite != g.Suite {
		return false
	}
	for _, l := range g.Labels {
		if !l.matches(r) {
			return false
		}
	}
	return true
}

func (l Label) matches(r *Result) bool {
	switch l.Name {
	case "difficulty":
		return string(r.Case.Difficulty) == l.Value
	case "tool":
		return r.Case.Tool == l.Value
	case "project":
		return r.Case.Project == l.Value
	case "suite":
		return r.Case.Suite == l.Value
	case "target":
		return r.Target == l.Value
	case "tag":
		return slices.Contains(r.Case.Tags, l.Value)
	}
	return true // key and kind choose scores, not results
}

// score gives the key and kind the gate is narrowed to, if any.
func (g *Gate) score() (key, kind string) {
	for _, l := range g.Labels {
		switch l.Name {
		case "key":
			key = l.Value
		case "kind":
			kind = l.Value
		}
	}
	return key, kind
}

func (g *Gate) met(v float64) bool {
	const tiny = 1e-9 // rates are quotients: 0.9 must meet >= 90%
	switch g.Op {
	case ">=":
		return v >= g.Bound-tiny
	case "<=":
		return v <= g.Bound+tiny
	case ">":
		return v > g.Bound+tiny
	case "<":
		return v < g.Bound-tiny
	case "==":
		return v >= g.Bound-tiny && v <= g.Bound+tiny
	}
	return v < g.Bound-tiny || v > g.Bound+tiny
}

// MarshalJSON writes the gate as its text, with its suite where it has one.
func (g Gate) MarshalJSON() ([]byte, error) {
	return json.Marshal(gateJSON{g.Text, g.Suite, g.Pos, g.Default})
}

// UnmarshalJSON parses the text again.
func (g *Gate) UnmarshalJSON(b []byte) error {
	var j gateJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	parsed, err := ParseGate(j.Gate)
	if err != nil {
		return err
	}
	*g = parsed
	g.Suite, g.Pos, g.Default = j.Suite, j.Pos, j.Default
	return nil
}

type gateJSON struct {
	Gate  string `json:"gate"`
	Suite string `json:"suite,omitempty"`
	Pos   Pos    `json:"pos,omitzero"`

	Default bool `json:"default,omitempty"`
}

// GateOutcome is what a gate measured.
type GateOutcome struct {
	Gate  Gate    `json:"gate"`
	Value float64 `json:"value"`
	N     int     `json:"n"` // what the value was taken from
	Met   bool    `json:"met"`
	Open  bool    `json:"open,omitempty"` // there was nothing to measure: the gate is neither met nor missed
}

// Verdict is a run in one word: the printed line and the exit code both come
// from it.
type Verdict string

// Passed: every gate is met. Failed: a gate is not. Incomplete: no gate is
// missed, but too much of the run has no verdict, or a gate could not be
// measured.
const (
	Passed     Verdict = "passed"
	Failed     Verdict = "failed"
	Incomplete Verdict = "incomplete"
)

// verdictMetrics are those whose gates say how many failures are allowed.
var verdictMetrics = []string{"pass_rate", "passed", "failed", "score"}

// EffectiveGates are the gates a run is judged by: those of the whole run,
// those of its suites, and the defaults. Those are measured in every run, over
// the results that no other gate covers: a gate that allows some failures
// allows those it looks at, and no others.
func EffectiveGates(run []Gate, suites []Suite) []Gate {
	gates := slices.Clone(run)
	for _, s := range suites {
		gates = append(gates, s.Gates...)
	}
	for _, text := range []string{"failed == 0", "errors == 0", "unscored == 0"} {
		g, err := ParseGate(text)
		if err != nil {
			panic(err) // one of our own texts
		}
		g.Default = true
		gates = append(gates, g)
	}
	return gates
}

// coveredBy are the gates that take results away from a default gate.
func (g *Gate) coveredBy(gates []Gate) (out []Gate) {
	for _, other := range gates {
		if !g.Default || other.Default {
			continue
		}
		if other.Metric == g.Metric || g.Metric == "failed" && slices.Contains(verdictMetrics, other.Metric) {
			out = append(out, other)
		}
	}
	return out
}

// covers tells whether one of the gates looks at a result as a whole, or some of
// them at each of the scores that failed it.
func covers(gates []Gate, r *Result) bool {
	var onScores []Gate
	for i := range gates {
		g := &gates[i]
		if !g.matches(r) {
			continue
		}
		if key, kind := g.score(); key == "" && kind == "" {
			return true
		}
		onScores = append(onScores, *g)
	}
	if r.Status != Fail || len(onScores) == 0 {
		return false
	}
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Status != Fail || s.Severity == WarnSeverity {
			continue
		}
		if !slices.ContainsFunc(onScores, func(g Gate) bool { return g.looksAt(s) }) {
			return false
		}
	}
	return true
}

// looksAt tells whether a gate on scores looks at this one.
func (g *Gate) looksAt(s *Score) bool {
	key, kind := g.score()
	return (key == "" || s.Key == key) && (kind == "" || s.Kind == kind && !s.Negated)
}

// Judge sets the run's verdict from its gates and how it ended. A run that was
// told to stop at the first failure, and did, has failed whatever its gates
// would have allowed. A run in which nothing was judged has not passed.
func (r *Run) Judge() {
	r.Verdict = judge(r.Header.Status, r.Outcomes)
	switch {
	case r.Why == failFastWhy:
		r.Verdict = Failed
	case r.Verdict == Passed && r.Summary != nil && r.Summary.Judged() == 0:
		r.Verdict = Incomplete
	}
}

func judge(status RunStatus, outcomes []GateOutcome) Verdict {
	v := Passed
	if status != Done {
		v = Incomplete
	}
	for _, o := range outcomes {
		switch {
		case o.Met:
		case o.Open || o.Gate.Metric == "errors" || o.Gate.Metric == "unscored":
			v = Incomplete
		default:
			return Failed
		}
	}
	return v
}
