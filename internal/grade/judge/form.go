package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Form is what a judge's reply must look like.
type Form[T any] struct {
	name   string // of the schema
	schema string // JSON Schema; the reasoning is before the verdict it leads to
	words  string // the same, as the judge is told
	read   func(m members) (T, error)
}

// Grade is a verdict on a scale.
type Grade struct {
	Reasoning string
	Value     float64
	Said      string // the verdict in a word
}

// Continuous asks for a number from 0 to 1.
var Continuous = Form[Grade]{
	name:   "score",
	schema: `{"type":"object","properties":{"reasoning":{"type":"string"},"score":{"type":"number"}},"required":["reasoning","score"],"additionalProperties":false}`,
	words: `- "reasoning": string. What speaks for and against the answer, worked out before you settle on a number.
- "score": number from 0 to 1, after the reasoning.`,
	read: func(m members) (g Grade, err error) {
		if g.Reasoning, err = m.text("reasoning"); err != nil {
			return g, err
		}
		g.Value, err = m.share("score")
		g.Said = "score " + reason.Decimal(g.Value)
		return g, err
	},
}

// Boolean asks for true or false.
var Boolean = Form[Grade]{
	name:   "verdict",
	schema: `{"type":"object","properties":{"reasoning":{"type":"string"},"verdict":{"type":"boolean"}},"required":["reasoning","verdict"],"additionalProperties":false}`,
	words: `- "reasoning": string. What speaks for and against, worked out before you settle.
- "verdict": true or false, after the reasoning.`,
	read: func(m members) (g Grade, err error) {
		if g.Reasoning, err = m.text("reasoning"); err != nil {
			return g, err
		}
		verdict, err := m.truth("verdict")
		if g.Said = fmt.Sprint(verdict); verdict {
			g.Value = 1
		}
		return g, err
	},
}

// What an answer does with a point that it was to cover, beside [Absent].
const (
	Covered = "covered"
	Partly  = "partly"
)

// maxPoints bounds the points of a [Coverage]: criteria have a handful.
const maxPoints = 200

// Coverage asks for the points that an answer was to cover, and what it does
// with each. The value is the share of them, one that is partly covered half.
var Coverage = Form[Grade]{
	name: "coverage",
	schema: `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{` +
		`"point":{"type":"string"},"reasoning":{"type":"string"},"verdict":{"type":"string","enum":["covered","partly","absent"]}},` +
		`"required":["point","reasoning","verdict"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}`,
	words: `- "items": list of objects, one for each point, each with these members in this order:
  - "point": string. What the criteria ask for, in a few words.
  - "reasoning": string. What the answer does about it, in a sentence, before you decide.
  - "verdict": "covered", "partly" or "absent".`,
	read: readCoverage,
}

func readCoverage(m members) (g Grade, err error) {
	list, err := m.objects("items")
	switch {
	case err != nil:
		return g, err
	case len(list) == 0 || len(list) > maxPoints:
		return g, fmt.Errorf("the judge's reply has %d items, want 1 to %d", len(list), maxPoints)
	}
	lines := map[string][]string{}
	for i, one := range list {
		point, err := one.text("point")
		if err != nil {
			return g, err
		}
		why, err := one.text("reasoning")
		if err != nil {
			return g, err
		}
		verdict, err := one.verdict([]string{Covered, Partly, Absent})
		if err != nil {
			return g, err
		}
		lines[verdict] = append(lines[verdict], fmt.Sprintf("%d. %s (%s): %s", i+1, point, verdict, why))
	}
	covered, partly := len(lines[Covered]), len(lines[Partly])
	g.Value = (float64(covered) + float64(partly)/2) / float64(len(list))
	g.Said = fmt.Sprintf("score %s, %d covered, %d partly, %d absent", reason.Decimal(math.Round(g.Value*100)/100), covered, partly, len(lines[Absent]))
	g.Reasoning = strings.Join(slices.Concat(lines[Absent], lines[Partly], lines[Covered]), "\n") // what is missing first
	return g, nil
}

// Choice is a word of a scale and its value.
type Choice struct {
	Name  string
	Value float64
}

// Choosing asks for one of some words.
func Choosing(choices []Choice) Form[Grade] {
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c.Name
	}
	list, err := json.Marshal(names)
	if err != nil {
		panic(err) // texts have a form in JSON
	}
	return Form[Grade]{
		name: "verdict",
		schema: `{"type":"object","properties":{"reasoning":{"type":"string"},"verdict":{"type":"string","enum":` + string(list) +
			`}},"required":["reasoning","verdict"],"additionalProperties":false}`,
		words: `- "reasoning": string. What speaks for and against each choice, worked out before you settle.
- "verdict": string, after the reasoning: one of ` + strings.Join(quotedNames(names), ", ") + `.`,
		read: func(m members) (g Grade, err error) {
			if g.Reasoning, err = m.text("reasoning"); err != nil {
				return g, err
			}
			name, err := m.verdict(names)
			if err != nil {
				return g, err
			}
			g.Value = choices[slices.Index(names, name)].Value
			g.Said = fmt.Sprintf("%s, value %s", reason.Quote(name), reason.Decimal(g.Value))
			return g, nil
		},
	}
}

func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = `"` + n + `"`
	}
	return out
}

// Preference is a verdict on two answers: [First], [Second] or [Tie].
type Preference struct{ Reasoning, Verdict string }

// The verdicts on two answers.
const (
	First  = "first"
	Second = "second"
	Tie    = "tie"
)

// Comparing asks which of two answers is better.
var Comparing = Form[Preference]{
	name: "comparison",
	schema: `{"type":"object","properties":{"reasoning":{"type":"string"},"verdict":{"type":"string","enum":["first","second","tie"]}},` +
		`"required":["reasoning","verdict"],"additionalProperties":false}`,
	words: `- "reasoning": string. Where the two differ and what that means to the asker, worked out before you settle.
- "verdict": string, after the reasoning: "first" or "second" for the better answer, or "tie".`,
	read: func(m members) (p Preference, err error) {
		if p.Reasoning, err = m.text("reasoning"); err != nil {
			return p, err
		}
		p.Verdict, err = m.verdict([]string{First, Second, Tie})
		return p, err
	},
}

// What an answer does with a statement.
const (
	Stated = "stated"
	Denied = "denied"
	Absent = "absent"
)

// Statement is a verdict on what an answer does with a statement.
type Statement struct{ Reasoning, Verdict string }

// Statements asks for a verdict on each of n statements.
func Statements(n int) Form[[]Statement] {
	return Form[[]Statement]{
		name: "verdicts",
		schema: `{"type":"object","properties":{"verdicts":{"type":"array","items":{"type":"object","properties":{` +
			`"index":{"type":"integer"},"reasoning":{"type":"string"},"verdict":{"type":"string","enum":["stated","denied","absent"]}},` +
			`"required":["index","reasoning","verdict"],"additionalProperties":false}}},"required":["verdicts"],"additionalProperties":false}`,
		words: fmt.Sprintf(`- "verdicts": list of %d objects, one for each statement, in order, each with these members in this order:
  - "index": the statement's number.
  - "reasoning": string. Where the answer speaks of it, in a sentence, before you decide.
  - "verdict": "stated", "denied" or "absent".`, n),
		read: func(m members) ([]Statement, error) { return readStatements(m, n) },
	}
}

// readStatements wants each statement judged once, and no other.
func readStatements(m members, n int) ([]Statement, error) {
	list, err := m.objects("verdicts")
	if err != nil {
		return nil, err
	}
	out := make([]Statement, n)
	for _, one := range list {
		index, err := one.whole("index")
		switch {
		case err != nil:
			return nil, err
		case index < 1 || index > n:
			return nil, fmt.Errorf("the judge's reply has a verdict on statement %d, and there are %d", index, n)
		case out[index-1].Verdict != "":
			return nil, fmt.Errorf("the judge's reply has two verdicts on statement %d", index)
		}
		s := &out[index-1]
		if s.Reasoning, err = one.text("reasoning"); err != nil {
			return nil, err
		}
		if s.Verdict, err = one.verdict([]string{Stated, Denied, Absent}); err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(out, func(s Statement) bool { return s.Verdict == "" }); i >= 0 {
		return nil, fmt.Errorf("the judge's reply has no verdict on statement %d", i+1)
	}
	return out, nil
}
