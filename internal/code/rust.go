package code

import "strings"

var rustDialect = dialect{nestedComments: true, rustLiterals: true}

// rustImports reads use declarations, each group expanded to one import per leaf, and extern crate.
func rustImports(src string) []Import {
	u := newRustUse(src, rustDialect)
	for u.tok.kind != tokEOF {
		switch {
		case u.property():
			u.advance()
		case u.word("use"):
			u.declaration()
		case u.word("extern"):
			u.externCrate()
		default:
			u.advance()
		}
	}
	return u.found
}

const (
	maxUseDepth = 32 // groups inside groups
	useBudget   = 1 << 20
)

// rustUse expands use trees. A group repeats its prefix once per leaf, so a hostile source could make the expansion
// grow with the square of its length; budget is what may still be spent on paths.
type rustUse struct {
	*statements
	path   []byte // segments from the root of the tree to the current place
	leaves []string
	budget int
}

func newRustUse(src string, d dialect) *rustUse {
	return &rustUse{statements: newStatements(src, "rust", d), budget: useBudget + 4*len(src)}
}

// declaration reads one use declaration. The semicolon may be missing only where something else ends the statement: the
// source or the line.
func (u *rustUse) declaration() bool {
	start := u.tok.start
	u.advance()
	if !u.trees() {
		return false
	}
	end := u.prev.end
	switch {
	case u.punct(";"):
		end = u.tok.end
	case u.tok.kind != tokEOF && !u.tok.first:
		return false
	}
	u.addLeaves(start, end)
	return true
}

// trees reads the tree after the keyword into leaves.
func (u *rustUse) trees() bool {
	u.path, u.leaves = u.path[:0], u.leaves[:0]
	return u.tree(0)
}

func (u *rustUse) addLeaves(start, end int) {
	for _, path := range u.leaves {
		u.add(path, nil, start, end)
	}
}

// tree reads a path and what it ends with: nothing, *, as name or a group.
func (u *rustUse) tree(depth int) bool {
	base := len(u.path)
	defer func() { u.path = u.path[:base] }()
	u.take("::")
	for {
		switch {
		case u.punct("*"):
			u.advance()
			u.leaf("*")
			return true
		case u.punct("{"):
			return u.group(depth + 1)
		case u.tok.kind != tokIdent || u.word("use") || u.startsWith('$'): // $crate in a macro is no module
			return false
		}
		name := u.name()
		u.advance()
		if !u.punct("::") {
			if u.takeWord("as") {
				u.advance() // the local name
			}
			u.leaf(name)
			return true
		}
		u.advance()
		if !u.push(name) {
			return false
		}
	}
}

func (u *rustUse) group(depth int) bool {
	if depth > maxUseDepth {
		return false
	}
	u.advance()
	for !u.take("}") {
		if !u.tree(depth) || !u.take(",") && !u.punct("}") {
			return false
		}
	}
	return true
}

// name is the current segment; r#try is the segment try.
func (u *rustUse) name() string {
	name := u.text()
	if len(name) > 2 && name[1] == '#' {
		return name[2:]
	}
	return name
}

func (u *rustUse) push(name string) bool {
	if len(u.path)+len(name)+2 > maxPath {
		return false
	}
	if len(u.path) > 0 {
		u.path = append(u.path, "::"...)
	}
	u.path = append(u.path, name...)
	return true
}

// leaf records the current path with its last segment. In a group, self is the group's own path.
func (u *rustUse) leaf(name string) {
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
func (u *rustUse) externCrate() bool {
	start := u.tok.start
	u.advance()
	if !u.takeWord("crate") || u.tok.kind != tokIdent {
		return false
	}
	path := u.name()
	u.advance()
	if u.takeWord("as") {
		u.advance()
	}
	end := u.prev.end
	if u.punct(";") {
		end = u.tok.end
	}
	u.add(path, nil, start, end)
	return true
}

// rustCalls are the rules for calls. The variants of an enum and the fields of a struct look like calls.
var rustCalls = callRules{
	keywords:  "if else for while loop match return break in as let mut ref move fn impl where dyn pub use mod unsafe async await struct enum union const static type trait",
	defines:   "fn struct enum union trait macro_rules mod",
	turbofish: true,
	macros:    true,
	definition: func(z *tokenized, i, _ int) bool {
		p := z.parent[i]
		return p > 1 && z.is(p, "{") && (z.word(p-2, "enum") || z.is(p-1, ">") && z.match[p-1] > 1 && z.word(z.match[p-1]-2, "enum"))
	},
}

// rustProse reads a use declaration or extern crate in running text. There the path must be more than one word, or "use this;"
// would be an import; in a code span the closing backtick may stand for the semicolon.
func rustProse(s *statements, span bool) bool {
	u := &rustUse{statements: s, budget: useBudget}
	if s.word("extern") {
		return u.externCrate() && (s.punct(";") || span && s.startsWith('`'))
	}
	s.advance()
	if !u.trees() {
		return false
	}
	long := len(u.leaves) != 1 || strings.Contains(u.leaves[0], "::")
	end := s.prev.end
	switch {
	case s.punct(";") && (long || span):
		end = s.tok.end
	case span && long && s.startsWith('`'):
	default:
		return false
	}
	u.addLeaves(0, end)
	return len(u.leaves) > 0
}
