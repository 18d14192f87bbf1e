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
	others []string // skills that eachSkill: any leaves out

	file   suiteFile
	input  defaultInput
	words  map[string]string // interned: many tests share few tools, projects, tags
	lists  map[string][]string
	known  map[checkID]*eval.Check
	common caseDefaults
}

// caseDefaults are the defaults, settled against the suite's own fields.
type caseDefaults struct {
	project, target string
	difficulty      eval.Difficulty
}

// loadFile reads a file as far as it can be read; the decoder has what is
// wrong with it.
func loadFile(f File) *loader {
	l := newLoader(f)
	l.read(kind.ParseList(f.Path, f.Data, "tests"))
	if l.d.Partial() {
		l = newLoader(f)
		l.read(kind.Parse(f.Path, f.Data))
	}
	l.file, l.input, l.words, l.lists, l.known = suiteFile{}, nil, nil, nil, nil // let the YAML go
	l.d.Forget()
	return l
}

func newLoader(f File) *loader {
	return &loader{
		suite: &eval.Suite{File: f.Path, Digest: digest(f.Data)}, skills: f.Skills, named: f.Target,
		words: map[string]string{}, lists: map[string][]string{}, known: map[checkID]*eval.Check{},
	}
}

func (l *loader) read(d *kind.Decoder, root *yaml.Node) {
	l.d = d
	if root == nil {
		return
	}
	given := d.Struct(root, "the suite", &l.file)
	l.suite.Name, l.suite.Project, l.suite.Version = l.file.Name, l.file.Project, l.file.Version
	if m, ok := given["name"]; ok {
		l.name = l.place(l.file.Name, d.Resolve(m.Value))
		label(l.d, m.Value, "name", l.file.Name)
	}
	l.settle(given)
	if tests := l.file.Tests.node; tests != nil {
		l.suite.Cases = make([]*eval.Case, 0, d.Len(tests))
		l.ids = make([]place, 0, d.Len(tests))
		for n := range d.Items(tests) {
			l.suite.Cases = append(l.suite.Cases, l.test(n)...)
		}
	}
	if d.Partial() {
		return
	}
	l.digestWithSkills()
	l.suite.Gates = l.gates(l.file.Gates)
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
	tests := 0
	if f.Tests.node != nil {
		tests = l.d.Len(f.Tests.node)
	}
	l.input = l.defaultInput(f.Defaults.Input.node, tests)
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
	checks := l.checks(n, t, given, input)
	c.Checks, c.Places = checks.checks, checks.places
	return c
}

// gives tells whether a test has a field, be its value wrong.
func (l *loader) gives(given map[string]kind.Member, name string) bool {
	m, ok := given[name]
	return ok && l.d.Resolve(m.Value).ShortTag() != "!!null"
}

// checks makes the test's checks: its rules, then what its lists stand for,
// then the one it has without asking.
func (l *loader) checks(n *yaml.Node, t *test, given map[string]kind.Member, input json.RawMessage) (none checklist) {
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
		return none
	}
	if len(list.checks) == 0 {
		at = n
		if m, ok := given["expected"]; ok {
			at = m.Key
		}
		l.d.Errorf(at, "the test has no check: it could never fail")
		return none
	}
	if !slices.ContainsFunc(list.checks, func(c *eval.Check) bool { return c.Severity != eval.WarnSeverity }) {
		l.d.Errorf(at, "every check of the test is of severity warn: it could never fail")
		return none
	}
	asks := func(c *eval.Check) bool { return grade.Mentions(c, "is_error", "not_error") }
	if !slices.ContainsFunc(list.checks, asks) {
		l.share(&list, checkID{form: "not_error"}, l.pos(n), grade.NotError)
	}
	l.distinctKeys(&list)
	return list
}

// stated are the checks that the test asks for.
func (l *loader) stated(e *expected) (list checklist) {
	keywords, forbidden, imports := first(e.ExpectedKeywords), first(e.ForbiddenKeywords), first(e.ExpectedImports)
	rules := first(e.Validations.nodes)
	list.grow(len(rules) + len(keywords) + len(forbidden) + len(imports) + 1)
	for _, n := range rules {
		l.share(&list, checkID{"rule", string(l.d.JSON(n))}, l.pos(n), func(eval.Pos) *eval.Check { return grade.DecodeCheck(l.d, n) })
	}
	for _, k := range keywords {
		l.share(&list, checkID{"expected", k.Value}, k.pos(l.d.File), func(p eval.Pos) *eval.Check { return grade.ExpectedKeyword(k.Value, p) })
	}
	for _, k := range forbidden {
		l.contradiction(keywords, k)
		l.share(&list, checkID{"forbidden", k.Value}, k.pos(l.d.File), func(p eval.Pos) *eval.Check { return grade.ForbiddenKeyword(k.Value, p) })
	}
	for _, k := range imports {
		l.share(&list, checkID{"import", k.Value}, k.pos(l.d.File), func(p eval.Pos) *eval.Check { return grade.ExpectedImport(k.Value, p) })
	}
	return list
}

// first cuts a list that is too long, which is a problem already, to what may
// be compared each with each.
func first[T any](list []T) []T { return list[:min(len(list), maxList)] }

// checklist is a test's checks, each with what it was made from and where that
// stands.
type checklist struct {
	checks []*eval.Check
	places []eval.Place
	ids    []checkID
}

func (c *checklist) grow(n int) {
	c.checks, c.places, c.ids = make([]*eval.Check, 0, n), make([]eval.Place, 0, n), make([]checkID, 0, n)
}

// checkID is the same for checks that are: the form is what a source is read
// as, the YAML of a rule as JSON or the entry of a list.
type checkID struct{ form, source string }

// share adds a check, the same one for everything that is written the same:
// suites of thousands of tests are held whole, most of their checks are the
// same few rules, and a pattern is compiled once. Where it is written stands
// in the case.
func (l *loader) share(list *checklist, id checkID, pos eval.Pos, decode func(eval.Pos) *eval.Check) {
	c, ok := l.known[id]
	if !ok {
		if c = decode(pos); c == nil {
			return // its problem is kept
		}
		c.Pos = eval.Pos{}
		l.known[id] = c
	}
	list.checks, list.ids = append(list.checks, c), append(list.ids, id)
	list.places = append(list.places, placeOf(pos))
}

// distinctKeys gives the checks of a test keys that differ. Those that get
// another are no longer the check that other tests have.
func (l *loader) distinctKeys(list *checklist) {
	if distinctKeys(list.checks) {
		return
	}
	for i, c := range list.checks {
		own := *c
		own.Pos = l.at(list.places[i])
		list.checks[i] = &own
	}
	grade.UniqueKeys(l.d, list.checks)
	own := *list
	list.grow(len(own.checks))
	for i, c := range own.checks {
		l.share(list, checkID{"key " + c.Key, own.ids[i].form + own.ids[i].source}, c.Pos, func(eval.Pos) *eval.Check { return c })
	}
}

// distinctKeys tells whether the keys of a few checks differ.
func distinctKeys(checks []*eval.Check) bool {
	if len(checks) > 16 {
		return false
	}
	for i, c := range checks {
		if slices.ContainsFunc(checks[:i], func(other *eval.Check) bool { return other.Key == c.Key }) {
			return false
		}
	}
	return true
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
	s = strings.Clone(s)
	l.words[s] = s
	return s
}

// placeOf shortens a position: which file it is in is known, and that it has no
// more than 4 MiB.
func placeOf(p eval.Pos) eval.Place {
	return eval.Place{Line: int32(p.Line), Col: int32(p.Col)} //nolint:gosec // a file has no more than 4 MiB
}

func (l *loader) at(p eval.Place) eval.Pos {
	return eval.Pos{File: l.d.File, Line: int(p.Line), Col: int(p.Col)}
}

func (l *loader) pos(n *yaml.Node) eval.Pos {
	return eval.Pos{File: l.d.File, Line: n.Line, Col: n.Column}
}
