package grade

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/kind"
)

var update = flag.Bool("update", false, "rewrite what testdata expects")

// example is one check on one response, from the files of a txtar that share a
// name:
//
//	name.check     the check, as YAML
//	name.answer    the answer's text (optional)
//	name.raw       everything the target said, where it is more than the answer (optional)
//	name.response  the rest of the response, as YAML: isError, meta, sources, structured, latency,
//	               and text instead of name.answer where it needs escapes, context; the case's input (optional)
//	name.judge     what the judges reply; see scripted (optional: without it there is no judge)
//	name.want      status and reason, mode and findings, or what is wrong with the check
//	name.plan      in verdicts.txtar: what the plan's own validators say about the raw text
//	name.why       in verdicts.txtar: why the verdicts differ, where they do
type example struct {
	name  string
	files map[string][]byte // by extension
}

func (e *example) text(ext string) string { return strings.TrimSuffix(string(e.files[ext]), "\n") }

func readExamples(t testing.TB, file string) (*txtar.Archive, []*example) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*example
	for _, f := range a.Files {
		name, ext, ok := strings.Cut(f.Name, ".")
		if !ok || !slices.Contains([]string{"check", "answer", "raw", "response", "judge", "want", "plan", "why"}, ext) {
			t.Fatalf("%s: file %q is not part of an example", file, f.Name)
		}
		i := slices.IndexFunc(out, func(e *example) bool { return e.name == name })
		if i < 0 {
			out, i = append(out, &example{name, map[string][]byte{}}), len(out)
		}
		if out[i].files[ext] != nil {
			t.Fatalf("%s: file %q stands twice", file, f.Name)
		}
		out[i].files[ext] = append([]byte{}, f.Data...)
	}
	return a, out
}

// given is what a response file says.
type given struct {
	Text       string          `json:"text"`
	IsError    bool            `json:"isError"`
	Meta       map[string]any  `json:"meta"`
	MetaBroken string          `json:"meta_broken"`
	Sources    []eval.Source   `json:"sources"`
	Structured json.RawMessage `json:"structured"`
	Latency    string          `json:"latency"`
	Context    string          `json:"context"`
	Input      json.RawMessage `json:"input"`
}

func (e *example) given(t testing.TB) (more given) {
	t.Helper()
	data := e.files["response"]
	if len(data) == 0 {
		return more
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		t.Fatalf("%s.response: %v", e.name, err)
	}
	asJSON, err := json.Marshal(tree)
	if err != nil {
		t.Fatalf("%s.response: %v", e.name, err)
	}
	if err := json.Unmarshal(asJSON, &more); err != nil {
		t.Fatalf("%s.response: %v", e.name, err)
	}
	return more
}

// asked is the case that was put.
func (e *example) asked(t testing.TB) *eval.Case {
	t.Helper()
	return &eval.Case{ID: "case-1", Tool: "ask_docs", Input: e.given(t).Input}
}

// response makes the response the check looks at.
func (e *example) response(t testing.TB) *eval.Response {
	t.Helper()
	more := e.given(t)
	r := &eval.Response{
		Text: more.Text, Raw: e.text("raw"), IsError: more.IsError,
		Meta: more.Meta, MetaBroken: more.MetaBroken, Sources: more.Sources, Structured: more.Structured, Context: more.Context,
	}
	if _, ok := e.files["answer"]; ok {
		r.Text = e.text("answer")
	} else if more.Text == "" {
		r.Text, r.Raw = r.Raw, ""
	}
	if more.Latency != "" {
		d, err := time.ParseDuration(more.Latency)
		if err != nil {
			t.Fatalf("%s.response: %v", e.name, err)
		}
		r.Latency = d
	}
	return r
}

func (e *example) decode() (*kind.Decoder, *eval.Check) {
	d, n := kind.Parse("testdata/check.yaml", e.files["check"])
	if n == nil {
		return d, nil
	}
	return d, DecodeCheck(d, n)
}

// outcome is the example's verdict in the form of its want file.
func (e *example) outcome(t testing.TB) string {
	t.Helper()
	d, check := e.decode()
	if check == nil {
		if len(d.Problems) == 0 {
			t.Errorf("%s: no check, and no problem either", e.name)
		}
		var b strings.Builder
		for _, p := range d.Problems.Sort() {
			fmt.Fprintf(&b, "load error: %s\n", strings.TrimPrefix(p.String(), "testdata/check.yaml:"))
		}
		return b.String()
	}
	if len(d.Problems) > 0 {
		t.Errorf("%s: a check although there are problems: %v", e.name, d.Problems)
	}
	c, r := e.asked(t), e.response(t)
	script, judged := e.files["judge"]
	if !judged {
		SkipJudged([]*eval.Check{check}, NoJudge) // as a plan does
		return scoreText(check.Grade(t.Context(), attempt(c, r, nil)))
	}
	j := newScripted(t, e.name, string(script))
	s := check.Grade(t.Context(), attempt(c, r, j.judges()))
	j.done()
	return scoreText(s) + judgedText(s)
}

// attempt is what a check grades in a test: a response to a case, with judges
// or, when there are none, without.
func attempt(c *eval.Case, r *eval.Response, judges *judge.Judges) *eval.Attempt {
	return &eval.Attempt{Case: c, Response: r, Trial: 1, Env: &eval.Env{Grading: &Env{Judges: judges, Environ: PassedOn(os.Environ())}}}
}

func scoreText(s eval.Score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", s.Status, s.Reason)
	if s.Status != eval.Unscored && s.Value != 0 && s.Value != 1 {
		fmt.Fprintf(&b, "value: %.3f\n", s.Value)
	}
	if s.Status == eval.Fail {
		fmt.Fprintf(&b, "mode: %s\n", s.Mode)
	}
	for _, f := range s.Findings {
		fmt.Fprintf(&b, "finding: %d:%d: %s\n", f.Pos.Line, f.Pos.Col, f.Message)
	}
	return b.String()
}

func TestExamples(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			runExamples(t, filepath.Join("testdata", k.Name+".txtar"), &k)
		})
	}
	t.Run("verdicts", func(t *testing.T) {
		t.Parallel()
		runExamples(t, filepath.Join("testdata", "verdicts.txtar"), nil)
	})
	t.Run("common", func(t *testing.T) {
		t.Parallel()
		runExamples(t, filepath.Join("testdata", "common.txtar"), nil)
	})
}

// runExamples holds every example of a file to its want, and wants the file of
// a kind to show each outcome the kind can have.
func runExamples(t *testing.T, file string, k *kind.Kind[eval.Grader]) {
	archive, examples := readExamples(t, file)
	outcomes := map[string]int{}
	changed := false
	for _, e := range examples {
		got := e.outcome(t)
		status, _, _ := strings.Cut(got, ":")
		outcomes[status]++
		if *update {
			changed = setFile(archive, e.name, got) || changed
			continue
		}
		if diff := cmp.Diff(string(e.files["want"]), got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", file, e.name, diff)
		}
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if k == nil {
		return
	}
	for _, status := range []string{"pass", "fail", "unscored", "load error"} {
		if outcomes[status] == 0 && (status != "unscored" || canBeUnscored(*k)) {
			t.Errorf("%s: no example of %s", file, status)
		}
	}
}

// canBeUnscored tells which kinds can come to no verdict, whatever else they
// do: those that ask a judge or a program, read ranked results, or hold checks.
func canBeUnscored(k kind.Kind[eval.Grader]) bool {
	g := k.New()
	_, composed := g.(interface{ checks() []*eval.Check })
	return eval.IsExpensive(g) || composed || k.Section == eval.RetrievalSection
}

// setFile puts an outcome into the archive, after the last file of its
// example.
func setFile(a *txtar.Archive, name, want string) (changed bool) {
	last := 0
	for i, f := range a.Files {
		if f.Name == name+".want" {
			changed = string(f.Data) != want
			a.Files[i].Data = []byte(want)
			return changed
		}
		if strings.HasPrefix(f.Name, name+".") {
			last = i
		}
	}
	a.Files = slices.Insert(a.Files, last+1, txtar.File{Name: name + ".want", Data: []byte(want)})
	return true
}
