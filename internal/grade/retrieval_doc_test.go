package grade_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/suite"
)

// TestWorkedExample: the suite and the answer of docs/retrieval.md give the
// values that the page works out by hand.
func TestWorkedExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/retrieval.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## Worked example\n")
	if !ok {
		t.Fatal("the page has no worked example")
	}
	got := values(t, block(t, text, "yaml"), block(t, text, "json"))
	if diff := cmp.Diff(valuesByHand(text), got); diff != "" {
		t.Errorf("(-by hand +got):\n%s", diff)
	}
	graded := regexp.MustCompile(`\{id: (\S+), grade: \d+\}`)
	binary := values(t, graded.ReplaceAllString(block(t, text, "yaml"), "$1"), block(t, text, "json"))["ndcg_at_k"]
	if !strings.HasSuffix(strings.TrimSpace(text), "= "+binary+".") {
		t.Errorf("without grades the page does not come to %s", binary)
	}
}

// values grades an answer by the first case of a suite.
func values(t *testing.T, yaml, answer string) map[string]string {
	t.Helper()
	set, err := suite.Load([]suite.File{{Path: "search.yaml", Data: []byte(yaml)}})
	if err != nil {
		t.Fatal(err)
	}
	c := set.Suites[0].Cases[0]
	a := &eval.Attempt{Case: c, Response: &eval.Response{Structured: json.RawMessage(answer)}}
	out := map[string]string{}
	for _, check := range c.Checks {
		if s := check.Grade(t.Context(), a); !check.Implicit {
			out[check.Kind] = strconv.FormatFloat(s.Value, 'f', 4, 64)
		}
	}
	return out
}

// block is the text of the first code block in a language.
func block(t *testing.T, text, lang string) string {
	t.Helper()
	for _, b := range code.Blocks(text) {
		if b.Lang == lang {
			return b.Text
		}
	}
	t.Fatalf("the worked example has no %s block", lang)
	return ""
}

// valuesByHand reads the page's last table: kind, how it is worked out, value.
func valuesByHand(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if name := strings.TrimSpace(cells[0]); len(cells) == 3 && strings.HasPrefix(name, "`") {
			out[strings.Trim(name, "`")] = strings.TrimSpace(cells[2])
		}
	}
	return out
}
