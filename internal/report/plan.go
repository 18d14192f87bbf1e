package report

import (
	"encoding/json"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
)

// The types of the JSON report. Names and order follow the evaluation report
// this format continues, whose readers exist; what it did not have stands
// after it in each object.

type testResult struct {
	TestCase     testCase     `json:"testCase"`
	Passed       bool         `json:"passed"`
	Validations  []validation `json:"validations"`
	Response     string       `json:"response"`
	Metadata     metadata     `json:"metadata"`
	ErrorMessage string       `json:"errorMessage,omitempty"`

	Status   eval.Status `json:"status"`
	Trial    int         `json:"trial"`
	Target   string      `json:"target,omitempty"`
	Score    *float64    `json:"score,omitempty"`
	Mode     string      `json:"failureMode,omitempty"`
	IsError  bool        `json:"isError,omitempty"`
	Attempts int         `json:"attempts,omitempty"`
	Model    string      `json:"model,omitempty"`
	Usage    *eval.Spent `json:"usage,omitempty"` // the judges' apart
	Notes    []string    `json:"notes,omitempty"`
	Error    *eval.Fault `json:"error,omitempty"`
}

type testCase struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Tool        string          `json:"tool"`
	Project     string          `json:"project"`
	Difficulty  eval.Difficulty `json:"difficulty"`
	Input       json.RawMessage `json:"input"`
	Expected    expected        `json:"expected"`
	Tags        []string        `json:"tags,omitempty"`

	Suite string    `json:"suite,omitempty"`
	Pos   *eval.Pos `json:"pos,omitempty"`
}

type expected struct {
	Validations       []json.RawMessage `json:"validations"`
	ExpectedKeywords  []string          `json:"expectedKeywords,omitempty"`
	ForbiddenKeywords []string          `json:"forbiddenKeywords,omitempty"`
	ExpectedImports   []string          `json:"expectedImports,omitempty"`
}

type metadata struct {
	Confidence       float64 `json:"confidence"`
	SourcesUsed      float64 `json:"sourcesUsed"`
	ProcessingTimeMS float64 `json:"processingTimeMs"`
}

type validation struct {
	Rule    json.RawMessage `json:"rule"`
	Passed  bool            `json:"passed"`
	Message string          `json:"message"`
	Details map[string]any  `json:"details,omitempty"`

	Status   eval.Status    `json:"status"`
	Key      string         `json:"key"`
	Value    *float64       `json:"value,omitempty"` // only a check with a verdict has one
	Weight   float64        `json:"weight"`
	Severity eval.Severity  `json:"severity,omitempty"`
	Mode     string         `json:"failureMode,omitempty"`
	Findings []eval.Finding `json:"findings,omitempty"`
	Checks   []eval.Score   `json:"checks,omitempty"` // inside this one
	Usage    *eval.Usage    `json:"usage,omitempty"`
}

type testFailure struct {
	TestID            string       `json:"testId"`
	TestName          string       `json:"testName"`
	FailedValidations []validation `json:"failedValidations"`

	Trial int    `json:"trial"`
	Mode  string `json:"failureMode,omitempty"`
}

func testResultOf(r *eval.Result) testResult {
	rules := rulesOf(r.Case)
	t := testResult{
		TestCase:    testCaseOf(r.Case, rules),
		Passed:      r.Status == eval.Pass,
		Validations: validationsOf(r, rules),
		Metadata:    metadataOf(r),
		Status:      r.Status,
		Trial:       r.Trial,
		Target:      r.Target,
		Mode:        r.Mode(),
		Error:       r.Fault,
		Usage:       r.Spent(),
	}
	if r.Status == eval.Pass || r.Status == eval.Fail {
		t.Score = &r.Value
	}
	if r.Fault != nil {
		t.ErrorMessage = r.Fault.Message
	}
	if resp := r.Response; resp != nil {
		t.Response = resp.RawText()
		t.IsError, t.Model, t.Notes = resp.IsError, resp.Model, resp.Notes
		t.Attempts = max(1, resp.Attempts)
	}
	return t
}

// rulesOf gives the rule of each check of a case, in their order.
func rulesOf(c *eval.Case) []json.RawMessage {
	rules := make([]json.RawMessage, len(c.Checks))
	for i, check := range c.Checks {
		rules[i] = check.Rule()
	}
	return rules
}

func testCaseOf(c *eval.Case, rules []json.RawMessage) testCase {
	t := testCase{
		ID: c.ID, Name: c.Name, Description: c.Description, Tool: c.Tool, Project: c.Project,
		Difficulty: c.Difficulty, Input: c.Input, Tags: c.Tags, Suite: c.Suite,
		Expected: expectedOf(c, rules),
	}
	if len(t.Input) == 0 {
		t.Input = json.RawMessage("{}")
	}
	if c.Pos != (eval.Pos{}) {
		t.Pos = &c.Pos
	}
	return t
}

// expectedOf gives back the sugar that the loader turned into checks, which it
// left a trace of in their keys.
func expectedOf(c *eval.Case, rules []json.RawMessage) expected {
	e := expected{Validations: []json.RawMessage{}}
	for i, check := range c.Checks {
		if check.Implicit {
			continue
		}
		if into := e.sugar(check.Key); into != nil {
			if word, ok := ruleWord(rules[i]); ok {
				*into = append(*into, word)
				continue
			}
		}
		e.Validations = append(e.Validations, rules[i])
	}
	return e
}

// sugar is the list that a check's key says it was written in, or nil.
func (e *expected) sugar(key string) *[]string {
	switch {
	case strings.HasPrefix(key, "keyword:"):
		return &e.ExpectedKeywords
	case strings.HasPrefix(key, "forbidden:"):
		return &e.ForbiddenKeywords
	case strings.HasPrefix(key, "import:"):
		return &e.ExpectedImports
	}
	return nil
}

// ruleWord is the one word a rule looks for: a keyword or a module.
func ruleWord(rule json.RawMessage) (string, bool) {
	var r struct {
		Value  any `json:"value"`
		Module any `json:"module"`
	}
	if json.Unmarshal(rule, &r) != nil {
		return "", false
	}
	if s, ok := r.Value.(string); ok {
		return s, true
	}
	s, ok := r.Module.(string)
	return s, ok
}

// validationsOf lists the scores in check order. What the loader added by
// itself is worth showing only when it did not pass.
func validationsOf(r *eval.Result, rules []json.RawMessage) []validation {
	out := make([]validation, 0, len(r.Scores))
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Implicit && s.Status == eval.Pass {
			continue
		}
		v := validation{
			Rule: ruleOf(r.Case, rules, i, s), Passed: s.Status == eval.Pass, Message: s.Reason, Details: s.Details,
			Status: s.Status, Key: s.Key, Weight: s.Weight, Severity: s.Severity, Findings: s.Findings,
			Checks: s.Checks, Usage: s.Usage,
		}
		if s.Counts() {
			v.Value = &s.Value
		}
		if s.Status != eval.Pass {
			v.Mode = s.Mode
		}
		out = append(out, v)
	}
	return out
}

// ruleOf finds the rule behind a score. Scores stand in check order, so the
// check at its own index is nearly always the one.
func ruleOf(c *eval.Case, rules []json.RawMessage, i int, s *eval.Score) json.RawMessage {
	if i < len(c.Checks) && c.Checks[i].Key == s.Key {
		return rules[i]
	}
	for j, check := range c.Checks {
		if check.Key == s.Key {
			return rules[j]
		}
	}
	rule, _ := json.Marshal(map[string]string{"type": s.Kind}) // two strings always marshal
	return rule
}

func metadataOf(r *eval.Result) metadata {
	m := metadata{ProcessingTimeMS: roundUp(eval.Millis(r.Duration))}
	if r.Response != nil {
		m.Confidence, _ = r.Response.Confidence()
		m.SourcesUsed, _ = r.Response.MetaNumber("sourcesUsed")
		m.ProcessingTimeMS = roundUp(eval.Millis(r.Response.Latency))
	}
	return m
}

func testFailureOf(t testResult) testFailure {
	f := testFailure{
		TestID: t.TestCase.ID, TestName: t.TestCase.Name, FailedValidations: []validation{},
		Trial: t.Trial, Mode: t.Mode,
	}
	for _, v := range t.Validations {
		if v.Status == eval.Fail {
			f.FailedValidations = append(f.FailedValidations, v)
		}
	}
	return f
}
