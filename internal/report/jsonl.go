package report

import (
	"fmt"
	"io"

	"github.com/mettle-eval/mettle/internal/eval"
)

type resultLine struct {
	Case       string          `json:"case"`
	Name       string          `json:"name,omitempty"`
	Suite      string          `json:"suite,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Project    string          `json:"project,omitempty"`
	Difficulty eval.Difficulty `json:"difficulty,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Trial      int             `json:"trial"`
	Target     string          `json:"target,omitempty"`
	Status     eval.Status     `json:"status"`
	Value      *float64        `json:"value,omitempty"` // a result without a verdict has none
	Mode       string          `json:"failure_mode,omitempty"`
	DurationMS float64         `json:"duration_ms"`
	LatencyMS  *float64        `json:"latency_ms,omitempty"`
	Scores     []eval.Score    `json:"scores"`
	Fault      *eval.Fault     `json:"error,omitempty"`
	Response   *string         `json:"response,omitempty"` // everything the target said as text
}

// writeJSONL writes one object a line, for tools that work line by line. Keys
// are those of a stored run where both have them.
func writeJSONL(w io.Writer, run *eval.Run, _ Options) error {
	j := newJSONWriter(w)
	for r, err := range each(run) {
		if err != nil {
			return err
		}
		b, err := j.line(resultLineOf(r))
		if err != nil {
			return fmt.Errorf("write the result of case %s: %w", r.Case.ID, err)
		}
		j.write(b)
	}
	return j.close()
}

func resultLineOf(r *eval.Result) resultLine {
	c := r.Case
	l := resultLine{
		Case: c.ID, Name: c.Name, Suite: c.Suite, Tool: c.Tool, Project: c.Project, Difficulty: c.Difficulty, Tags: c.Tags,
		Trial: r.Trial, Target: r.Target, Status: r.Status, Mode: r.Mode(),
		DurationMS: eval.Millis(r.Duration), Scores: r.Scores, Fault: r.Fault,
	}
	if l.Scores == nil {
		l.Scores = []eval.Score{}
	}
	if r.Status == eval.Pass || r.Status == eval.Fail {
		l.Value = &r.Value
	}
	if r.Response != nil {
		latency, text := eval.Millis(r.Response.Latency), r.Response.RawText()
		l.LatencyMS, l.Response = &latency, &text
	}
	return l
}
