package grade

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// TestRankingDetails: a score says what was ranked and where the labels stand.
func TestRankingDetails(t *testing.T) {
	t.Parallel()
	e := &example{name: "details", files: map[string][]byte{
		"check":    []byte("{type: recall_at_k, k: 2, threshold: 0, relevant: [a.md, {id: b.md, grade: 2}, c.md]}"),
		"response": []byte(`structured: {results: [{path: "b.md#1"}, {path: "b.md#2"}, {url: "https://x.org/x\n"}, {path: c.md}]}`),
	}}
	_, check := e.decode()
	s := check.Grade(t.Context(), attempt(&eval.Case{}, e.response(t), nil))
	got, err := json.Marshal(s.Details)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"documents":3,"from":"results at results in structured content",` +
		`"relevant":[{"id":"a.md"},{"id":"b.md","grade":2,"rank":1},{"id":"c.md","rank":3}],` +
		`"retrieved":["b.md#1","https://x.org/x"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzMetrics: every metric of any answer is a share.
func FuzzMetrics(f *testing.F) {
	f.Add("See https://x.org/a.", `{"results": [{"url": "https://x.org/a#b"}, {"metadata": {"source": "a.md"}}]}`, "$.results[*].url")
	f.Add("**URL:** `a.md` | Path: [a](a.md)\n## 2. x\nid: 3", `{"hits": {"hits": [{"_id": 1}, 2, "a", null, []]}}`, "hits.hits")
	f.Add("[a](b.md)", `[["a"]]`, "$[*][*]")
	f.Add("```\nURL: a.md", `{"results": null}`, "$.results[*]")
	checks := map[string]*eval.Check{}
	for _, name := range []string{"recall_at_k", "precision_at_k", "hit_at_k", "mrr", "ndcg_at_k"} {
		text := "{type: " + name + ", threshold: 0, relevant: [a.md, {id: https://x.org/b, grade: 3}]}"
		if name == "hit_at_k" {
			text = "{type: hit_at_k, relevant: [a.md, x.org/b#c]}"
		}
		_, checks[name] = (&example{files: map[string][]byte{"check": []byte(text)}}).decode()
	}
	f.Fuzz(func(t *testing.T, text, structured, path string) {
		r := &eval.Response{Text: text, Structured: json.RawMessage(structured), Sources: []eval.Source{{Title: text}, {URL: path}}}
		for name, check := range checks {
			s := check.Grade(t.Context(), attempt(&eval.Case{}, r, nil))
			if s.Value < 0 || s.Value > 1 || s.Reason == "" {
				t.Fatalf("%s: %+v", name, s)
			}
		}
	})
}
