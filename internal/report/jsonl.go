package report

import (
	"fmt"
	"io"

	"github.com/mettle-eval/mettle/internal/eval"
)

// writeJSONL writes one object a line, for tools that work line by line. Keys
// are those of a stored run where both have them.
func writeJSONL(w io.Writer, run *eval.Run, _ Options) error {
	p := newPrinter(w)
	var e eval.Encoder
	var tidy []byte
	for r, err := range each(run) {
		if err != nil {
			return err
		}
		e.Reset()
		appendLine(&e, r)
		b, err := e.Bytes()
		if err != nil {
			return fmt.Errorf("write the result of case %s: %w", r.Case.ID, err)
		}
		tidy = append(appendTidy(tidy[:0], b), '\n')
		p.write(tidy)
	}
	return p.close()
}

func appendLine(e *eval.Encoder, r *eval.Result) {
	c := r.Case
	e.Open('{')
	e.Key("case")
	e.Text(c.ID)
	e.OptText("name", c.Name)
	e.OptText("suite", c.Suite)
	e.OptText("tool", c.Tool)
	e.OptText("project", c.Project)
	e.OptText("difficulty", string(c.Difficulty))
	e.OptTexts("tags", c.Tags)
	e.Key("trial")
	e.Int(r.Trial)
	e.OptText("target", r.Target)
	e.Key("status")
	e.Text(string(r.Status))
	if r.Status == eval.Pass || r.Status == eval.Fail { // a result without a verdict has no value
		e.Key("value")
		e.Number(r.Value)
	}
	e.OptText("failure_mode", r.Mode())
	e.Key("duration_ms")
	e.Number(eval.Millis(r.Duration))
	if r.Response != nil {
		e.Key("latency_ms")
		e.Number(eval.Millis(r.Response.Latency))
	}
	e.Key("scores")
	e.Open('[')
	for i := range r.Scores {
		e.Score(&r.Scores[i])
	}
	e.Close(']')
	e.OptFault("error", r.Fault)
	if r.Response != nil { // everything the target said as text
		e.Key("response")
		e.Text(r.Response.RawText())
	}
	e.Close('}')
}
