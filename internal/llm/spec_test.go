package llm

import (
	"strings"
	"testing"
)

func TestSpecsAreRead(t *testing.T) {
	for text, want := range map[string]Spec{
		"anthropic:claude-haiku-5-5":           {Provider: "anthropic", Model: "claude-haiku-5-5"},
		" ollama:qwen3:8b ":                    {Provider: "ollama", Model: "qwen3:8b"},
		"openai:ft:gpt-4o@me":                  {Provider: "openai", Model: "ft:gpt-4o@me"},
		"openai-compatible:a/b@gate":           {Provider: Compatible, Model: "a/b", Endpoint: "gate"},
		"openai-compatible:vl@2026-01-01@gate": {Provider: Compatible, Model: "vl@2026-01-01", Endpoint: "gate"},
	} {
		got, err := ParseSpec(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                            "is no model",
		"gpt-5":                       "is no model",
		"openai:":                     "is no model",
		"openai: ":                    "is no model",
		"openai:gpt 5":                "is no model",
		"openai:gpt-5\n":              "", // only around it
		"gemini:pro":                  `unknown provider "gemini"`,
		"openai-compatible:x":         "names no endpoint",
		"openai-compatible:@x":        "names no endpoint",
		"openai-compatible:x@":        "names no endpoint",
		"anthropic:claude\u00a0haiku": "is no model",
	} {
		_, err := ParseSpec(text)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"anthropic:claude-haiku-5-5", "ollama:qwen3:8b", "openai-compatible:a@b@c", "openai:@", ":", "@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := ParseSpec(s)
		if err != nil {
			return
		}
		again, err := ParseSpec(spec.String())
		if err != nil || again != spec {
			t.Fatalf("%q is %+v, and that is %+v, %v", s, spec, again, err)
		}
	})
}
