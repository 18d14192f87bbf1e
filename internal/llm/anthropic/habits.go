package anthropic

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/mettle-eval/mettle/internal/llm"
	"github.com/mettle-eval/mettle/internal/llm/wire"
)

// habits is what was learned of a model by being turned down.
type habits struct {
	noTemperature bool
	noSchema      bool // the schema is asked for in words instead
	mostTokens    int  // it may write; 0 when not known
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
	switch {
	case m.habits != h:
	case req.Temperature != nil && !h.noTemperature && x.Fault.Refuses("temperature"):
		m.habits.noTemperature = true
	case req.Schema != nil && !h.noSchema && refusesSchema(x.Fault):
		m.habits.noSchema = true
	case req.MaxTokens == 0 && h.mostTokens == 0 && mostTokens(x.Fault.Message) > 0:
		m.habits.mostTokens = mostTokens(x.Fault.Message)
	default:
		return false
	}
	return true
}

// refusesSchema tells a model without structured outputs from a schema that is
// wrong, such as "output_config.format.schema: property 'minimum' is not
// supported": the second is an error to be seen.
func refusesSchema(f wire.Fault) bool {
	return !strings.Contains(f.Message, ".schema") &&
		(f.Refuses("output_config") || f.Refuses("output format") || f.Refuses("structured outputs"))
}

// mostTokens reads the number out of "max_tokens: 8192 > 4096, which is the
// maximum allowed number of output tokens for …".
func mostTokens(message string) int {
	_, rest, ok := strings.Cut(message, "max_tokens:")
	if !ok {
		return 0
	}
	_, rest, ok = strings.Cut(rest, ">")
	if !ok {
		return 0
	}
	rest = strings.TrimSpace(rest)
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
	if end < 0 {
		end = len(rest)
	}
	n, err := strconv.Atoi(rest[:end])
	if err != nil {
		return 0
	}
	return n
}

// notes says what of a request was not sent as asked.
func (h habits) notes(req *llm.Request) []string {
	var notes []string
	if req.Seed != nil {
		notes = append(notes, "seed left out: the vendor takes none")
	}
	if req.Temperature != nil && h.noTemperature {
		notes = append(notes, "temperature left out: the model does not take it")
	}
	if req.Schema != nil && h.noSchema {
		notes = append(notes, "schema asked for in words: the model does not take one")
	}
	return notes
}
