package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ollama speaks chat completions the way Ollama does: no key, unknown fields
// pass, errors have no codes.
type ollama struct{ openai }

func (ollama) vendor() Vendor { return Ollama }

func (ollama) key(*http.Request) (string, *problem) { return "", nil }

func (ollama) read(body []byte, o Options) (Call, *problem) {
	var q openaiRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return Call{}, badParam("", "", "%v", err)
	}
	if q.MaxTokens == nil {
		q.MaxCompletionTokens = nil // it knows the older name only
	}
	return q.call(o.Refuse)
}

func (ollama) reply(c Call, a Answer) any {
	out := openai{}.reply(c, a)
	if m, ok := out.(map[string]any); ok {
		m["system_fingerprint"] = "fp_ollama"
	}
	return out
}

func (ollama) fail(p problem) any {
	p.code, p.param = "", ""
	return openaiError(p, map[int]string{404: "not_found_error", 429: "rate_limit_error"}, nil, "api_error")
}

// noModel and wrongKey are what the vendors say, each in its own words.
func noModel(v Vendor, name string) problem {
	message := map[Vendor]string{
		Anthropic: "model: " + name,
		OpenAI:    fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", name),
		Ollama:    fmt.Sprintf("model %q not found, try pulling it first", name),
	}
	return problem{status: http.StatusNotFound, message: message[v]}
}

func wrongKey(v Vendor, key string) *problem {
	message := "invalid x-api-key"
	if v == OpenAI { // it really does show a part of it
		message = fmt.Sprintf("Incorrect API key provided: %s****%s. You can find your API key at https://platform.openai.com/account/api-keys.",
			key[:min(len(key), 8)], key[max(0, len(key)-4):])
	}
	return &problem{status: http.StatusUnauthorized, message: message}
}
