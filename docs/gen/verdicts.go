package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"
)

// corpusFile holds answers that are easy to misjudge, with the verdict of the
// evaluation plan's validators and of ours, which the graders' tests hold them
// to.
const corpusFile = "internal/grade/testdata/verdicts.txtar"

// verdict is one answer and what is said about it.
type verdict struct {
	name  string
	files map[string]string // by extension; see the test that reads the corpus
}

type corpus []*verdict

func readVerdicts(repo fs.FS) (corpus, error) {
	b, err := fs.ReadFile(repo, corpusFile)
	if err != nil {
		return nil, err
	}
	var out corpus
	for _, f := range txtar.Parse(b).Files {
		name, ext, _ := strings.Cut(f.Name, ".")
		i := slices.IndexFunc(out, func(v *verdict) bool { return v.name == name })
		if i < 0 {
			out, i = append(out, &verdict{name, map[string]string{}}), len(out)
		}
		out[i].files[ext] = strings.TrimSuffix(string(f.Data), "\n")
	}
	return out, nil
}

// rule is the name of the verdict's rule, and params the rest of its check.
func (v *verdict) rule() (name, params string) {
	head, rest, _ := strings.Cut(v.files["check"], "\n")
	return strings.TrimPrefix(head, "type: "), strings.Join(strings.Fields(strings.ReplaceAll(rest, "\n", "; ")), " ")
}

// label is the verdict's name in words, without what its rule says already.
func (v *verdict) label(rule string) string {
	words := strings.Split(v.name, "-")
	for len(words) > 1 && slices.Contains(append(strings.Split(rule, "_"), "regex"), words[0]) {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

// answer is everything the server said.
func (v *verdict) answer() (string, error) {
	if raw, ok := v.files["raw"]; ok {
		return raw, nil
	}
	var r struct{ Text string }
	err := yaml.Unmarshal([]byte(v.files["response"]), &r)
	return r.Text, err
}

// ours is mettle's verdict: the word before the reason.
func (v *verdict) ours() string {
	word, _, _ := strings.Cut(v.files["want"], ":")
	return word
}

func (v *verdict) differs() bool { return v.ours() != v.files["plan"] }

// shownAnswer bounds how much of an answer the table shows, in characters.
const shownAnswer = 150

func (v *verdict) row() ([]string, error) {
	answer, err := v.answer()
	if err != nil {
		return nil, fmt.Errorf("verdict %s: %w", v.name, err)
	}
	if v.differs() == (v.files["why"] == "") {
		return nil, fmt.Errorf("verdict %s: a reason is given just where the verdicts differ", v.name)
	}
	rule, params := v.rule()
	if params != "" {
		params = code(params)
	}
	ours := v.ours()
	if v.differs() {
		ours = "**" + ours + "**"
	}
	return []string{v.label(rule), params, code(clip(escape(answer), shownAnswer)), v.files["plan"], ours, plain(v.files["why"])}, nil
}

// ruleVerdicts is the table of one rule.
type ruleVerdicts struct{ Rule, Table string }

// byRule gives the tables in the corpus's order.
func (c corpus) byRule() (out []ruleVerdicts, err error) {
	rows := map[string][][]string{}
	var names []string
	for _, v := range c {
		name, _ := v.rule()
		row, err := v.row()
		if err != nil {
			return nil, err
		}
		if rows[name] == nil {
			names = append(names, name)
		}
		rows[name] = append(rows[name], row)
	}
	for _, name := range names {
		out = append(out, ruleVerdicts{name, table([]string{"", "parameters", "answer", "plan", "mettle", "why they differ"}, rows[name])})
	}
	return out, nil
}

// count says how many verdicts there are and how many differ.
func (c corpus) count() string {
	n := 0
	for _, v := range c {
		if v.differs() {
			n++
		}
	}
	return fmt.Sprintf("There are %d answers, and the verdicts differ on %d of them", len(c), n)
}
