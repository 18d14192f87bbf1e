package rust

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/code/scan"
)

// Dialect is how Rust is cut into tokens.
var Dialect = scan.Dialect{NestedComments: true, RustLiterals: true}

// Imports reads use declarations, each group expanded to one import per leaf, and extern crate.
func Imports(src string) []scan.Import {
	u := newRustUse(src, Dialect)
	for u.Tok.Kind != scan.EOF {
		switch {
		case u.Property():
			u.Advance()
		case u.Word("use"):
			u.declaration()
		case u.Word("extern"):
			u.externCrate()
		default:
			u.Advance()
		}
	}
	return u.Found
}

const (
	maxUseDepth = 32 // groups inside groups
	useBudget   = 1 << 20
)

// use expands use trees. A group repeats its prefix once per leaf, so a hostile source could make the expansion
// grow with the square of its length; budget is what may still be spent on paths.
type use struct {
	*scan.Statements
	path   []byte // segments from the root of the tree to the current place
	leaves []string
	budget int
}

func newRustUse(src string, d scan.Dialect) *use {
	return &use{Statements: scan.NewStatements(src, "rust", d), budget: useBudget + 4*len(src)}
}

// declaration reads one use declaration. The semicolon may be missing only where something else ends the statement: the
// source or the line.
func (u *use) declaration() bool {
	start := u.Tok.Start
	u.Advance()
	if !u.trees() {
		return false
	}
	end := u.Prev.End
	switch {
	case u.Punct(";"):
		end = u.Tok.End
	case u.Tok.Kind != scan.EOF && !u.Tok.First:
		return false
	}
	u.addLeaves(start, end)
	return true
}

// trees reads the tree after the keyword into leaves.
func (u *use) trees() bool {
	u.path, u.leaves = u.path[:0], u.leaves[:0]
	return u.tree(0)
}

func (u *use) addLeaves(start, end int) {
	for _, path := range u.leaves {
		u.Add(path, nil, start, end)
	}
}

// tree reads a path and what it ends with: nothing, *, as name or a group.
func (u *use) tree(depth int) bool {
	base := len(u.path)
	defer func() { u.path = u.path[:base] }()
	u.Take("::")
	for {
		switch {
		case u.Punct("*"):
			u.Advance()
			u.leaf("*")
			return true
		case u.Punct("{"):
			return u.group(depth + 1)
		case u.Tok.Kind != scan.Ident || u.Word("use") || u.StartsWith('$'): // $crate in a macro is no module
			return false
		}
		name := u.name()
		u.Advance()
		if !u.Punct("::") {
			if u.TakeWord("as") {
				u.Advance() // the local name
			}
			u.leaf(name)
			return true
		}
		u.Advance()
		if !u.push(name) {
			return false
		}
	}
}

func (u *use) group(depth int) bool {
	if depth > maxUseDepth {
		return false
	}
	u.Advance()
	for !u.Take("}") {
		if !u.tree(depth) || !u.Take(",") && !u.Punct("}") {
			return false
		}
	}
	return true
}

// name is the current segment; r#try is the segment try.
func (u *use) name() string {
	name := u.Text()
	if len(name) > 2 && name[1] == '#' {
		return name[2:]
	}
	return name
}

func (u *use) push(name string) bool {
	if len(u.path)+len(name)+2 > scan.MaxPath {
		return false
	}
	if len(u.path) > 0 {
		u.path = append(u.path, "::"...)
	}
	u.path = append(u.path, name...)
	return true
}

// leaf records the current path with its last segment. In a group, self is the group's own path.
func (u *use) leaf(name string) {
	base := len(u.path)
	if base == 0 || name != "self" {
		if !u.push(name) {
			return
		}
	}
	if u.budget -= len(u.path); u.budget >= 0 {
		u.leaves = append(u.leaves, string(u.path))
	}
	u.path = u.path[:base]
}

// externCrate reads extern crate name;
func (u *use) externCrate() bool {
	start := u.Tok.Start
	u.Advance()
	if !u.TakeWord("crate") || u.Tok.Kind != scan.Ident {
		return false
	}
	path := u.name()
	u.Advance()
	if u.TakeWord("as") {
		u.Advance()
	}
	end := u.Prev.End
	if u.Punct(";") {
		end = u.Tok.End
	}
	u.Add(path, nil, start, end)
	return true
}

// Calls are the rules for calls. The variants of an enum and the fields of a struct look like calls.
var Calls = scan.CallRules{
	Keywords:  "if else for while loop match return break in as let mut ref move fn impl where dyn pub use mod unsafe async await struct enum union const static type trait",
	Defines:   "fn struct enum union trait macro_rules mod",
	Turbofish: true,
	Macros:    true,
	Definition: func(z *scan.List, i, _ int) bool {
		p := z.Parent[i]
		return p > 1 && z.Is(p, "{") && (z.Word(p-2, "enum") || z.Is(p-1, ">") && z.Match[p-1] > 1 && z.Word(z.Match[p-1]-2, "enum"))
	},
}

// ProseUse reads a use declaration or extern crate in running text. There the path must be more than one word, or "use this;"
// would be an import; in a code span the closing backtick may stand for the semicolon.
func ProseUse(s *scan.Statements, span bool) bool {
	u := &use{Statements: s, budget: useBudget}
	if s.Word("extern") {
		return u.externCrate() && (s.Punct(";") || span && s.StartsWith('`'))
	}
	s.Advance()
	if !u.trees() {
		return false
	}
	long := len(u.leaves) != 1 || strings.Contains(u.leaves[0], "::")
	end := s.Prev.End
	switch {
	case s.Punct(";") && (long || span):
		end = s.Tok.End
	case span && long && s.StartsWith('`'):
	default:
		return false
	}
	u.addLeaves(0, end)
	return len(u.leaves) > 0
}
