package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/skill"
)

// Skills is where the skills of a file's tests are, and which of them a test
// for each skill means by any.
type Skills struct {
	*skill.Library
	Any string // js, python or both; js if empty
}

// The languages that eachSkill can ask for.
const (
	anyLanguage = "any"
	bothOfThem  = "both"
)

// wants tells whether a skill of a language is asked for. A skill that says no
// language is everybody's.
func (s *Skills) wants(each, language string) bool {
	if each == anyLanguage {
		each = s.Any
		if each == "" {
			each = "js"
		}
	}
	return each == bothOfThem || language == "" || language == each
}

// each makes a case for every skill that a test asks for.
func (l *loader) each(n *yaml.Node, t *test, like *eval.Case) (cases []*eval.Case) {
	if l.skills == nil {
		l.d.Errorf(n, "eachSkill needs a folder of skills: give --skills, or skills in mettle.yaml")
		return nil
	}
	paths, err := l.skills.Paths()
	if err != nil {
		l.d.Errorf(n, "%v", err)
		return nil
	}
	for _, p := range paths {
		language, err := l.skills.Language(p)
		if err != nil {
			l.d.Errorf(n, "%v", err)
			return nil
		}
		if !l.skills.wants(t.EachSkill, language) {
			if folder := path.Dir(p); t.EachSkill == anyLanguage && l.skills.Any == "" && !slices.Contains(l.others, folder) {
				l.others = append(l.others, folder)
			}
			continue
		}
		c := *like
		folder := path.Dir(p)
		c.ID += "/" + folder
		c.Name = folder
		if t.Name != "" {
			c.Name = t.Name + ": " + folder
		}
		c.Input = withSkill(like.Input, p)
		cases = append(cases, &c)
	}
	if len(cases) == 0 {
		l.d.Errorf(n, "there is no %s skill in %s", describeEach(t.EachSkill, l.skills), l.skills.Where())
	}
	return cases
}

// leftOut says which skills eachSkill: any did not take in a run that was not
// told which language it means.
func (l *loader) leftOut() []string {
	if len(l.others) == 0 {
		return nil
	}
	const shown = 5
	names := strings.Join(l.others[:min(shown, len(l.others))], ", ")
	if more := len(l.others) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("%s: eachSkill: any takes the js skills and leaves out %d of another language (%s): use --language both for all", l.d.File, len(l.others), names)}
}

func describeEach(each string, s *Skills) string {
	if each == anyLanguage {
		each = s.Any
	}
	return strings.TrimPrefix(each, bothOfThem)
}

// withSkill puts the skill first into a case's input.
func withSkill(input json.RawMessage, p string) json.RawMessage {
	name, _ := json.Marshal(p)
	out := append([]byte(`{"skill":`), name...)
	if len(input) > len("{}") {
		out = append(append(out, ','), input[1:]...)
		return out
	}
	return append(out, '}')
}

// skillOf is the skill that a test's input names.
func skillOf(input json.RawMessage) (name string, challenge bool) {
	if lower := bytes.ToLower(input); !bytes.Contains(lower, []byte(`"skill"`)) && !bytes.Contains(lower, []byte(`"challenge"`)) {
		return "", false // decoding every input would take as long as reading the file
	}
	var in struct {
		Skill     any `json:"skill"`
		Challenge any `json:"challenge"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	name, _ = in.Skill.(string)
	_, challenge = in.Challenge.(string)
	return name, challenge
}

// checkSkill finds a case about a skill that is not there.
func (l *loader) checkSkill(n, input *yaml.Node, c *eval.Case) {
	if t := l.targetOf(c); l.skills == nil || t == nil || !t.Needs().Skills {
		return
	}
	name, _ := skillOf(c.Input)
	if name == "" {
		return
	}
	p, ok := l.skills.Resolve(name)
	if !ok {
		if input != nil {
			if m, ok := l.member(input, "skill"); ok {
				n = m.Value
			}
		}
		problem := kind.Problem{Line: n.Line, Col: n.Column, Message: fmt.Sprintf("there is no skill %q in %s", name, l.skills.Where())}
		if paths, err := l.skills.Paths(); err == nil {
			problem.Near = kind.Near(name, paths)
		}
		l.d.Add(problem)
		return
	}
	if !slices.Contains(l.used, p) {
		l.used = append(l.used, p)
	}
}

// digestWithSkills is the digest of the file and the skills that its tests are
// about: a skill that was changed asks something else.
func (l *loader) digestWithSkills() {
	if len(l.used) == 0 {
		return
	}
	h := sha256.New()
	fmt.Fprint(h, l.suite.Digest)
	for _, p := range slices.Sorted(slices.Values(l.used)) {
		sum, err := l.skills.Digest(p)
		if err != nil {
			l.problemAt(eval.Pos{Line: 1, Col: 1}, "%v", err)
			return
		}
		fmt.Fprintf(h, "\n%s %s", p, sum)
	}
	l.suite.Digest = hex.EncodeToString(h.Sum(nil))
}
