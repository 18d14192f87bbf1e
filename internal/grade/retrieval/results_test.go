package retrieval

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
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
		doc, err := jsondoc.Decode(tc.doc)
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

// FuzzResults: any answer has some results or none, never too many.
func FuzzResults(f *testing.F) {
	f.Add("See https://x.org/a.", `{"results": [{"url": "https://x.org/a#b"}, {"metadata": {"source": "a.md"}}]}`, "$.results[*].url")
	f.Add("**URL:** `a.md` | Path: [a](a.md)\n## 2. x\nid: 3", `{"hits": {"hits": [{"_id": 1}, 2, "a", null, []]}}`, "hits.hits")
	f.Add("[a](b.md)", `[["a"]]`, "$[*][*]")
	f.Add("```\nURL: a.md", `{"results": null}`, "$.results[*]")
	f.Add("lin\u212a: a.md", "", "\u017fource: b.md")
	f.Fuzz(func(t *testing.T, text, structured, path string) {
		for _, s := range []string{text, path} {
			if fieldMark().MatchString(s) && !mayHaveFields(s) {
				t.Fatalf("%q has fields", s)
			}
		}
		r := &eval.Response{Text: text, Structured: json.RawMessage(structured), Sources: []eval.Source{{Title: text}, {URL: path}}}
		for _, o := range []Origin{{}, {From: "json"}, {From: "sources"}, {From: "text"}, {Path: path}} {
			if o.CheckOrigin() != nil {
				continue
			}
			l, err := o.results(r)
			if err != nil && len(l.results) > 0 || len(l.results) > MaxResults {
				t.Fatalf("%+v: %d results, error %v", o, len(l.results), err)
			}
			if err == nil && len(l.results) == 0 && l.none == "" {
				t.Fatalf("%+v: no results, and no word why", o)
			}
		}
	})
}
