package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/term"
)

// shownByKey tells whether the scores of a kind are shown by key: their values
// say more than pass and fail, and no section of its own shows them.
func shownByKey(run *eval.Run, kind string) bool {
	info := run.Kinds[kind]
	return info.Graded && info.Section == ""
}

// gradedScores picks the scores of a run that are shown by key.
func gradedScores(run *eval.Run) (out []eval.Scored) {
	for _, k := range run.Summary.ByKey {
		if shownByKey(run, k.Kind) {
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
func scoreLine(run *eval.Run, scores []eval.Score) string {
	var parts []string
	var add func(scores []eval.Score)
	add = func(scores []eval.Score) {
		for _, s := range scores {
			if shownByKey(run, s.Kind) {
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
	for _, role := range []string{eval.AnswerRole, eval.JudgeRole} {
		names := run.Models.Of(role)
		if len(names) == 0 {
			continue
		}
		text := term.OneLine(strings.Join(names, ", "), 200)
		if u != nil && role == eval.AnswerRole {
			text += ": " + usageText(u.Answer)
		} else if u != nil {
			text += ": " + usageText(u.Judge)
		}
		out = append(out, [2]string{role, text})
	}
	if len(run.Models.Of(eval.JudgeRole)) == 0 && u != nil && u.Judge.Calls > 0 {
		out = append(out, [2]string{eval.JudgeRole, "named by checks: " + usageText(u.Judge)})
	}
	return out
}

// modelsByRole is the models of a run as the JSON report has them.
func modelsByRole(run *eval.Run) map[string]string {
	out := map[string]string{}
	for _, use := range run.Models {
		out[use.Role] = strings.Join(run.Models.Of(use.Role), ", ")
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
	judges := run.Models.Of(eval.JudgeRole)
	if slices.ContainsFunc(run.Models.Of(eval.AnswerRole), func(m string) bool { return slices.Contains(judges, m) }) {
		return "the judge is the model under test: models tend to favour their own answers"
	}
	return ""
}
