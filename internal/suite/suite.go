// Package suite turns the YAML files people write into what runs: suite files
// into [eval.Suite] values and mettle.yaml into a [Config].
//
// [Find] expands arguments to files, [Load] reads them, [Selection] narrows
// what was loaded. Loading is strict: everything that can be wrong with a file
// is found, with its place, before anything runs, and all of it in one pass.
// What the format offers to save typing ends here: defaults are applied, and
// keywords and imports become checks, so that the core knows checks only.
//
// The structs that files are decoded into are also where their JSON Schemas
// come from ([Schema], [ConfigSchema]).
package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/target"
	"go.yaml.in/yaml/v3"
)

// File is a file to load: its content, its path as messages show it, and what
// is known outside of it.
type File struct {
	Path   string
	Data   []byte
	Skills *Skills // where the skills are that its tests are about

	// Target gives the target with a name, and for no name that of the tests
	// which name none; nil when it is not known. Tests without a known target
	// call tools of a server.
	Target func(name string) target.Target
}

// Set is what suite files hold.
type Set struct {
	Suites  []*eval.Suite
	Notes   []string                 // what tests leave out without being told to
	Targets map[string]target.Target // those that suites define themselves, by the name their cases carry

	uses []targetUse
}

// loaders bounds how many files are read at a time: a parsed file is many
// times its size.
const loaders = 4

// Load reads suite files, and lets go of their data as it does. The error is a
// [kind.Problems] that holds everything wrong with any of them.
func Load(files []File) (*Set, error) {
	parts := make([]*loader, len(files))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(loaders, runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := range next {
				parts[i] = loadFile(files[i])
				files[i].Data = nil // many files are many megabytes
			}
		})
	}
	for i := range files {
		next <- i
	}
	close(next)
	wg.Wait()

	distinct(parts)
	set := &Set{Targets: map[string]target.Target{}}
	var problems kind.Problems
	for _, p := range parts {
		problems = append(problems, p.d.Problems...)
		set.Suites = append(set.Suites, p.suite)
		set.uses = append(set.uses, p.uses...)
		set.Notes = append(set.Notes, p.leftOut()...)
		if p.target != nil {
			set.Targets[inlineName(p.suite.Name)] = p.target
		}
	}
	if len(problems) > 0 {
		return nil, problems.Sort()
	}
	return set, nil
}

// distinct finds names of suites and ids of cases that stand in more than one
// place, in one file or two.
func distinct(parts []*loader) {
	count := 0
	for _, p := range parts {
		count += len(p.ids)
	}
	suites, cases := make(map[string]claim, len(parts)), make(map[string]claim, count)
	for _, p := range parts {
		p.claim(suites, "suite name", p.name)
		for _, id := range p.ids {
			p.claim(cases, "id", id)
		}
	}
}

// place is a name with where it stands, and the line it stands in.
type place struct {
	name   string
	at     eval.Place
	source string
}

// claim is where a name stands first.
type claim struct {
	in *loader
	at eval.Place
}

func (l *loader) place(name string, n *yaml.Node) place {
	return place{name, placeOf(l.pos(n)), l.d.Source(n.Line)}
}

func (l *loader) claim(taken map[string]claim, what string, p place) {
	if p.name == "" {
		return // its own problem, told already
	}
	first, repeat := taken[p.name]
	if !repeat {
		taken[p.name] = claim{l, p.at}
		return
	}
	at := l.at(p.at)
	l.d.Add(kind.Problem{
		Line: at.Line, Col: at.Col, Source: p.source,
		Message: fmt.Sprintf("the %s %q is taken: it stands at %s already", what, p.name, first.in.at(first.at)),
	})
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
