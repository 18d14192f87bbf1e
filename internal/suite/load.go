package suite

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/target"
)

// loader reads one file.
type loader struct {
	d      *kind.Decoder
	suite  *eval.Suite
	target target.Target // the suite's own, if it defines one
	broken bool          // it does, and the target has problems
	named  func(name string) target.Target
	name   place   // of the suite
	ids    []place // of the tests, those with problems too
	uses   []targetUse
	skills *Skills
	used   []string // skills, by path

	file    suiteFile
	input   defaultInput
	words   map[string]string // interned: many tests share few tools, projects, tags
	lists   map[string][]string
	known   map[checkID]*eval.Check
	decoded map[string]eval.Check // by what they were made from
	common  caseDefaults
}

// caseDefaults are the defaults, settled against the suite's own fields.
type caseDefaults struct {
	project, target string
	difficulty      eval.Difficulty
}

// loadFile reads a file as far as it can be read; the decoder has what is
// wrong with it.
func loadFile(f File) *loader {
	d, root := kind.Parse(f.Path, f.Data)
	l := &loader{
		d: d, suite: &eval.Suite{File: f.Path, Digest: digest(f.Data)}, skills: f.Skills, named: f.Target,
		words: map[string]string{}, lists: map[string][]string{}, known: map[checkID]*eval.Check{}, decoded: map[string]eval.Check{},
	}
	if root == nil {
		return l
	}
	given := d.Struct(root, "the suite", &l.file)
	l.suite.Name, l.suite.Project, l.suite.Version = l.file.Name, l.file.Project, l.file.Version
	if m, ok := given["name"]; ok {
		l.name = l.place(l.file.Name, d.Resolve(m.Value))
		label(l.d, m.Value, "name", l.file.Name)
	}
	l.settle(given)
	l.suite.Cases = make([]*eval.Case, 0, len(l.file.Tests.nodes))
	for _, n := range l.file.Tests.nodes {
		l.suite.Cases = append(l.suite.Cases, l.test(n)...)
	}
	l.digestWithSkills()
	l.suite.Gates = l.gates(l.file.Gates)
	l.file, l.input, l.words, l.lists, l.known, l.decoded = suiteFile{}, nil, nil, nil, nil, nil // let the YAML go
	l.d.Forget()
	return l
}

// settle works out what holds for every test.
func (l *loader) settle(given map[string]kind.Member) {
	f := &l.file
	l.common = caseDefaults{
		project:    cmp.Or(f.Defaults.Project, f.Project),
		difficulty: eval.Difficulty(cmp.Or(f.Defaults.Difficulty, string(eval.Basic))),
	}
	l.target = f.Target.inline
	switch {
	case f.Target.inline != nil:
		l.common.target = inlineName(f.Name)
	case f.Target.name != "":
		l.common.target = f.Target.name
		l.use(given["target"].Value, f.Target.name)
	default:
		_, l.broken = given["target"]
	}
	if name := f.Defaults.Target; name != "" {
		l.common.target = name
		if m, ok := l.member(given["defaults"].Value, "target"); ok {
			l.use(m.Value, name)
		}
	}
	l.input = l.defaultInput(f.Defaults.Input.node, len(f.Tests.nodes))
}

// member finds a member of a mapping whose problems are told already.
func (l *loader) member(n *yaml.Node, name string) (kind.Member, bool) {
	before := len(l.d.Problems)
	members, _ := l.d.Members(n, name)
	l.d.Problems = l.d.Problems[:before]
	i := slices.IndexFunc(members, func(m kind.Member) bool { return m.Key.Value == name })
	if i < 0 {
		return kind.Member{}, false
	}
	return members[i], true
}

// test reads one test: a case, or one for each skill. It gives none when there
// were problems.
func (l *loader) test(n *yaml.Node) []*eval.Case {
	before := len(l.d.Problems)
	var t test
	given := l.d.Struct(n, "the test", &t)
	if given == nil {
		return nil
	}
	var id place
	if m, ok := given["id"]; ok && t.ID != "" {
		id = l.place(t.ID, l.d.Resolve(m.Value))
		label(l.d, m.Value, "id", t.ID)
	}
	if m, ok := given["target"]; ok && t.Target != "" {
		l.use(m.Value, t.Target)
	}
	c := l.oneCase(n, &t, given)
	cases := []*eval.Case{c}
	if t.EachSkill != "" && len(l.d.Problems) == before {
		if cases = l.each(given["eachSkill"].Value, &t, c); len(cases) > 0 {
			l.checkCase(n, cases[0]) // the others differ in the skill alone
		}
	}
	sound := len(l.d.Problems) == before
	for _, c := range cases {
		id.name = c.ID
		l.ids = append(l.ids, id)
		if sound {
			l.checkSkill(n, given["input"].Value, c)
		}
	}
	if len(l.d.Problems) > before {
		return nil
	}
	return cases
}

// oneCase makes the case that a test stands for.
func (l *loader) oneCase(n *yaml.Node, t *test, given map[string]kind.Member) *eval.Case {
	input, project := l.arguments(t.Input.node)
	c := &eval.Case{
		ID: t.ID, Name: cmp.Or(t.Name, t.ID), Description: t.Description, Suite: l.suite.Name,
		Tool:       l.word(cmp.Or(t.Tool, l.file.Defaults.Tool)),
		Project:    l.word(cmp.Or(t.Project, project, l.common.project)),
		Difficulty: eval.Difficulty(l.word(cmp.Or(t.Difficulty, string(l.common.difficulty)))),
		Tags:       l.tags(t.Tags), Input: input,
		Target: l.word(cmp.Or(t.Target, l.common.target)),
		Trials: cmp.Or(t.Trials, l.file.Defaults.Trials),
		Pos:    l.pos(n),
	}
	switch inputGiven := l.gives(given, "input"); {
	case t.EachSkill != "": // its cases are checked
		if name, _ := skillOf(input); name != "" {
			l.d.Errorf(given["eachSkill"].Key, "the test is for each skill, and its input names one")
		}
	case l.gives(given, "tool") && t.Tool == "", inputGiven && input == nil: // it has a problem already
	case !inputGiven && l.file.Defaults.Input.node == nil:
		without := *c
		without.Input = nil
		l.checkCase(n, &without)
	default:
		l.checkCase(n, c)
	}
	c.Checks = l.checks(n, t, given, input)
	return c
}

// gives tells whether a test has a field, be its value wrong.
func (l *loader) gives(given map[string]kind.Member, name string) bool {
	m, ok := given[name]
	return ok && l.d.Resolve(m.Value).ShortTag() != "!!null"
}

// checks makes the test's checks: its rules, then what its lists stand for,
// then the one it has without asking.
func (l *loader) checks(n *yaml.Node, t *test, given map[string]kind.Member, input json.RawMessage) []*eval.Check {
	before := len(l.d.Problems)
	var e expected
	at := n
	if t.Expected.Node != nil {
		at = t.Expected.Node
		l.d.Struct(at, "expected", &e)
	}
	list := l.stated(&e)
	if len(l.d.Problems) == before {
		l.judged(at, &e, input, t.EachSkill != "", &list)
	}
	if len(l.d.Problems) > before {
		return nil
	}
	if len(list.checks) == 0 {
		at = n
		if m, ok := given["expected"]; ok {
			at = m.Key
		}
		l.d.Errorf(at, "the test has no check: it could never fail")
		return nil
	}
	asks := func(c *eval.Check) bool { return grade.Mentions(c, "is_error", "not_error") }
	if !slices.ContainsFunc(list.checks, asks) {
		list.add(grade.NotError(l.pos(n)), "")
	}
	if grade.UniqueKeys(l.d, list.checks); len(l.d.Problems) > before {
		return nil
	}
	l.share(list)
	return list.checks
}

// stated are the checks that the test asks for.
func (l *loader) stated(e *expected) (list checklist) {
	keywords, forbidden, imports := first(e.ExpectedKeywords), first(e.ForbiddenKeywords), first(e.ExpectedImports)
	rules := first(e.Validations.nodes)
	list.checks = make([]*eval.Check, 0, len(rules)+len(keywords)+len(forbidden)+len(imports)+1)
	for _, n := range rules {
		source := string(l.d.JSON(n))
		if c := l.check(n, source); c != nil {
			list.add(c, source)
		}
	}
	for _, k := range keywords {
		list.add(grade.ExpectedKeyword(k.Value, k.pos(l.d.File)), k.Value)
	}
	for _, k := range forbidden {
		l.contradiction(keywords, k)
		list.add(grade.ForbiddenKeyword(k.Value, k.pos(l.d.File)), k.Value)
	}
	for _, k := range imports {
		list.add(grade.ExpectedImport(k.Value, k.pos(l.d.File)), k.Value)
	}
	return list
}

// check decodes a rule, or takes the grader of one that says the same: a
// pattern that stands in a thousand tests is compiled once.
func (l *loader) check(n *yaml.Node, source string) *eval.Check {
	if like, ok := l.decoded[source]; ok {
		like.Pos = l.pos(n)
		return &like
	}
	c := grade.DecodeCheck(l.d, n)
	if c != nil {
		l.decoded[source] = *c
	}
	return c
}

// first cuts a list that is too long, which is a problem already, to what may
// be compared each with each.
func first[T any](list []T) []T { return list[:min(len(list), maxList)] }

// checklist is a test's checks, each with what it was made from: its YAML as
// JSON, or the entry of a list.
type checklist struct {
	checks []*eval.Check
	source []string
}

func (c *checklist) add(check *eval.Check, source string) {
	c.checks = append(c.checks, check)
	c.source = append(c.source, source)
}

// checkID is the same for checks that are. What a check was made from does not
// say it alone: a key that is taken gets a number.
type checkID struct{ kind, key, source string }

// share makes checks that stand the same in several tests one check, which
// then has no place: suites of thousands of tests are held whole, and most of
// what they would hold are the same few rules.
func (l *loader) share(list checklist) {
	for i, c := range list.checks {
		id := checkID{c.Kind, c.Key, list.source[i]}
		if known, ok := l.known[id]; ok {
			known.Pos = eval.Pos{}
			list.checks[i] = known
			continue
		}
		l.known[id] = c
	}
}

// contradiction finds a keyword that is both expected and forbidden.
func (l *loader) contradiction(expected []keyword, forbidden keyword) {
	for _, k := range expected {
		if k.Value != "" && strings.EqualFold(k.Value, forbidden.Value) {
			l.problemAt(forbidden.pos(l.d.File), "%q is forbidden here and expected on line %d: the test could never pass", forbidden.Value, k.line)
			return
		}
	}
}

// tags joins the test's tags and everybody's, each once.
func (l *loader) tags(own []tag) []string {
	if len(own)+len(l.file.Defaults.Tags) == 0 {
		return nil
	}
	tags := make([]string, 0, len(own)+len(l.file.Defaults.Tags))
	for _, list := range [][]tag{first(own), first(l.file.Defaults.Tags)} {
		for _, t := range list {
			if !slices.Contains(tags, t.Value) {
				tags = append(tags, l.word(t.Value))
			}
		}
	}
	id := strings.Join(tags, "\n") // no tag holds one
	if known, ok := l.lists[id]; ok {
		return known
	}
	l.lists[id] = tags
	return tags
}

// word gives the one copy of a word that many tests share.
func (l *loader) word(s string) string {
	if known, ok := l.words[s]; ok {
		return known
	}
	l.words[s] = s
	return s
}

func (l *loader) pos(n *yaml.Node) eval.Pos {
	return eval.Pos{File: l.d.File, Line: n.Line, Col: n.Column}
}
