package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// gradedKinds are the graders whose values say more than pass and fail. Their
// scores are shown by key.
var gradedKinds = []string{
	"accuracy", "boundary", "code_quality", "code_requirements", "code_validation", "completeness", "facts", "judge",
	"pairwise", "panel", "skill_structure", "weighted",
}

func graded(kind string) bool { return slices.Contains(gradedKinds, kind) }

// gradedScores picks the scores of a summary that are shown by key.
func gradedScores(s *eval.Summary) (out []eval.Scored) {
	for _, k := range s.ByKey {
		if graded(k.Kind) {
			out = append(out, k)
		}
	}
	return out
}

// scoreMean is the mean of a score, which one that was never scored has not.
func scoreMean(k eval.Scored) string {
	if k.Judged() == 0 {
		return "n/a"
	}
	return strconv.FormatFloat(k.Mean, 'f', 3, 64)
}

// scoreCount says how many scores a mean was taken from.
func scoreCount(k eval.Scored) string {
	s := plural(k.Judged(), "score")
	if rest := unjudged(k.Counts); rest != "" {
		s += ", " + rest
	}
	return s
}

// scoreLine is a result's graded scores in one line, those inside others too.
func scoreLine(scores []eval.Score) string {
	var parts []string
	var add func(scores []eval.Score)
	add = func(scores []eval.Score) {
		for _, s := range scores {
			if graded(s.Kind) {
				value := strconv.FormatFloat(s.Value, 'f', 2, 64)
				if !s.Counts() {
					value = string(s.Status)
				}
				parts = append(parts, term.OneLine(s.Key, 80)+" "+value)
			}
			add(s.Checks)
		}
	}
	add(scores)
	return strings.Join(parts, " · ")
}

// usageLines say what models were asked and what it cost, the judge apart. A
// price that is not known is said to be unknown.
func usageLines(run *eval.Run) (out [][2]string) {
	u := run.Summary.Usage
	for _, role := range slices.Sorted(maps.Keys(run.Models)) {
		text := term.OneLine(run.Models[role], 200)
		if u != nil {
			switch role {
			case "answer":
				text += ": " + usageText(u.Answer)
			case "judge":
				text += ": " + usageText(u.Judge)
			}
		}
		out = append(out, [2]string{role, text})
	}
	if _, said := run.Models["judge"]; !said && u != nil && u.Judge.Calls > 0 {
		out = append(out, [2]string{"judge", "named by checks: " + usageText(u.Judge)})
	}
	return out
}

func usageText(u eval.Usage) string {
	s := fmt.Sprintf("%s, %s in, %s out", plural(u.Calls, "call"), tokens(u.Input), tokens(u.Output))
	if u.CacheRead > 0 {
		s += fmt.Sprintf(" (%s from the cache)", tokens(u.CacheRead))
	}
	return s + ", " + cost(u)
}

// cost is what calls came to, as far as it is known.
func cost(u eval.Usage) string {
	switch {
	case u.Unpriced == 0:
		return u.Cost.String()
	case u.Unpriced >= u.Calls:
		return "cost unknown"
	}
	return fmt.Sprintf("%s and %s of unknown cost", u.Cost, plural(u.Unpriced, "call"))
}

// tokens shows thousands as such.
func tokens(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM tokens", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk tokens", n/1000)
	}
	return plural(n, "token")
}

// sameModel is the note on a run whose model judged itself.
func sameModel(run *eval.Run) string {
	if m := run.Models["answer"]; m != "" && m == run.Models["judge"] {
		return "the judge is the model under test: models tend to favour their own answers"
	}
	return ""
}
