package grade

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestFromText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "No results.", nil},
		{"urls in a sentence", "See https://x.org/a, (https://x.org/b) or **https://x.org/c**!", []string{"https://x.org/a", "https://x.org/b", "https://x.org/c"}},
		{"url with brackets", "[T](https://x.org/a_(b))", []string{"https://x.org/a_(b)"}},
		{"url as the text of its link", "[https://x.org/a](https://x.org/a)", []string{"https://x.org/a", "https://x.org/a"}},
		{"no url inside a word", "xhttps://x.org/a", nil},
		{"code", "`https://x.org/a`\n\n```\nhttps://x.org/b\n```\n", nil},
		{"links where there is no url", "[A](a.md) ![i](i.png) [B](b.md#x) [here](#top)", []string{"a.md", "b.md#x"}},
		{"fields before urls", "https://x.org/a\n\nURL: https://x.org/b", []string{"https://x.org/b"}},
		{"field behind a bar", "**Type:** prose | **URL:** https://x.org/a | **Score:** 3", []string{"https://x.org/a"}},
		{"colon outside the bold", "* **Url**: https://x.org/a", []string{"https://x.org/a"}},
		{"field in a sentence", "The URL: https://x.org/a", []string{"https://x.org/a"}},
		{"words are no place", "Source: the manual\n\nPath: `docs/a b.md`", []string{"docs/a b.md"}},
		{"ids", "ID: 7\nTitle: A\n\nID: 8\nTitle: B", []string{"7", "8"}},
		{"fields of two results", "URL: https://x.org/a\nPath: a.md\nURL: https://x.org/b\nPath: b.md", []string{"https://x.org/a", "https://x.org/b"}},
		{"heading between", "## A\nPath: a.md\n## B\nURL: https://x.org/b", []string{"a.md", "https://x.org/b"}},
		{"windows line ends", "URL: https://x.org/a\r\nURL: https://x.org/b\r\n", []string{"https://x.org/a", "https://x.org/b"}},
	} {
		var got []string
		for _, r := range fromText(tc.text).results {
			got = append(got, r.text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestSearchJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ doc, where, none string }{
		{`{"results": [{"url": "a"}], "sources": [{"url": "b"}]}`, "at results in it", ""},
		{`{"results": [], "sources": [{"url": "b"}]}`, "at sources in it", ""},
		{`{"results": [{"title": "a"}], "sources": [{"url": "b"}]}`, "at sources in it", ""},
		{`{"results": {"items": [{"id": 1}]}}`, "at items in it", ""},
		{`{"a": {"b": {"hits": ["x"]}}}`, "at hits in it", ""},
		{`{"a": {"b": {"c": {"hits": ["x"]}}}}`, "", "no list of results found in it: give its path"},
		{`{"results": [], "a": {"items": [1]}}`, "at results in it", ""},
		{`{"results": null}`, "at results in it", ""},
		{`{"results": "none"}`, "", "no list of results found in it: give its path"},
		{`{"results": [[]], "a": {"items": [1]}}`, "at items in it", ""},
		{`{"results": [[]], "docs": [{}]}`, "", "of 1 result at results in it none has a url, path or id"},
		{`[]`, "in it", ""},
		{`"text"`, "", "no list of results found in it: give its path"},
	} {
		doc, err := decodeJSON(tc.doc)
		if err != nil {
			t.Fatal(err)
		}
		l, err := searchJSON(doc, "it")
		if err != nil && err.Error() != tc.none || err == nil && tc.none != "" {
			t.Errorf("%s: error %v, want %q", tc.doc, err, tc.none)
		}
		if l.where != tc.where {
			t.Errorf("%s: results %q, want %q", tc.doc, l.where, tc.where)
		}
	}
}

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

// FuzzResults: any answer has some results or none, never too many, and every
// metric of them is a share.
func FuzzResults(f *testing.F) {
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
		for _, o := range []origin{{}, {From: "json"}, {From: "sources"}, {From: "text"}, {Path: path}} {
			if o.checkOrigin() != nil {
				continue
			}
			l, err := o.results(r)
			if err != nil && len(l.results) > 0 || len(l.results) > maxResults {
				t.Fatalf("%+v: %d results, error %v", o, len(l.results), err)
			}
			if err == nil && len(l.results) == 0 && l.none == "" {
				t.Fatalf("%+v: no results, and no word why", o)
			}
		}
		for name, check := range checks {
			s := check.Grade(t.Context(), attempt(&eval.Case{}, r, nil))
			if s.Value < 0 || s.Value > 1 || s.Reason == "" {
				t.Fatalf("%s: %+v", name, s)
			}
		}
	})
}
