package report

import (
	"encoding/json"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
)

// planEncoder writes the objects of the JSON report. Names and order follow the
// evaluation report this format continues, whose readers exist; what it did not
// have comes after it in each object.
type planEncoder struct {
	eval.Encoder
	rules  map[*eval.Check]*planRule
	failed []byte // the failed validations of the last result, as JSON
}

// planRule is a check as the report shows it.
type planRule struct {
	text []byte // JSON without spaces
	word string // the keyword or module it looks for, of a check from sugar
	list string // the list of the sugar, "" for a check that was written as such
}

// cachedRules bounds the rules that are remembered. Cases share most checks.
const cachedRules = 4096

func (e *planEncoder) rule(c *eval.Check) *planRule {
	if r := e.rules[c]; r != nil {
		return r
	}
	var raw eval.Encoder
	raw.Raw(c.Rule())
	text, err := raw.Bytes()
	if err != nil {
		text = bareRule(c.Kind)
	}
	r := &planRule{text: text, list: sugar(c.Key)}
	if r.list != "" {
		var ok bool
		if r.word, ok = ruleWord(text); !ok {
			r.list = ""
		}
	}
	if len(e.rules) >= cachedRules {
		clear(e.rules)
	} else if e.rules == nil {
		e.rules = map[*eval.Check]*planRule{}
	}
	e.rules[c] = r
	return r
}

// The lists of sugar that the loader turns into checks, in the report's order.
var sugarLists = []string{"expectedKeywords", "forbiddenKeywords", "expectedImports"}

// sugar is the list that a check's key says it was written in, or "".
func sugar(key string) string {
	switch {
	case strings.HasPrefix(key, "keyword:"):
		return "expectedKeywords"
	case strings.HasPrefix(key, "forbidden:"):
		return "forbiddenKeywords"
	case strings.HasPrefix(key, "import:"):
		return "expectedImports"
	}
	return ""
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

func bareRule(kind string) []byte {
	var e eval.Encoder
	e.Open('{')
	e.Key("type")
	e.Text(kind)
	e.Close('}')
	return e.Since(0)
}

// result writes one of the report's results.
func (e *planEncoder) result(r *eval.Result) {
	mode := r.Mode()
	e.Open('{')
	e.Key("testCase")
	e.testCase(r.Case)
	e.Key("passed")
	e.Bool(r.Status == eval.Pass)
	e.Key("validations")
	e.validations(r)
	e.Key("response")
	if r.Response != nil {
		e.Text(r.Response.RawText())
	} else {
		e.Text("")
	}
	e.Key("metadata")
	e.metadata(r)
	if r.Fault != nil {
		e.OptText("errorMessage", r.Fault.Message)
	}
	e.Key("status")
	e.Text(string(r.Status))
	e.Key("trial")
	e.Int(r.Trial)
	e.OptText("target", r.Target)
	if r.Status == eval.Pass || r.Status == eval.Fail {
		e.Key("score")
		e.Number(r.Value)
	}
	e.OptText("failureMode", mode)
	if resp := r.Response; resp != nil {
		e.OptBool("isError", resp.IsError)
		e.OptInt("attempts", max(1, resp.Attempts))
		e.OptTexts("retries", resp.Retries)
		e.OptText("model", resp.Model)
	}
	if spent := r.Spent(); spent != nil { // the judges' apart
		e.Key("usage")
		e.Open('{')
		e.OptUsage("answer", &spent.Answer)
		e.OptUsage("judge", &spent.Judge)
		e.Close('}')
	}
	if r.Response != nil {
		e.OptTexts("notes", r.Response.Notes)
	}
	e.OptFault("error", r.Fault)
	e.Close('}')
}

func (e *planEncoder) testCase(c *eval.Case) {
	e.Open('{')
	for _, m := range [...][2]string{
		{"id", c.ID},
		{"name", c.Name},
		{"description", c.Description},
		{"tool", c.Tool},
		{"project", c.Project},
		{"difficulty", string(c.Difficulty)},
	} {
		e.Key(m[0])
		e.Text(m[1])
	}
	e.Key("input")
	if len(c.Input) > 0 {
		e.Raw(c.Input)
	} else {
		e.Verbatim([]byte("{}"))
	}
	e.Key("expected")
	e.expected(c)
	e.OptTexts("tags", c.Tags)
	e.OptText("suite", c.Suite)
	e.OptPos("pos", c.Pos)
	e.Close('}')
}

// expected gives back the sugar that the loader turned into checks, which it
// left a trace of in their keys.
func (e *planEncoder) expected(c *eval.Case) {
	sweet := false
	e.Open('{')
	e.Key("validations")
	e.Open('[')
	for _, check := range c.Checks {
		switch rule := e.rule(check); {
		case check.Implicit:
		case rule.list != "":
			sweet = true
		default:
			e.Verbatim(rule.text)
		}
	}
	e.Close(']')
	for _, list := range sugarLists {
		if !sweet {
			break
		}
		var words []string
		for _, check := range c.Checks {
			if rule := e.rule(check); rule.list == list && !check.Implicit {
				words = append(words, rule.word)
			}
		}
		e.OptTexts(list, words)
	}
	e.Close('}')
}

// validations lists the scores in check order. What the loader added by itself
// is worth showing only when it did not pass.
func (e *planEncoder) validations(r *eval.Result) {
	e.failed = e.failed[:0]
	e.Open('[')
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.Implicit && s.Status == eval.Pass {
			continue
		}
		from := e.Mark()
		e.validation(s, e.ruleOf(r.Case, i, s))
		if s.Status == eval.Fail {
			e.failed = append(append(e.failed, e.Since(from)...), ',')
		}
	}
	e.Close(']')
}

func (e *planEncoder) validation(s *eval.Score, rule []byte) {
	e.Open('{')
	e.Key("rule")
	e.Verbatim(rule)
	e.Key("passed")
	e.Bool(s.Status == eval.Pass)
	e.Key("message")
	e.Text(s.Reason)
	e.OptMap("details", s.Details)
	e.Key("status")
	e.Text(string(s.Status))
	e.Key("key")
	e.Text(s.Key)
	if s.Counts() { // only a check with a verdict has a value
		e.Key("value")
		e.Number(s.Value)
	}
	e.Key("weight")
	e.Number(s.Weight)
	e.OptText("severity", string(s.Severity))
	if s.Status != eval.Pass {
		e.OptText("failureMode", s.Mode)
	}
	e.OptFindings("findings", s.Findings)
	e.OptScores("checks", s.Checks) // inside this one
	e.OptUsage("usage", s.Usage)
	e.Close('}')
}

// ruleOf finds the rule behind a score. Scores are in check order, so the check
// at its own index is nearly always the one.
func (e *planEncoder) ruleOf(c *eval.Case, i int, s *eval.Score) []byte {
	if i < len(c.Checks) && c.Checks[i].Key == s.Key {
		return e.rule(c.Checks[i]).text
	}
	for _, check := range c.Checks {
		if check.Key == s.Key {
			return e.rule(check).text
		}
	}
	return bareRule(s.Kind)
}

func (e *planEncoder) metadata(r *eval.Result) {
	var confidence, sources float64
	took := r.Duration
	if r.Response != nil {
		confidence, _ = r.Response.Confidence()
		sources, _ = r.Response.MetaNumber("sourcesUsed")
		took = r.Response.Latency
	}
	e.Open('{')
	e.Key("confidence")
	e.Number(confidence)
	e.Key("sourcesUsed")
	e.Number(sources)
	e.Key("processingTimeMs")
	e.Number(roundUp(eval.Millis(took)))
	e.Close('}')
}

// failure writes the last result as one of the report's failures.
func (e *planEncoder) failure(r *eval.Result) {
	e.Open('{')
	e.Key("testId")
	e.Text(r.Case.ID)
	e.Key("testName")
	e.Text(r.Case.Name)
	e.Key("failedValidations")
	e.Open('[')
	if n := len(e.failed); n > 0 {
		e.Verbatim(e.failed[:n-1])
	}
	e.Close(']')
	e.Key("trial")
	e.Int(r.Trial)
	e.OptText("failureMode", r.Mode())
	e.Close('}')
}
