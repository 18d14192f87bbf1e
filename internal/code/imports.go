package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code/scan"
	"github.com/mettle-eval/mettle/internal/code/source"
)

// Import is one module that a source imports.
type Import = scan.Import

// Imports lists the import statements of a source in order. Statements inside comments and strings are not among them.
// When the language is empty, unknown or one whose imports this package cannot read (a shell script that writes a
// program, say), the scanners of all languages read it.
func Imports(lang, src string) []Import {
	l := find(Canonical(lang))
	if l != nil && l.name == "diff" {
		src = patched(src)
	}
	if l == nil || l.imports == nil {
		return anyImports(src)
	}
	return l.imports(src)
}

// anyImports reads a source of unknown language with every scanner. A statement that several understand is kept once.
func anyImports(src string) []Import {
	var all []Import
	for _, l := range languages {
		if l.imports != nil && l.is == "" && l.name != "typescript" { // JavaScript's scanner reads the whole family
			all = append(all, l.imports(src)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Import) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return withoutRepeats(all)
}

// withoutRepeats drops an import that lies on the lines of another one of the same module: a second scanner found it too.
func withoutRepeats(sorted []Import) []Import {
	lastLine := make(map[string]int, len(sorted))
	return slices.DeleteFunc(sorted, func(i Import) bool {
		if i.Line <= lastLine[i.Path] {
			return true
		}
		lastLine[i.Path] = i.Line + strings.Count(i.Text, "\n")
		return false
	})
}

// patched turns a diff into the text it leads to, byte for byte at the same place: added and kept lines without their
// marker, removed ones blank.
func patched(diff string) string {
	out := []byte(diff)
	for rest := diff; rest != ""; {
		start := len(diff) - len(rest)
		var text string
		text, rest = source.CutLine(rest)
		switch {
		case strings.HasPrefix(text, "+"):
			out[start] = ' '
		case strings.HasPrefix(text, "-"):
			for i := range text {
				out[start+i] = ' '
			}
		}
	}
	return string(out)
}
