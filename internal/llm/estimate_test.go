package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEstimatesAreNearAndRatherHigh(t *testing.T) {
	// Tokens as tokenizers of several vendors count them; they differ.
	for _, tt := range []struct {
		name        string
		text        string
		least, most int
	}{
		{"English", strings.Repeat("The quick brown fox jumps over the lazy dog, and then it sleeps. ", 100), 1500, 2100},
		{"code", strings.Repeat("for i := range items {\n\tfmt.Println(items[i].Name)\n}\n", 100), 1500, 2400},
		{"Chinese", strings.Repeat("快速的棕色狐狸跳过懒狗。", 100), 1000, 1700},
		{"Russian", strings.Repeat("Быстрая лиса прыгает. ", 100), 700, 1300},
		{"nothing", "", 0, 0},
	} {
		if n := textTokens(tt.text); n < tt.least || n > tt.most {
			t.Errorf("%s: %d tokens, want from %d to %d", tt.name, n, tt.least, tt.most)
		}
	}
}

func TestEverythingInARequestCounts(t *testing.T) {
	empty := Estimate(&Request{}).Input
	long := strings.Repeat("word ", 200)
	raw, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]*Request{
		"system":  {System: long},
		"message": {Messages: []Message{{Text: long}}},
		"call":    {Messages: []Message{{Calls: []ToolCall{{Input: raw}}}}},
		"result":  {Messages: []Message{{Results: []ToolResult{{Text: long}}}}},
		"tool":    {Tools: []Tool{{Description: long}}},
		"schema":  {Schema: &Schema{Schema: raw}},
	} {
		if n := Estimate(req).Input; n < empty+250 {
			t.Errorf("%s: %d tokens, want some 280 more than %d", name, n, empty)
		}
	}
	if got := Estimate(&Request{}).Output; got != TypicalOutput {
		t.Errorf("a reply without bound is thought to have %d tokens", got)
	}
	if got := Estimate(&Request{MaxTokens: 7}).Output; got != 7 {
		t.Errorf("a reply of at most 7 tokens is thought to have %d", got)
	}
}
