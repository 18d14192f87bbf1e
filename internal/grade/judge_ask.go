package grade

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// judgeTokens is the most a judge may say: reasoning and verdict, and for
// models that think first, the thinking.
const judgeTokens = 4096

// inquiry is one question to a judge.
type inquiry struct {
	task     string // what the judge is to do, before the material
	sections []section
	sample   int
	tokens   int // more than judgeTokens, for long lists
}

// hearing is what asking a judge came to, beside the verdict.
type hearing struct {
	usage   eval.Usage
	model   string // as it was named
	version string // as the vendor names it, where that says more
	notes   []string
}

// note keeps notes, each once.
func (h *hearing) note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(h.notes, n) {
			h.notes = append(slices.Clip(h.notes), n)
		}
	}
}

// ask puts a question to a judge. A reply that is no verdict is shown to it
// once with what was wrong; when there is still none, that is an error, and
// never a low score.
func ask[T any](ctx context.Context, j *judge, q inquiry, f form[T]) (verdict T, h hearing, err error) {
	m := fenced(q.sections)
	h.model, h.notes = j.name, m.notes
	if j.name != "" && j.name == j.Answer {
		h.note("the judge is the model under test")
	}
	closing := filled(j.texts[closingPrompt], "code", m.code, "form", f.words)
	user := q.task + "\n\n" + m.text + "\n\n" + closing
	req := j.request(q, f.name, f.schema)
	req.Messages = []llm.Message{{Role: llm.User, Text: user}}
	verdict, reply, problem, err := hear(ctx, j, req, f, &h)
	switch {
	case err != nil || problem == nil:
		return verdict, h, err
	case hopeless(reply):
		return verdict, h, problem
	}
	first := problem
	repair := filled(j.texts[repairPrompt], "problem", problem.Error(), "form", f.words)
	again := *req // whoever recorded the first still holds it
	again.Messages = repaired(user, reply.Text, repair)
	if reply.Finish == llm.Truncated {
		again.MaxTokens *= 4 // what it thinks before it says anything counts, too
	}
	h.note("asked twice: " + problem.Error())
	verdict, reply, problem, err = hear(ctx, j, &again, f, &h)
	switch {
	case err != nil:
		return verdict, h, fmt.Errorf("after a reply that was no verdict (%w): %w", first, err)
	case problem != nil:
		return verdict, h, fmt.Errorf("no verdict after two tries: %w%s", problem, saying(reply.Text))
	}
	return verdict, h, nil
}

// request is a question without its messages.
func (j *judge) request(q inquiry, name, schema string) *llm.Request {
	var cold float64
	return &llm.Request{
		System: j.texts[systemPrompt], Schema: &llm.Schema{Name: name, Schema: json.RawMessage(schema)},
		Temperature: &cold, MaxTokens: max(q.tokens, judgeTokens), Sample: j.sample + q.sample,
	}
}

// hear makes one call and counts it. problem is why the reply is no verdict;
// an error means that there is no reply.
func hear[T any](ctx context.Context, j *judge, req *llm.Request, f form[T], h *hearing) (verdict T, reply *llm.Reply, problem, err error) {
	if reply, err = llm.Ask(ctx, j.attempt, eval.JudgeEvent, j.name, j.model, req); err != nil {
		return verdict, nil, nil, fmt.Errorf("ask the judge: %w", err)
	}
	h.usage.Add(&reply.Usage)
	h.note(reply.Notes...)
	if reply.Model != "" && !strings.HasSuffix(j.name, reply.Model) {
		h.version = reply.Model
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
	if reply = trim(reply); reply == "" {
		return []llm.Message{{Role: llm.User, Text: user + "\n\n" + repair}}
	}
	return []llm.Message{
		{Role: llm.User, Text: user}, {Role: llm.Assistant, Text: cut(reply, most)}, {Role: llm.User, Text: repair},
	}
}

// saying shows a reply in a reason.
func saying(reply string) string {
	if reply = oneLine(reply, 2*shown); reply == "" {
		return ""
	}
	return "; it said: " + reply
}

// on puts what the hearing came to into a score.
func (h hearing) on(s eval.Score) eval.Score {
	if h.usage != (eval.Usage{}) {
		usage := h.usage
		s.Usage = &usage
	}
	for _, d := range []struct{ key, value string }{{"model", h.model}, {"model_version", h.version}} {
		if d.value != "" {
			s = s.Detail(d.key, d.value)
		}
	}
	if len(h.notes) > 0 {
		s = s.Detail("notes", h.notes)
	}
	return s
}

// opinion is a score by a judge: what it came to, the judge's words cut to a
// line, and all of them in the details.
func opinion(s eval.Score, reasoning string) eval.Score {
	if said := strings.TrimSuffix(oneLine(reasoning, 2*shown), "."); said != "" {
		s.Reason += ": " + said
	}
	return s.Detail("reasoning", reasoning)
}

// question is what the case asked, as a judge is shown it.
func question(c *eval.Case) string {
	var input map[string]json.RawMessage
	if len(c.Input) == 0 || json.Unmarshal(c.Input, &input) != nil {
		return string(c.Input)
	}
	for _, key := range []string{"question", "challenge"} {
		var text string
		if json.Unmarshal(input[key], &text) == nil && trim(text) != "" {
			return text
		}
	}
	if len(input) == 0 {
		return ""
	}
	return string(c.Input)
}

// withSection adds a section unless it is empty.
func withSection(list []section, name, text string) []section {
	if trim(text) == "" {
		return list
	}
	return append(list, section{name, text})
}
