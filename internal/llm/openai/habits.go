package openai

import (
	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// form is how a schema is asked for.
type form int

const (
	strict form = iota // response_format json_schema
	object             // response_format json_object, the schema in words
	words              // in words alone
)

// habits is what is known of a server and model: first guesses, and what was
// learned by being turned down.
type habits struct {
	completionTokens bool // the limit is called max_completion_tokens, not max_tokens
	renamed          bool // the other name was tried
	noTokens         bool // there is no limit to be had
	noTemperature    bool
	noSeed           bool
	form             form
}

func (m *Model) learned() habits {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.habits
}

// learn reads out of a refusal what to do otherwise, and tells whether there
// is anything: h is what the refused request was made by. Calls run side by
// side, so the lesson may be there already.
func (m *Model) learn(h habits, req *llm.Request, x *wire.Exchange) bool {
	if x.Status != 400 && x.Status != 422 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.habits != h {
		return true
	}
	f := x.Fault
	switch {
	case req.Temperature != nil && !h.noTemperature && f.Refuses("temperature"):
		m.habits.noTemperature = true
	case req.Seed != nil && !h.noSeed && f.Refuses("seed"):
		m.habits.noSeed = true
	case req.MaxTokens > 0 && !h.noTokens && f.Refuses(h.tokensName()):
		m.habits.completionTokens = !h.completionTokens
		m.habits.renamed = true
		m.habits.noTokens = h.renamed
	case req.Schema != nil && h.form != words && m.refusesSchema(f):
		m.habits.form++
	default:
		return false
	}
	return true
}

func (h habits) tokensName() string {
	if h.completionTokens {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// refusesSchema tells whether the form the schema was asked for in was the
// reason. Servers say it in many ways. OpenAI itself takes schemas, so one that
// it finds wrong is wrong, and an error to be seen.
func (m *Model) refusesSchema(f wire.Fault) bool {
	if m.config.Provider == OpenAI && f.Has("invalid schema") {
		return false
	}
	return f.Has("response_format", "response format", "json_schema", "json_object", "json schema", "structured output",
		"grammar", "guided")
}

// notes says what of a request was not sent as asked.
func (h habits) notes(req *llm.Request) []string {
	var notes []string
	if req.Temperature != nil && h.noTemperature {
		notes = append(notes, "temperature left out: the model does not take it")
	}
	if req.Seed != nil && h.noSeed {
		notes = append(notes, "seed left out: the model does not take it")
	}
	if req.MaxTokens > 0 && h.noTokens {
		notes = append(notes, "limit of tokens left out: the model does not take it")
	}
	if req.Schema != nil && h.form == object {
		notes = append(notes, "schema asked for in words: the server takes json_object only")
	}
	if req.Schema != nil && h.form == words {
		notes = append(notes, "schema asked for in words: the server takes no response_format")
	}
	return notes
}
