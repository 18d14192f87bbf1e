package eval

import "slices"

// Comparison holds two runs of the same cases against each other, by what
// their headers know. A case without a verdict in one of them is not compared.
type Comparison struct {
	Base, Run *Run

	Overall    Pair
	Difficulty []Pair
	Tool       []Pair
	Project    []Pair

	Better   []string // cases with more passes than in the base
	Worse    []string // cases with fewer
	Same     int      // cases that did as well in both
	Unjudged []string // cases of both that have no verdict in one of them
	New      []string // cases that the base does not have
	Gone     []string // cases that only the base has
}

// Pair is a group of results in both runs.
type Pair struct {
	Name      string
	Base, Run Counts
}

// Compare holds a run against a base.
func Compare(base, run *Run) *Comparison {
	c := &Comparison{
		Base: base, Run: run,
		Overall:    Pair{"all", base.Summary.Counts, run.Summary.Counts},
		Difficulty: pairs(base.Summary.ByDifficulty, run.Summary.ByDifficulty),
		Tool:       pairs(base.Summary.ByTool, run.Summary.ByTool),
		Project:    pairs(base.Summary.ByProject, run.Summary.ByProject),
	}
	before := map[string][]Status{}
	for _, v := range base.Cases {
		before[v.Case] = v.Trials
	}
	for _, v := range run.Cases {
		old, ok := before[v.Case]
		if !ok {
			c.New = append(c.New, v.Case)
			continue
		}
		delete(before, v.Case)
		c.place(v.Case, old, v.Trials)
	}
	for id := range before {
		c.Gone = append(c.Gone, id)
	}
	for _, list := range [][]string{c.Better, c.Worse, c.Unjudged, c.New, c.Gone} {
		slices.Sort(list)
	}
	return c
}

func (c *Comparison) place(id string, old, now []Status) {
	was, judgedThen := passShare(old)
	is, judgedNow := passShare(now)
	switch {
	case !judgedThen || !judgedNow:
		c.Unjudged = append(c.Unjudged, id)
	case is > was:
		c.Better = append(c.Better, id)
	case is < was:
		c.Worse = append(c.Worse, id)
	default:
		c.Same++
	}
}

// passShare is the share of passes among trials with a verdict.
func passShare(trials []Status) (float64, bool) {
	var counts Counts
	for _, s := range trials {
		if s != "" {
			counts.add(s)
		}
	}
	return counts.PassRate(), counts.Judged() > 0
}

// pairs joins groups by name, in the order of the second list, then what only
// the first has.
func pairs(base, run []Group) (out []Pair) {
	for _, g := range run {
		p := Pair{Name: g.Name, Run: g.Counts}
		if i := slices.IndexFunc(base, func(b Group) bool { return b.Name == g.Name }); i >= 0 {
			p.Base = base[i].Counts
		}
		out = append(out, p)
	}
	for _, b := range base {
		if !slices.ContainsFunc(run, func(g Group) bool { return g.Name == b.Name }) {
			out = append(out, Pair{Name: b.Name, Base: b.Counts})
		}
	}
	return slices.Clip(out)
}

// Delta is how much the pass rate rose, in points of a hundred, and whether
// both have one.
func (p Pair) Delta() (float64, bool) {
	ok := p.Base.Judged() > 0 && p.Run.Judged() > 0
	return 100 * (p.Run.PassRate() - p.Base.PassRate()), ok
}
