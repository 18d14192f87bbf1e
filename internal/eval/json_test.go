package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fullResult has every field set.
func fullResult() *Result {
	usage := &Usage{Calls: 2, Input: 1000, Output: 20, CacheRead: 3, CacheWrite: 4, Cost: Dollars(0.0123), Unpriced: 1}
	inner := Score{Key: "in", Kind: "contains", Status: Unscored, Weight: 1, Reason: "away"}
	return &Result{
		Case: &Case{ID: "c \"1\"", Suite: "s\u2028"}, Target: "docs", Arm: "b", Trial: 2, Status: Fail, Value: 1.0 / 3,
		Started: time.Date(2026, 3, 1, 9, 30, 0, 123456789, time.UTC), Duration: 1234567 * time.Microsecond,
		Scores: []Score{
			{
				Key: "all", Kind: "all", Status: Fail, Value: 0.25, Weight: 2, Severity: ErrorSeverity, Reason: "1 <of> 2 & \t more",
				Details:  map[string]any{"b": 1, "a": []any{"x", nil, true, 1e-9, 1e21, map[string]any{}}, "c": []string{"y"}},
				Findings: []Finding{{"here", Pos{"f", 1, 2}}, {Message: "there"}}, Checks: []Score{inner}, Usage: usage,
				Duration: time.Millisecond, Mode: "m", Implicit: true, Negated: true, Stop: "spent",
			},
			{Key: "k", Kind: "k", Status: Pass, Value: 0},
		},
		Fault: &Fault{Class: "x", Message: "y", Usage: usage, Attempts: 9},
		Response: &Response{
			Text: "Größe \U0001F600 \x00\x1f\x7f", Raw: "raw", Structured: json.RawMessage(`{"a":[1,2.50,-0,1E+2,"\ud83d\ude00"]}`), IsError: true,
			Meta: map[string]any{"confidence": 80.0, "n": nil}, MetaBroken: "b", Sources: []Source{{1, "t", "u"}, {}},
			Steps:   []Step{{"1", CallStep, "ask", json.RawMessage(`{"q":"<"}`), "t", true, "0", time.Second, time.Minute, usage}},
			Context: "the skill", Artifacts: []Artifact{{"n", "d", 3}}, Usage: usage, Model: "m", Latency: 1500 * time.Microsecond, Attempts: 2, Retries: []string{"it broke"},
			Notes: []string{"odd", ""}, Exchange: &Exchange{json.RawMessage(`{}`), json.RawMessage(`null`)},
		},
		Events: []Event{{ID: 1, Kind: ModelEvent, Name: "m", Start: 1, Duration: time.Second, Usage: usage, Error: "e"}, {ID: 2, Parent: 1, Kind: ScoreEvent}},
		Notes:  []string{"note"},
	}
}

func fullCase() *Case {
	return &Case{
		ID: "c", Name: "n <>", Description: "d", Suite: "s", Project: "p", Tool: "t", Difficulty: Advanced, Tags: []string{"x", "y"},
		Input: json.RawMessage(`{"q":"\u003c"}`), Target: "docs", Trials: 3,
		Checks: []*Check{
			{Key: "k", Kind: "contains", Weight: 2, Severity: WarnSeverity, Not: true, Of: RawPart, Mode: "m", Implicit: true, Skip: "why", Grader: params{"value": "x"}},
			{Key: "l", Kind: "long", Grader: params{"pos": map[string]any{"line": 3}}},
			{Key: "m", Kind: "other", Pos: Pos{File: "other.yaml", Line: 1}},
		},
		Places: []Place{{3, 4}, {}, {}}, Pos: Pos{"f.yaml", 2, 1},
	}
}

type params map[string]any

func (params) Grade(context.Context, *Attempt) (Score, error) {
	return Score{}, errors.New("not asked")
}

func encoded(t testing.TB, write func(e *Encoder)) []byte {
	t.Helper()
	var e Encoder
	write(&e)
	b, err := e.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The oracles: the same JSON through encoding/json, with the reflection that
// this package avoids.
type (
	oracleResponse struct {
		Text       string          `json:"text"`
		Raw        string          `json:"raw,omitempty"`
		Structured json.RawMessage `json:"structured,omitempty"`
		IsError    bool            `json:"is_error,omitempty"`
		Meta       map[string]any  `json:"meta,omitempty"`
		MetaBroken string          `json:"meta_broken,omitempty"`
		Sources    []Source        `json:"sources,omitempty"`
		Steps      []stepJSON      `json:"steps,omitempty"`
		Context    string          `json:"context,omitempty"`
		Artifacts  []Artifact      `json:"artifacts,omitempty"`
		Usage      *Usage          `json:"usage,omitempty"`
		Model      string          `json:"model,omitempty"`
		Attempts   int             `json:"attempts,omitempty"`
		Retries    []string        `json:"retries,omitempty"`
		Notes      []string        `json:"notes,omitempty"`
		Exchange   *Exchange       `json:"exchange,omitempty"`
		Digest     string          `json:"context_digest,omitempty"`
	}
	oracleScore struct {
		Key        string         `json:"key"`
		Kind       string         `json:"kind"`
		Status     Status         `json:"status"`
		Value      *float64       `json:"value,omitempty"`
		Weight     float64        `json:"weight,omitempty"`
		Severity   Severity       `json:"severity,omitempty"`
		Reason     string         `json:"reason,omitempty"`
		Details    map[string]any `json:"details,omitempty"`
		Findings   []Finding      `json:"findings,omitempty"`
		Checks     []oracleScore  `json:"checks,omitempty"`
		Usage      *Usage         `json:"usage,omitempty"`
		DurationMS float64        `json:"duration_ms,omitempty"`
		Mode       string         `json:"mode,omitempty"`
		Implicit   bool           `json:"implicit,omitempty"`
		Negated    bool           `json:"negated,omitempty"`
		Stop       string         `json:"stop,omitempty"`
	}
	oracleResult struct {
		Suite      string          `json:"suite,omitempty"`
		Case       string          `json:"case"`
		Arm        string          `json:"arm,omitempty"`
		Trial      int             `json:"trial"`
		Target     string          `json:"target,omitempty"`
		Status     Status          `json:"status"`
		Value      float64         `json:"value"`
		Started    time.Time       `json:"started"`
		DurationMS float64         `json:"duration_ms"`
		LatencyMS  float64         `json:"latency_ms,omitempty"`
		Scores     []oracleScore   `json:"scores,omitempty"`
		Fault      *Fault          `json:"error,omitempty"`
		Response   *oracleResponse `json:"response,omitempty"`
		Events     []eventJSON     `json:"events,omitempty"`
		Notes      []string        `json:"notes,omitempty"`
	}
	oracleCase struct {
		ID          string          `json:"id"`
		Name        string          `json:"name,omitempty"`
		Description string          `json:"description,omitempty"`
		Suite       string          `json:"suite,omitempty"`
		Project     string          `json:"project,omitempty"`
		Tool        string          `json:"tool,omitempty"`
		Difficulty  Difficulty      `json:"difficulty,omitempty"`
		Tags        []string        `json:"tags,omitempty"`
		Input       json.RawMessage `json:"input,omitempty"`
		Target      string          `json:"target,omitempty"`
		Trials      int             `json:"trials,omitempty"`
		Checks      []checkJSON     `json:"checks,omitempty"`
		Pos         Pos             `json:"pos,omitzero"`
	}
)

// rewritten is JSON after a way through encoding/json and the type T.
func rewritten[T any](t testing.TB, b []byte) []byte {
	t.Helper()
	var v T
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// TestEncoderWritesWhatEncodingJSONWrites: same members, same order, same
// spelling.
func TestEncoderWritesWhatEncodingJSONWrites(t *testing.T) {
	for _, r := range []*Result{fullResult(), {Case: &Case{}}, {Response: &Response{}, Case: &Case{ID: "x"}}} {
		b := encoded(t, func(e *Encoder) { e.Result(r, "") })
		if diff := cmp.Diff(string(rewritten[oracleResult](t, b)), string(b)); diff != "" {
			t.Errorf("result (-encoding/json +ours):\n%s", diff)
		}
	}
	for _, c := range []*Case{fullCase(), {ID: "x"}} {
		b := encoded(t, func(e *Encoder) { e.Case(c) })
		if diff := cmp.Diff(string(rewritten[oracleCase](t, b)), string(b)); diff != "" {
			t.Errorf("case (-encoding/json +ours):\n%s", diff)
		}
	}
	b := encoded(t, func(e *Encoder) { e.Result(fullResult(), "sha256:1") })
	if bytes.Contains(b, []byte("the skill")) || !bytes.Contains(b, []byte(`"context_digest":"sha256:1"`)) {
		t.Errorf("the context is not kept by its digest: %s", b)
	}
}

func TestEncoderTellsWhatHasNoForm(t *testing.T) {
	for name, r := range map[string]*Result{
		"NaN":          {Case: &Case{}, Value: math.NaN()},
		"Inf detail":   {Case: &Case{}, Scores: []Score{{Details: map[string]any{"x": math.Inf(1)}}}},
		"function":     {Case: &Case{}, Scores: []Score{{Details: map[string]any{"x": func() {}}}}},
		"broken raw":   {Case: &Case{}, Response: &Response{Structured: json.RawMessage(`{"a":`)}},
		"two raws":     {Case: &Case{}, Response: &Response{Structured: json.RawMessage(`{}{}`)}},
		"distant year": {Case: &Case{}, Started: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"cycle":        {Case: &Case{}, Scores: []Score{{Details: cyclic()}}},
	} {
		if b, err := json.Marshal(r); err == nil {
			t.Errorf("%s is encoded: %s", name, b)
		}
	}
}

func cyclic() map[string]any {
	m := map[string]any{}
	m["m"] = m
	return m
}

func TestRawIsWrittenWithoutSpaces(t *testing.T) {
	b := encoded(t, func(e *Encoder) { e.Raw(json.RawMessage("{ \"a\" : [ 1 ,\n\"b  c\" ] }")) })
	if got, want := string(b), `{"a":[1,"b  c"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

var sameValue = cmp.Options{
	cmpopts.EquateEmpty(), cmp.AllowUnexported(Check{}),
	cmp.Transformer("float", func(n Number) string { return strconv.FormatFloat(float64(n), 'g', -1, 64) }),
	cmp.Transformer("places", func(c *Case) any {
		if c == nil {
			return nil
		}
		type plain Case
		whole := plain(*c)
		whole.Places, whole.Checks = nil, nil
		for i := range c.Checks {
			own := *c.Checks[i]
			own.Pos = c.CheckPos(i)
			whole.Checks = append(whole.Checks, &own)
		}
		return whole
	}),
}

// TestDecoderReadsBack, and without a call of encoding/json.
func TestDecoderReadsBack(t *testing.T) {
	var d Decoder
	want := fullResult()
	b := encoded(t, func(e *Encoder) { e.Result(want, "") })
	if p := d.parse(b); true {
		if p.result(new(Result), new(Identity)); !p.done() {
			t.Fatalf("the fast way ends at %q", b[p.i:])
		}
	}
	got, digest, err := d.Result(append(b, '\n'), nil)
	if err != nil || digest != "" {
		t.Fatal(digest, err)
	}
	want.Events[0].Start = 0 // below a microsecond
	if diff := cmp.Diff(plainValues(t, want), plainValues(t, got)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	id, status, err := d.Identity(b)
	if err != nil || id != want.Identity() || status != Fail {
		t.Errorf("Identity gives %v, %s, %v", id, status, err)
	}

	c := fullCase()
	b = encoded(t, func(e *Encoder) { e.Case(c) })
	for range 2 { // the second time from what was remembered
		p := d.parse(b)
		if p.wholeCase(new(Case)); !p.done() {
			t.Fatalf("the fast way ends at %q", b[p.i:])
		}
		back, err := d.Case(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(b), string(encoded(t, func(e *Encoder) { e.Case(back) }))); diff != "" {
			t.Errorf("case written again (-want +got):\n%s", diff)
		}
		if !back.Checks[0].Not || back.Checks[0].Of != RawPart {
			t.Errorf("not and of of the rule are lost: %+v", back.Checks[0])
		}
	}
}

// plainValues is a result as generic JSON: details come back as other types.
func plainValues(t *testing.T, r *Result) (v any) {
	t.Helper()
	if err := json.Unmarshal(encoded(t, func(e *Encoder) { e.Result(r, "") }), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDecoderSharesChecks: cases with the same check get one.
func TestDecoderSharesChecks(t *testing.T) {
	var d Decoder
	read := func(line string) *Case {
		c, err := d.Case([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a := read(`{"id":"a","checks":[{"key":"k","kind":"k","rule":{"type":"k"},"pos":{"file":"f","line":3}}],"pos":{"file":"f","line":1}}`)
	b := read(`{"id":"b","checks":[{"key":"k","kind":"k","rule":{"type":"k"},"pos":{"file":"f","line":9,"col":2}}],"pos":{"file":"f","line":8}}`)
	c := read(`{"id":"c","checks":[{"key":"k","kind":"k","rule":{"type":"k"},"pos":{"file":"g","line":1}}],"pos":{"file":"f","line":8}}`)
	if a.Checks[0] != b.Checks[0] || a.Checks[0] == c.Checks[0] {
		t.Error("checks are not shared as they can be")
	}
	for _, test := range []struct {
		c    *Case
		want string
	}{{a, "f:3"}, {b, "f:9:2"}, {c, "g:1"}} {
		if got := test.c.CheckPos(0).String(); got != test.want {
			t.Errorf("the check of %s is at %s, want %s", test.c.ID, got, test.want)
		}
	}
}

var resultLines = []string{
	`{}`, `null`, `[]`, ``, `{"case":"a","trial":1}`, `{"case":"a","trial":1} `, ` {"case":"a","trial":1}`, `{"CASE":"a","Trial":1}`,
	`{"trial":1,"case":"a"}`, `{"case":"a","case":"b","trial":1}`, `{"case":"a","trial":1.0}`, `{"case":"a","trial":99999999999999999999}`,
	`{"case":"a","trial":-0,"value":-0}`, `{"case":"\ud800","trial":1}`, `{"case":"\ud83d\ude00","trial":1}`, `{"case":"\ud83dx","trial":1}`,
	"{\"case\":\"\xff\",\"trial\":1}", "{\"case\":\"a\tb\"}", `{"case":"\q"}`, `{"case":"a`, `{"case":"a\`, `{"case":"\u12`, `{"case":"\u00zz"}`, `{"case":"\u00@0"}`,
	`{"case":"a","trial":1,"value":1e400}`, `{"case":"a","value":0.1234567890123456789}`, `{"case":"a","value":12345678901234567}`, `{"case":"a","value":01}`,
	`{"case":"a","value":1.}`, `{"case":"a","value":1e}`, `{"case":"a","value":.5}`, `{"case":"a","value":-}`, `{"case":"a","value":9007199254740993}`,
	`{"case":"a","started":"2026-03-01T09:30:00Z"}`, `{"case":"a","started":"yesterday"}`, `{"case":"a","started":"2026-03-01T09:30:00+01:00"}`,
	`{"case":"a","scores":[]}`, `{"case":"a","scores":[null]}`, `{"case":"a","scores":[{"details":{"a":1,"a":2}}]}`, `{"case":"a","scores":[{"value":null}]}`,
	`{"case":"a","response":{}}`, `{"case":"a","response":null}`, `{"case":"a","response":{"structured":{"a":[1,{}]},"exchange":{"request":[],"response":"\ud800"}}}`,
	`{"case":"a","response":{"steps":[{"kind":"call"}]},"steps":[{"start_ms":1,"duration_ms":2.5},{"start_ms":3}]}`,
	`{"case":"a","latency_ms":1.5,"response":{"text":"x","usage":{"calls":1,"cost_usd":0.5}}}`, `{"case":"a","response":{"usage":{"cost_usd":null}}}`,
	`{"case":"a","response":{"usage":{"cost_usd":1e999}}}`, `{"case":"a","unknown":[1,2]}`, `{"case":"a"}{}`, `{"case":"a"},`, `{"case":"a",}`, `{,"case":"a"}`,
	`{"case":"a","response":{"meta":{"a":{"b":[true,false,null,"x"]}}},"events":[{"id":1,"kind":"tool"}],"notes":["n"]}`,
	`{"case":"a","response":{"structured":{"a":1,}}}`, `{"case":"a","response":{"structured":{"a" :1}}}`, `{"case":"a","response":{"structured":tru}}`,
}

// FuzzDecodeResult: encoding/json reads the same, or both refuse it.
func FuzzDecodeResult(f *testing.F) {
	for _, line := range resultLines {
		f.Add([]byte(line))
	}
	f.Add(encoded(f, func(e *Encoder) { e.Result(fullResult(), "d") }))
	f.Fuzz(func(t *testing.T, line []byte) {
		var j resultJSON
		wantErr := json.Unmarshal(line, &j)
		want, wantDigest := j.result()
		var d Decoder
		got, digest, err := d.Result(line, nil)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, encoding/json gives %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, got, sameValue); diff != "" || digest != wantDigest {
			t.Fatalf("result (-encoding/json +ours):\n%s\ndigest %q, want %q", diff, digest, wantDigest)
		}
		if p := d.parse(line); p.result(new(Result), new(Identity)) == digest && p.done() {
			if id, status, err := d.Identity(line); err != nil || id != got.Identity() || status != got.Status {
				t.Fatalf("identity %v, %s, %v, want %v, %s", id, status, err, got.Identity(), got.Status)
			}
		}
		roundTrip(t, got)
	})
}

// roundTrip: what is written again is read as the same.
func roundTrip(t *testing.T, r *Result) {
	t.Helper()
	var e Encoder
	e.Result(r, "")
	b, err := e.Bytes()
	if err != nil {
		return // a year that cannot be written
	}
	if again := rewritten[oracleResult](t, b); string(again) != string(b) {
		t.Fatalf("encoding/json writes\n%s, not\n%s", again, b)
	}
	back, _, err := new(Decoder).Result(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	var second Encoder
	second.Result(back, "")
	if b2, _ := second.Bytes(); string(b2) != string(b) {
		t.Fatalf("written again:\n%s, not\n%s", b2, b)
	}
}

func FuzzDecodeCase(f *testing.F) {
	for _, line := range []string{
		`{}`, `null`, `{"id":"a"}`, `{"id":"a","tags":[]}`, `{"id":"a","input":null}`, `{"id":"a","checks":[]}`, `{"id":"a","checks":[null]}`,
		`{"id":"a","checks":[{"key":"k","rule":{"type":"t","not":true,"of":"raw","x":1}}]}`, `{"id":"a","checks":[{"rule":{"x":1,"NOT":true}}]}`,
		`{"id":"a","checks":[{"rule":{"pos":{"line":1}}}]}`, `{"id":"a","checks":[{"rule":{"pos":{"line":1}},"pos":{"line":2}}],"pos":{"file":"f"}}`,
		`{"id":"a","checks":[{"pos":{"line":2}}]}`, `{"id":"a","checks":[{"rule":null}]}`, `{"id":"a","checks":[{"rule":[1]}]}`, `{"id":"a","checks":[{"rule":{"not":1}}]}`,
		`{"id":"a","checks":[{"key":"k","pos":{"file":"f","line":99999999999}}],"pos":{"file":"f"}}`, `{"id":"a","checks":[{"key":"k","pos":{"file":"f","line":-1}}],"pos":{"file":"f"}}`,
	} {
		f.Add([]byte(line))
	}
	f.Add(encoded(f, func(e *Encoder) { e.Case(fullCase()) }))
	f.Fuzz(func(t *testing.T, line []byte) {
		type plain Case
		var want Case
		wantErr := json.Unmarshal(line, (*plain)(&want))
		if slices.Contains(want.Checks, nil) {
			wantErr = errors.New("a check is null")
		}
		var d Decoder
		for range 2 { // the second time from what it remembers
			got, err := d.Case(line)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("error %v, encoding/json gives %v", err, wantErr)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(&want, got, sameValue); diff != "" {
				t.Fatalf("case (-encoding/json +ours):\n%s", diff)
			}
		}
	})
}

// FuzzDecodeVerdicts, and what is written of them.
func FuzzDecodeVerdicts(f *testing.F) {
	for _, s := range []string{
		`[]`, `null`, `[null]`, `[{}]`, `[{"suite":"s","case":"c","arm":"a","trials":["pass",""],"values":[1,null],"scores":{"b":[0.5],"a":[null,1e-9]}}]`,
		`[{"case":"c","trials":null}]`, `[{"case":"c","values":["x"]}]`, `[{"case":"c","scores":{"a":1}}]`, `[{"case":"c","values":[1e999]}]`, `[{"case":"c","scores":{}}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want []Verdicts
		wantErr := json.Unmarshal(b, &want)
		got, err := new(Decoder).Verdicts(b)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v, encoding/json gives %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(want, got, sameValue); diff != "" {
			t.Fatalf("verdicts (-encoding/json +ours):\n%s", diff)
		}
		again, err := new(Decoder).Verdicts(encoded(t, func(e *Encoder) { e.Verdicts(got) }))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, again, sameValue); diff != "" {
			t.Fatalf("written and read again (-want +got):\n%s", diff)
		}
	})
}

// FuzzAppendString holds our quoting to that of encoding/json.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\x7f\b\f\n\r\t", "Größe", "\xff\xfe", "\u2028\u2029", "12345678\"", "1234567\u20ac9012345678", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := string(appendString(nil, s)); got != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("got %s, want %s", got, want.String())
		}
	})
}

// benchResult is a result of the whole-command benchmark.
func benchResult() *Result {
	const answer = "o1js is a TypeScript library for writing zero-knowledge programs [Source 1]. You describe a computation with its types, it turns the description into a circuit, and anyone with the right inputs can make a proof that the computation was done."
	const raw = answer + "\n\n---\n<response_metadata>\n```json\n{\"confidence\": 80, \"sourcesUsed\": 1}\n```\n</response_metadata>\n\n### Sources\n[1] o1js\n    https://docs.example/o1js\n"
	score := func(kind, reason string, details map[string]any) Score {
		return Score{Key: kind, Kind: kind, Status: Pass, Value: 1, Weight: 1, Severity: ErrorSeverity, Reason: reason, Details: details, Duration: 3 * time.Microsecond}
	}
	sent, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": raw}}})
	return &Result{
		Case: &Case{ID: "bench-000001", Suite: "bench 0"}, Target: "url", Trial: 1, Status: Pass, Value: 1,
		Started: time.Date(2026, 3, 1, 9, 30, 0, 122050573, time.UTC), Duration: 5625 * time.Microsecond,
		Scores: []Score{
			score("min_length", "241 characters (at least 100)", map[string]any{"length": 241}),
			score("contains", `contains "zero-knowledge"`, nil),
			score("has_citation", `1 citation, the first "[Source 1]"`, map[string]any{"citations": 1}),
			score("matches_regex", `"circuit" matches /circuit|proof/`, nil),
			score("not_error", "the answer is not an error", nil),
		},
		Response: &Response{
			Text: answer, Raw: raw, Meta: map[string]any{"confidence": 80.0, "sourcesUsed": 1.0}, Latency: 5397 * time.Microsecond,
			Sources:  []Source{{1, "o1js", "https://docs.example/o1js"}},
			Steps:    []Step{{ID: "1", Kind: CallStep, Name: "ask_docs", Duration: 5397 * time.Microsecond}},
			Exchange: &Exchange{json.RawMessage(`{"name":"ask_docs","arguments":{"question":"What is o1js, for the 1th time?"}}`), sent},
		},
		Events: []Event{{ID: 1, Kind: ToolEvent, Name: "ask_docs", Duration: 5397 * time.Microsecond}},
	}
}

func benchCase() *Case {
	c := &Case{
		ID: "bench-000001", Name: "What is o1js?", Suite: "bench 0", Project: "mina", Tool: "ask_docs", Difficulty: Basic,
		Input: json.RawMessage(`{"question":"What is o1js, for the 1th time?"}`), Target: "url", Pos: Pos{"suites/bench.yaml", 5, 5},
	}
	for i, kind := range []string{"min_length", "contains", "has_citation", "matches_regex", "not_error"} {
		c.Checks = append(c.Checks, &Check{Key: kind, Kind: kind, Weight: 1, Severity: ErrorSeverity, Mode: "mode of " + kind, Implicit: i == 4, Grader: params{"value": "zero-knowledge"}})
		c.Places = append(c.Places, Place{int32(10 + i), 11})
	}
	return c
}

func BenchmarkEncodeResult(b *testing.B) {
	b.ReportAllocs()
	var e Encoder
	for r := benchResult(); b.Loop(); {
		e.Reset()
		e.Result(r, "")
	}
	b.SetBytes(int64(len(e.buf)))
}

func BenchmarkDecodeResult(b *testing.B) {
	line := encoded(b, func(e *Encoder) { e.Result(benchResult(), "") })
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for d := new(Decoder); b.Loop(); {
		if _, _, err := d.Result(line, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeResultByReflection(b *testing.B) {
	line := encoded(b, func(e *Encoder) { e.Result(benchResult(), "") })
	b.ReportAllocs()
	for b.Loop() {
		var j resultJSON
		if err := json.Unmarshal(line, &j); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeCase(b *testing.B) {
	b.ReportAllocs()
	var e Encoder
	for c := benchCase(); b.Loop(); {
		e.Reset()
		e.Case(c)
	}
}

func BenchmarkDecodeCase(b *testing.B) {
	line := encoded(b, func(e *Encoder) { e.Case(benchCase()) })
	b.ReportAllocs()
	for d := new(Decoder); b.Loop(); {
		if _, err := d.Case(line); err != nil {
			b.Fatal(err)
		}
	}
}
