package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// The plan's types, field by field. Pointers tell a field that is missing from
// one that is zero.
type (
	planStats struct {
		Total    *int     `json:"total"`
		Passed   *int     `json:"passed"`
		PassRate *float64 `json:"passRate"`
	}
	planValidation struct {
		Rule    map[string]any `json:"rule"`
		Passed  *bool          `json:"passed"`
		Message *string        `json:"message"`
	}
	planResult struct {
		TestCase *struct {
			ID, Name, Description, Tool, Project, Difficulty *string

			Input    map[string]any `json:"input"`
			Expected *struct {
				Validations       []map[string]any `json:"validations"`
				ExpectedKeywords  []string         `json:"expectedKeywords"`
				ForbiddenKeywords []string         `json:"forbiddenKeywords"`
				ExpectedImports   []string         `json:"expectedImports"`
			} `json:"expected"`
			Tags []string `json:"tags"`
		} `json:"testCase"`
		Passed      *bool            `json:"passed"`
		Validations []planValidation `json:"validations"`
		Response    *string          `json:"response"`
		Metadata    *struct {
			Confidence, SourcesUsed, ProcessingTimeMs *float64
		} `json:"metadata"`
		ErrorMessage *string `json:"errorMessage"`
	}
	planFailure struct {
		TestID            *string          `json:"testId"`
		TestName          *string          `json:"testName"`
		FailedValidations []planValidation `json:"failedValidations"`
	}
	planReport struct {
		Timestamp *string `json:"timestamp"`
		Summary   *struct {
			TotalTests, Passed, Failed               *int
			AverageConfidence, AverageProcessingTime *int
			PassRate                                 *float64
		} `json:"summary"`
		ByDifficulty map[string]planStats `json:"byDifficulty"`
		ByTool       map[string]planStats `json:"byTool"`
		Results      []planResult         `json:"results"`
		Failures     []planFailure        `json:"failures"`
	}
)

func decodePlan(t *testing.T, out string) planReport {
	t.Helper()
	var r planReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("the report is not JSON of the plan's types: %v", err)
	}
	return r
}

// TestJSONHasEveryFieldOfThePlan looks for null, which a missing field would
// become, in the report as the plan's readers see it.
func TestJSONHasEveryFieldOfThePlan(t *testing.T) {
	r := decodePlan(t, render(t, "json", sampleRun(), Options{}))
	for i := range r.Results {
		r.Results[i].ErrorMessage = new(string) // optional
		e := r.Results[i].TestCase.Expected
		for _, optional := range []*[]string{&e.ExpectedKeywords, &e.ForbiddenKeywords, &e.ExpectedImports, &r.Results[i].TestCase.Tags} {
			if *optional == nil {
				*optional = []string{}
			}
		}
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(b, []byte("null")); i >= 0 {
		t.Errorf("a field of the plan is missing near:\n%s", b[max(0, i-300):i+4])
	}
	for _, d := range []string{"basic", "intermediate", "advanced"} {
		if r.ByDifficulty[d].Total == nil {
			t.Errorf("difficulty %s is missing", d)
		}
	}
	for _, tool := range []string{"ask_docs", "get_working_example", "explain_error", "search_docs", "list_projects"} {
		if r.ByTool[tool].Total == nil {
			t.Errorf("tool %s is missing", tool)
		}
	}
}

func TestJSONKeepsErrorsApart(t *testing.T) {
	r := decodePlan(t, render(t, "json", sampleRun(), Options{}))
	passed := 0
	for _, res := range r.Results {
		if *res.Passed {
			passed++
		}
	}
	type numbers struct {
		total, passed, failed, failures int
		rate                            float64
	}
	got := numbers{*r.Summary.TotalTests, *r.Summary.Passed, *r.Summary.Failed, len(r.Failures), *r.Summary.PassRate}
	want := numbers{14, 5, 5, 5, 50}
	if got != want || passed != 5 {
		t.Errorf("got %+v and %d passed results, want %+v and 5", got, passed, want)
	}
}

func TestJSONGivesTheSuiteBack(t *testing.T) {
	r := decodePlan(t, render(t, "json", sampleRun(), Options{}))
	want := []map[string]any{{"type": "min_length", "chars": 200.0}}
	first := r.Results[0].TestCase.Expected
	if diff := cmp.Diff(want, first.Validations); diff != "" {
		t.Errorf("validations (-want +got):\n%s", diff)
	}
	got := [][]string{first.ExpectedKeywords, first.ForbiddenKeywords, first.ExpectedImports}
	if diff := cmp.Diff([][]string{{"o1js"}, {"solana"}, {"o1js"}}, got); diff != "" {
		t.Errorf("keywords, forbidden, imports (-want +got):\n%s", diff)
	}
	var rules []any
	for _, v := range r.Results[0].Validations { // the implicit check passed, so it is not among them
		rules = append(rules, v.Rule)
	}
	wantRules := []any{
		map[string]any{"type": "min_length", "chars": 200.0},
		map[string]any{"type": "contains", "value": "o1js"},
		map[string]any{"type": "contains", "value": "solana", "not": true},
		map[string]any{"type": "has_import", "module": "o1js"},
	}
	if diff := cmp.Diff(wantRules, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestJSONFromAStoredRun: a check read back from a run has a rule and no
// grader, and reports the same.
func TestJSONFromAStoredRun(t *testing.T) {
	stored := sampleResults()
	for _, r := range stored {
		b, err := json.Marshal(r.Case)
		if err != nil {
			t.Fatal(err)
		}
		var c eval.Case
		if err := json.Unmarshal(b, &c); err != nil {
			t.Fatal(err)
		}
		r.Case = &c
	}
	want := render(t, "json", runOf(sampleResults()), Options{})
	got := render(t, "json", runOf(stored), Options{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-made +stored):\n%s", diff)
	}
}

// TestJSONLayout: the pieces add up to what indenting the whole would give.
func TestJSONLayout(t *testing.T) {
	for _, run := range []*eval.Run{sampleRun(), emptyRun(), largeRun(10)} {
		out := render(t, "json", run, Options{})
		var compact, indented bytes.Buffer
		if err := json.Compact(&compact, []byte(out)); err != nil {
			t.Fatal(err)
		}
		if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(indented.String()+"\n", out); diff != "" {
			t.Errorf("(-indented +written):\n%s", diff)
		}
	}
}

// TestJSONKeepsAnswersWhole: what a target said comes out as it came in, but
// for bytes that no JSON can hold.
func TestJSONKeepsAnswersWhole(t *testing.T) {
	want := strings.NewReplacer("\xff", "\ufffd", "\xfe", "\ufffd").Replace(hostile)
	r := decodePlan(t, render(t, "json", sampleRun(), Options{}))
	if got := *r.Results[5].Response; got != want {
		t.Errorf("response\n got %q\nwant %q", got, want)
	}
	if got := *r.Results[8].Response; got != bigAnswer {
		t.Errorf("of the megabyte, %d bytes came out", len(got))
	}
	lines := strings.Split(render(t, "jsonl", sampleRun(), Options{}), "\n")
	var line struct{ Response string }
	if err := json.Unmarshal([]byte(lines[5]), &line); err != nil || line.Response != want {
		t.Errorf("jsonl: %v, response %q", err, line.Response)
	}
}

// TestJSONManyFailures: failures that are too many to keep are read again, and
// the report is the same.
func TestJSONManyFailures(t *testing.T) {
	results := sampleResults()
	random := rand.New(rand.NewPCG(1, 2))
	var noise string
	for range 12 { // compressed, half a megabyte each
		var b []byte
		for len(b) < 1<<20 {
			b = strconv.AppendUint(b, random.Uint64(), 16)
		}
		noise = string(b)
		r := *results[1]
		r.Scores = slices.Clone(r.Scores)
		r.Scores[0].Reason = noise
		results = append(results, &r)
	}
	r := decodePlan(t, render(t, "json", runOf(results), Options{}))
	if n := len(r.Failures); n != 17 || *r.Failures[16].FailedValidations[0].Message != noise {
		t.Errorf("%d failures, want 17", n)
	}
}

func FuzzTidy(f *testing.F) {
	f.Add([]byte(`{"a":"\u003c\\u003c\u0026 \u009b < \ud800"}`))
	f.Add([]byte("\"\u009b\u202e\x7f\xff\""))
	f.Add([]byte(`"\`))
	f.Add([]byte("\\\x99"))
	f.Fuzz(func(t *testing.T, src []byte) {
		got := appendTidy(nil, src)
		if i := strings.IndexFunc(string(got), obeyed); i >= 0 {
			t.Fatalf("%q became %q, which a terminal would obey at %d", src, got, i)
		}
		if !utf8.Valid(got) {
			t.Fatalf("%q became %q, which is not UTF-8", src, got)
		}
		var before, after any
		if json.Unmarshal(src, &before) != nil {
			return
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("%q means something else now (-before +after):\n%s", src, diff)
		}
	})
}

// TestConstantMemory writes runs of very different size and looks at what is
// held while their results are read.
func TestConstantMemory(t *testing.T) {
	for _, f := range Formats {
		small, large := heldWhile(t, f, 1_000), heldWhile(t, f, 10_000)
		if large > small+6<<20 {
			t.Errorf("%s holds %d bytes in a run of 1,000 and %d in one of 10,000", f.Name, small, large)
		}
	}
}

// heldWhile is the most that writing a run held beyond what was there before.
func heldWhile(t *testing.T, f Format, n int) uint64 {
	t.Helper()
	run := largeRun(n)
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, most := held(), uint64(0)
	read := run.Results
	run.Results = func() iter.Seq2[*eval.Result, error] {
		return func(yield func(*eval.Result, error) bool) {
			i := 0
			for r, err := range read() {
				if i++; i%(n/4) == 0 {
					most = max(most, held())
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
	if err := f.Write(io.Discard, run, Options{Verbose: true}); err != nil {
		t.Fatal(err)
	}
	return most - min(most, before)
}

func benchmark(b *testing.B, format string, n int) {
	run := largeRun(n)
	f, _ := Find(format)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Write(io.Discard, run, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/result")
}

func BenchmarkJSON(b *testing.B)     { benchmark(b, "json", 100_000) }
func BenchmarkJSONL(b *testing.B)    { benchmark(b, "jsonl", 100_000) }
func BenchmarkJUnit(b *testing.B)    { benchmark(b, "junit", 100_000) }
func BenchmarkTerminal(b *testing.B) { benchmark(b, "terminal", 100_000) }

// TestAheadStops: a writer that stops early lets the reader stop, and what the
// reader could not read reaches the writer after what it could.
func TestAheadStops(t *testing.T) {
	torn := errors.New("torn")
	read, ended := 0, false
	source := func(yield func(*eval.Result, error) bool) {
		defer func() { ended = true }()
		for range 10_000 {
			if read++; !yield(&eval.Result{Response: &eval.Response{Text: "text"}}, nil) {
				return
			}
		}
		yield(nil, torn)
	}
	n := 0
	for range ahead(source) {
		if n++; n == 100 {
			break
		}
	}
	if !ended || read > 100+5*batchResults {
		t.Errorf("after %d results the reader has read %d, ended %v", n, read, ended)
	}
	n = 0
	var last error
	for _, err := range ahead(source) {
		if last = err; err == nil {
			n++
		}
	}
	if n != 10_000 || !errors.Is(last, torn) {
		t.Errorf("%d results and the error %v", n, last)
	}
}
