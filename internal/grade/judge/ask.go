package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/reason"
	"github.com/mettle-eval/mettle/internal/llm"
)

// maxTokens bounds a reply, in tokens: reasoning and verdict, and for
// models that think first, the thinking.
const maxTokens = 4096

// Question is one question to a judge.
type Question struct {
	Task     string // what the judge is to do, before the material
	Sections Sections
	Sample   int // which one it is of questions that are otherwise the same
	Tokens   int // most tokens of the reply, where [maxTokens] is not enough
}

// Outcome is what asking a judge cost and what was unusual, beside the verdict.
type Outcome struct {
	usage   eval.Usage
	model   string // as it was named
	version string // as the vendor names it, where that says more
	notes   []string
}

// Add counts another question to the same judge.
func (o *Outcome) Add(other Outcome) {
	o.usage.Add(&other.usage)
	o.note(other.notes...)
}

// note keeps notes, each once.
func (o *Outcome) note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(o.notes, n) {
			o.notes = append(slices.Clip(o.notes), n)
		}
	}
}

// Ask asks a judge a question. A reply that is not a verdict is reason.Shown to it once
// with what was wrong; when there is still none, that is an error, and never a
// low score.
func Ask[T any](ctx context.Context, j *Judge, q Question, f Form[T]) (verdict T, o Outcome, err error) {
	m := fenced(q.Sections)
	o.model, o.notes = j.name, m.notes
	if j.name != "" && j.name == j.Answer {
		o.note("the judge is the model under test")
	}
	closing := j.Prompt(closingPrompt, "code", m.code, "form", f.words)
	user := q.Task + "\n\n" + m.text + "\n\n" + closing
	req := j.request(q, f.name, f.schema)
	req.Messages = []llm.Message{{Role: llm.User, Text: user}}
	verdict, reply, problem, err := call(ctx, j, req, f, &o)
	switch {
	case err != nil || problem == nil:
		return verdict, o, err
	case final(reply):
		return verdict, o, problem
	}
	first := problem
	repair := j.Prompt(repairPrompt, "problem", problem.Error(), "form", f.words)
	again := *req // a recording may still hold the first
	again.Messages = repaired(user, reply.Text, repair)
	if reply.Finish == llm.Truncated {
		again.MaxTokens *= 4 // what it thinks before it says anything counts, too
	}
	o.note("asked twice: " + problem.Error())
	verdict, reply, problem, err = call(ctx, j, &again, f, &o)
	switch {
	case err != nil:
		return verdict, o, fmt.Errorf("after a reply that was no verdict (%w): %w", first, err)
	case problem != nil:
		return verdict, o, fmt.Errorf("no verdict after two tries: %w%s", problem, saying(reply.Text))
	}
	return verdict, o, nil
}

// request is a question without its messages.
func (j *Judge) request(q Question, name, schema string) *llm.Request {
	var cold float64
	return &llm.Request{
		System: j.texts[systemPrompt], Schema: &llm.Schema{Name: name, Schema: json.RawMessage(schema)},
		Temperature: &cold, MaxTokens: max(q.Tokens, maxTokens), Sample: j.sample + q.Sample,
	}
}

// call makes one call and counts it. problem is why the reply is not a verdict;
// an error means that there is no reply.
func call[T any](ctx context.Context, j *Judge, req *llm.Request, f Form[T], o *Outcome) (verdict T, reply *llm.Reply, problem, err error) {
	if reply, err = llm.Ask(ctx, j.attempt, eval.JudgeEvent, j.name, j.model, req); err != nil {
		return verdict, nil, nil, fmt.Errorf("ask the judge: %w", err)
	}
	o.usage.Add(&reply.Usage)
	o.note(reply.Notes...)
	if reply.Model != "" && !strings.HasSuffix(j.name, reply.Model) {
		o.version = reply.Model
	}
	if problem = useless(reply); problem == nil {
		verdict, problem = readReply(reply.Text, req.Messages[0].Text, f)
	}
	return verdict, reply, problem, nil
}

// repaired is the conversation that asks again. A turn without words is one
// that vendors turn down.
func repaired(user, reply, repair string) []llm.Message {
	const most = 4000 // characters: enough to see what was wrong
	if reply = strings.TrimSpace(reply); reply == "" {
		return []llm.Message{{Role: llm.User, Text: user + "\n\n" + repair}}
	}
	return []llm.Message{
		{Role: llm.User, Text: user}, {Role: llm.Assistant, Text: reason.Cut(reply, most)}, {Role: llm.User, Text: repair},
	}
}

// saying shows a reply in a reason.
func saying(reply string) string {
	if reply = reason.OneLine(reply, 2*reason.Shown); reply == "" {
		return ""
	}
	return "; it said: " + reply
}

// Record adds usage, model and notes to a score.
func (o Outcome) Record(s eval.Score) eval.Score {
	if o.usage != (eval.Usage{}) {
		usage := o.usage
		s.Usage = &usage
	}
	for _, d := range []struct{ key, value string }{{"model", o.model}, {"model_version", o.version}} {
		if d.value != "" {
			s = s.Detail(d.key, d.value)
		}
	}
	if len(o.notes) > 0 {
		s = s.Detail("notes", o.notes)
	}
	return s
}

// CaseQuestion is what a case asked, as a judge is reason.Shown it.
func CaseQuestion(c *eval.Case) string {
	var input map[string]json.RawMessage
	if len(c.Input) == 0 || json.Unmarshal(c.Input, &input) != nil {
		return string(c.Input)
	}
	for _, key := range []string{"question", "challenge"} {
		var text string
		if json.Unmarshal(input[key], &text) == nil && strings.TrimSpace(text) != "" {
			return text
		}
	}
	if len(input) == 0 {
		return ""
	}
	return string(c.Input)
}
