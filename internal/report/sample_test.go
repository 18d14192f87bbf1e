package report

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// rule is a grader as a suite states it; what it would say does not matter
// here, because the results are made by hand.
type rule map[string]any

func (rule) Grade(context.Context, *eval.Attempt) (eval.Score, error) {
	return eval.Score{}, errors.New("not asked")
}

func check(key, kind string, r rule) *eval.Check {
	return &eval.Check{Key: key, Kind: kind, Weight: 1, Severity: eval.ErrorSeverity, Grader: r}
}

func forbidden(word string) *eval.Check {
	c := check("forbidden:"+word, "contains", rule{"value": word})
	c.Not, c.Mode = true, "cross-project contamination"
	return c
}

func notError() *eval.Check {
	c := check("not_error", "is_error", nil)
	c.Not, c.Implicit, c.Mode = true, true, "error answer"
	return c
}

// scored is a check's score, with what the check knows filled in.
func scored(c *eval.Check, status eval.Status, value float64, reason string) eval.Score {
	s := eval.Score{
		Key: c.Key, Kind: c.Kind, Status: status, Value: value, Weight: c.Weight, Severity: c.Severity,
		Reason: reason, Implicit: c.Implicit,
	}
	if status != eval.Pass {
		s.Mode = c.Mode
	}
	return s
}

// hostile is what a target would say to take over whatever shows it.
const hostile = "Ignore this \x1b[2J\x1b]0;owned\x07 title\r\n" +
	"::error file=main.go,line=1::not yours\n##[error]nor this\n" +
	"]]> <!-- </details> <script>alert(1)</script> | a | b |\n" +
	"```\nfence\n````\n@octocat fixes #1 https://evil.example www.evil.example\n" +
	"NUL \x00 C1 \u009b31m bidi \u202eevil\u202c zero\u200bwidth \ufeffbom \xff\xfe end % 100"

var bigAnswer = strings.Repeat("lorem ipsum dolor ", 1<<20/18) + "end"

var sampleStart = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func sampleCase(id, name string, line int, checks ...*eval.Check) *eval.Case {
	return &eval.Case{
		ID: id, Name: name, Description: "About " + id, Suite: "Mina basics", Project: "mina", Tool: "ask_docs",
		Difficulty: eval.Basic, Tags: []string{"smoke"}, Input: json.RawMessage(`{"question":"a \u003c b \u0026 c?"}`),
		Target: "docs", Checks: checks, Pos: eval.Pos{File: "suites/mina/basic.yaml", Line: line, Col: 5},
	}
}

func answered(c *eval.Case, status eval.Status, ms int, text string, scores ...eval.Score) *eval.Result {
	r := &eval.Result{
		Case: c, Target: c.Target, Trial: 1, Status: status, Started: sampleStart,
		Duration: time.Duration(ms+1) * time.Millisecond, Scores: scores,
		Response: &eval.Response{Text: text, Latency: time.Duration(ms)*time.Millisecond + 400*time.Microsecond},
	}
	var weight float64
	for _, s := range scores {
		if s.Status != eval.Unscored && !s.Implicit {
			r.Value += s.Value
			weight++
		}
	}
	if weight > 0 {
		r.Value /= weight
	}
	return r
}

func confident(r *eval.Result, confidence, sources float64) *eval.Result {
	r.Response.Meta = map[string]any{"confidence": confidence, "sourcesUsed": sources}
	r.Response.Raw = r.Response.Text + "\n\n<response_metadata>{}</response_metadata>"
	return r
}

func broken(c *eval.Case, class, message string) *eval.Result {
	return &eval.Result{
		Case: c, Target: c.Target, Trial: 1, Status: eval.Error, Started: sampleStart,
		Duration: 5 * time.Second, Fault: &eval.Fault{Class: class, Message: message},
	}
}

// sampleResults holds every status, repeated trials, and answers that mean
// harm.
func sampleResults() []*eval.Result {
	return slices.Concat(plainResults(), trialResults(), oddResults(), searchResults())
}

func plainResults() []*eval.Result {
	minLength := check("min_length", "min_length", rule{"chars": 200})
	keyword := check("keyword:o1js", "contains", rule{"value": "o1js"})
	keyword.Mode = "missing keyword"
	imports := check("import:o1js", "has_import", rule{"module": "o1js"})
	imports.Mode = "missing code"
	first := sampleCase("mina-basic-001", "What is o1js?", 12, minLength, keyword, forbidden("solana"), imports, notError())
	second := sampleCase("mina-basic-002", "Which types does a <Field> & a `Bool` have?", 31, minLength, keyword, forbidden("solana"), imports, notError())
	second.Difficulty = eval.Intermediate

	failed := scored(minLength, eval.Fail, 0, "42 characters, want 200").Detail("length", 42)
	return []*eval.Result{
		confident(answered(first, eval.Pass, 120, "o1js is a TypeScript library [Source 1].",
			scored(minLength, eval.Pass, 1, "240 characters, want 200"), scored(keyword, eval.Pass, 1, `found "o1js"`),
			scored(first.Checks[2], eval.Pass, 1, `"solana" is not there`), scored(imports, eval.Pass, 1, `imports "o1js"`),
			scored(first.Checks[4], eval.Pass, 1, "no error")), 85, 3),
		confident(answered(second, eval.Fail, 200, "Felder & Größen: 有限体\r\nuse solana_program::pubkey;\r\n",
			failed, scored(keyword, eval.Fail, 0, `missing: "o1js"`),
			scored(second.Checks[2], eval.Fail, 0, `found "solana" in the answer: "Felder & Größen: 有限体 use solana_program::pubkey;", which must not be`),
			scored(imports, eval.Unscored, 0, "the code block is not closed"), scored(second.Checks[4], eval.Pass, 1, "no error")), 0, 0),
	}
}

func trialResults() []*eval.Result {
	cited := check("has_citation", "has_citation", rule{})
	cited.Mode = "no citation"
	c := sampleCase("mina-basic-003", "Three times the same question", 50, cited)
	one := confident(answered(c, eval.Pass, 90, "Yes [1].", scored(cited, eval.Pass, 1, "1 citation")), 70, 1)
	one.Response.Attempts, one.Response.Retries = 3, []string{"server answered 503 Service Unavailable", "the server process ended (exit status 3)"}
	two := confident(answered(c, eval.Fail, 95, "Yes.", scored(cited, eval.Fail, 0, "no citation such as [1] or [Source 1]")), 62.5, 1)
	two.Trial = 2
	three := broken(c, eval.TimeoutFault, "no answer within 5s: context deadline exceeded")
	three.Trial = 3
	return []*eval.Result{one, two, three}
}

func oddResults() []*eval.Result {
	matches := check("matches_regex", "matches_regex", rule{"pattern": `(?<!\d)<T>`})
	hurt := sampleCase("mina-hostile", "Answer \x1b[31mred\x1b[0m | <b>name</b>", 70, matches)
	hurt.Difficulty = eval.Advanced

	judge := check("faithful", "judge", rule{"criteria": "says only what the page says"})
	judge.Mode = "judge"
	open := sampleCase("mina-judged", "The judge is away", 80, judge)

	style := check("style", "max_length", rule{"chars": 10})
	style.Severity = eval.WarnSeverity
	warned := sampleCase("mina-warned", "Too long, but never mind", 90, check("contains", "contains", rule{"value": "zk"}), style)
	long := sampleCase("mina-long", "A megabyte of answer", 95, matches)

	refused := sampleCase("mina-refused", "The server refuses", 99, notError(), matches)
	refusal := answered(refused, eval.Fail, 10, "Error: index is empty",
		scored(refused.Checks[0], eval.Fail, 0, "the answer is an error: Error: index is empty, which must not be"),
		scored(matches, eval.Fail, 0, "does not match (?<!\\d)<T>"))
	refusal.Response.IsError = true

	away := broken(sampleCase("mina-away", "Nobody is there", 110, matches), eval.TransportFault,
		"POST http://127.0.0.1:3000/mcp: dial tcp:\nconnection \x1b[1mrefused")
	skipped := &eval.Result{
		Case: sampleCase("mina-skipped", "Not now", 120, matches), Target: "docs", Trial: 1, Status: eval.Skip,
		Fault: &eval.Fault{Class: "skipped", Message: "tag slow is left out"},
	}
	return []*eval.Result{
		answered(hurt, eval.Fail, 30, hostile, scored(matches, eval.Fail, 0, "does not match (?<!\\d)<T>, starts with: "+hostile)),
		answered(open, eval.Unscored, 40, "Perhaps.", scored(judge, eval.Unscored, 0, "ask the judge: 529 overloaded")),
		answered(warned, eval.Pass, 50, "zk all the way down", scored(warned.Checks[0], eval.Pass, 1, `found "zk"`),
			scored(style, eval.Fail, 0, "19 characters, want 10 or fewer")),
		answered(long, eval.Fail, 60, bigAnswer, scored(matches, eval.Fail, 0, "does not match (?<!\\d)<T>, text: "+bigAnswer)),
		refusal, away, skipped,
	}
}

func searchResults() []*eval.Result {
	recall := check("recall_at_k", "recall_at_k", rule{"k": 5, "relevant": []string{"https://example.org/pda?a=1&b=2"}})
	mrr := check("mrr", "mrr", rule{"relevant": []string{"pda"}})
	c := sampleCase("solana-search-001", "👩‍💻 検索: プログラム派生アドレスはどこにありますか", 7, recall, mrr)
	c.Suite, c.Project, c.Tool, c.Difficulty, c.Tags = "Solana search", "solana", "search_docs", eval.Advanced, nil
	c.Pos = eval.Pos{File: "suites/solana, new/search:1.yaml", Line: 7}
	other := sampleCase("solana-projects", "", 20, recall)
	other.Suite, other.Project, other.Tool, other.Input = "Solana search", "solana", "list_projects", nil
	other.Pos = eval.Pos{File: "suites/solana, new/search:1.yaml", Line: 20}
	return []*eval.Result{
		answered(c, eval.Pass, 15, "1. PDA", scored(recall, eval.Pass, 0.75, "3 of 4 relevant pages in the first 5"),
			scored(mrr, eval.Pass, 1, "first relevant page at rank 1")),
		answered(other, eval.Pass, 5, "mina, solana", scored(recall, eval.Pass, 1, "all found")),
	}
}

// sampleKinds are what the catalogue of graders says of the kinds in the sample.
var sampleKinds = map[string]eval.KindInfo{
	"judge":       {Graded: true},
	"recall_at_k": {Graded: true, Section: eval.RetrievalSection, Order: 1},
	"mrr":         {Graded: true, Section: eval.RetrievalSection, Order: 2},
}

// runOf is a finished run of the results, with the numbers they add up to.
func runOf(results []*eval.Result, gates ...string) *eval.Run {
	run := &eval.Run{Header: eval.Header{
		ID: "20260301-093000-abcd", Format: eval.FormatVersion, Tool: "1.2.3", Status: eval.Done,
		Started: sampleStart, Finished: sampleStart.Add(6543210 * time.Microsecond), Planned: len(results), Trials: 1,
		Suites: []eval.Suite{
			{Name: "Mina basics", Project: "mina", Version: "1.0", File: "suites/mina/basic.yaml", Digest: "sha256:11"},
			{Name: "Solana search", Project: "solana", Version: "1.0", File: "suites/solana, new/search:1.yaml"},
		},
		Targets: map[string]map[string]string{"docs": {"server": "crypto-docs 1.0", "protocol": "2024-11-05"}},
		Git:     &eval.Git{Revision: "0123abcd", Dirty: true},
		Kinds:   sampleKinds,
	}}
	for _, text := range gates {
		g, err := eval.ParseGate(text)
		if err != nil {
			panic(err)
		}
		run.Gates = append(run.Gates, g)
	}
	tally := eval.NewTally(eval.EffectiveGates(run.Gates, run.Suites), run.Kinds)
	for _, r := range results {
		tally.Add(r)
		run.Trials = max(run.Trials, r.Trial)
	}
	run.Summary, run.Outcomes, run.Cases = tally.Summary(), tally.Outcomes(), tally.Verdicts()
	run.Judge()
	run.Results = func() iter.Seq2[*eval.Result, error] { return withNil(results) }
	return run
}

func withNil(results []*eval.Result) iter.Seq2[*eval.Result, error] {
	return func(yield func(*eval.Result, error) bool) {
		for _, r := range results {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func sampleRun() *eval.Run {
	return runOf(sampleResults(), "pass_rate >= 80%", "pass_rate{difficulty=advanced} >= 50%", "latency_p95 <= 2s",
		"confidence{tag=none} >= 70", "failed <= 3")
}

func emptyRun() *eval.Run { return runOf(nil) }

// stoppedRun ended early: nothing of it failed, and that is no pass.
func stoppedRun() *eval.Run {
	run := runOf(plainResults()[:1])
	run.Planned, run.Header.Status = 40, eval.Stopped
	run.Why = "25 results in a row have no answer, the last: dial tcp: refused"
	run.Judge()
	return run
}

// largeRun has n results, every third of which failed and every seventh of
// which has no answer; they are made as they are read.
func largeRun(n int) *eval.Run {
	keyword := check("keyword:o1js", "contains", rule{"value": "o1js"})
	keyword.Mode = "missing keyword"
	result := func(i int) *eval.Result {
		c := sampleCase("case-"+strings.Repeat("0", i%3)+time.Duration(i).String(), "A generated case", i+1, keyword)
		switch {
		case i%7 == 0:
			return broken(c, eval.TransportFault, "connection refused")
		case i%3 == 0:
			return answered(c, eval.Fail, 20, "Nothing to see. "+strings.Repeat("Text. ", 50), scored(keyword, eval.Fail, 0, `missing: "o1js"`))
		}
		return confident(answered(c, eval.Pass, 10, "o1js is here. "+strings.Repeat("Text. ", 50), scored(keyword, eval.Pass, 1, "found")), 80, 2)
	}
	seq := func(yield func(*eval.Result, error) bool) {
		for i := range n {
			if !yield(result(i), nil) {
				return
			}
		}
	}
	run := runOf(nil, "pass_rate >= 50%")
	tally := eval.NewTally(eval.EffectiveGates(run.Gates, run.Suites), run.Kinds)
	for r := range seq {
		tally.Add(r)
	}
	run.Planned, run.Summary, run.Outcomes = n, tally.Summary(), tally.Outcomes()
	run.Judge()
	run.Results = func() iter.Seq2[*eval.Result, error] { return seq }
	return run
}
