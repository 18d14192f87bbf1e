package wire

import (
	"encoding/json"
	"strings"

	"github.com/mettle-eval/mettle/internal/llm"
)

// SchemaInWords asks for a schema in the system text, for models and servers
// that do not take one as a parameter.
func SchemaInWords(s *llm.Schema) string {
	return "Answer with one JSON object and nothing else: no words before or after it, no code fence. " +
		"It must be valid by this JSON Schema:\n" + string(s.Schema)
}

// Bare takes off what models put around JSON they were asked for: their
// thinking, a code fence. Text in which there is no JSON to be had that way
// comes back as it was.
func Bare(text string) string {
	t := strings.TrimSpace(text)
	if strings.HasPrefix(t, "<think>") {
		if i := strings.LastIndex(t, "</think>"); i >= 0 {
			t = strings.TrimSpace(t[i+len("</think>"):])
		}
	}
	if inner, ok := unfenced(t); ok {
		t = inner
	}
	if json.Valid([]byte(t)) {
		return t
	}
	return text
}

func unfenced(t string) (string, bool) {
	if !strings.HasPrefix(t, "```") || !strings.HasSuffix(t, "```") {
		return "", false
	}
	_, rest, ok := strings.Cut(t, "\n")
	if !ok {
		return "", false
	}
	return strings.TrimSpace(strings.TrimSuffix(rest, "```")), true
}
