package jsondoc

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"

	"github.com/mettle-eval/mettle/internal/grade/reason"
)

// Path leads from a JSON value to values inside it, by RFC 9535:
// $.a.b[0]['c d'][*].
type Path []*spec.Segment

// Parse reads a path. Beside what the RFC has, the leading $ may be left
// out, and a name after a dot may have any characters but dots, brackets and
// quotes, such as content-type.
func Parse(text string) (Path, error) {
	switch {
	case text == "":
		return nil, errors.New("the path is empty")
	case strings.ContainsRune(".[", rune(text[0])):
		text = "$" + text
	case text[0] != '$':
		text = "$." + text
	}
	p, err := parser.Parse(text)
	if err != nil && !strings.Contains(text, "?") { // in a filter, a - or a blank after a name is something else
		if lenient, e := parser.Parse(dotted.ReplaceAllStringFunc(text, bracketed)); e == nil {
			p, err = lenient, nil
		}
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), jsonpath.ErrPathParse.Error()+": ")
		if bare.MatchString(text) {
			why += " (names in brackets need quotes, like ['name'])"
		}
		return nil, fmt.Errorf("path %s: %s", reason.Quote(text), why)
	}
	return p.Query().Segments(), nil
}

// bare is a name in brackets without quotes.
var bare = regexp.MustCompile(`\[\s*[A-Za-z_]`)

// dotted is a name after one dot or two that neither begins nor ends with a
// blank.
var dotted = regexp.MustCompile(`\.\.?[^.\[\]'"\s](?:[^.\[\]'"]*[^.\[\]'"\s])?`)

// bracketed writes a dotted name as .['name'].
func bracketed(match string) string {
	name := strings.TrimLeft(match, ".")
	if name == "*" {
		return match
	}
	deep := strings.Repeat("..", len(match)-len(name)-1)
	return deep + "['" + strings.ReplaceAll(name, `\`, `\\`) + "']"
}

// parser reads paths. The library's match and search panic where the value to
// match is missing; by the RFC they are false.
var parser = func() *jsonpath.Parser {
	functions := registry.New()
	for _, name := range []string{"match", "search"} {
		f := functions.Get(name)
		library := *f
		*f = *spec.Extension(name, spec.FuncLogical, library.Validate, func(args []spec.PathValue) spec.PathValue {
			if slices.ContainsFunc(args, func(a spec.PathValue) bool { return spec.ValueFrom(a) == nil }) {
				return spec.LogicalFalse
			}
			return library.Evaluate(args)
		})
	}
	return jsonpath.NewParser(jsonpath.WithRegistry(functions))
}()

// From gives the values that the path leads to in a document: entries of lists
// in their order, members of objects by name.
func (p Path) From(doc any) []any { return p.Within(doc, doc) }

// Within is [Path.From] for a path that starts at a value inside the document.
func (p Path) Within(doc, start any) []any {
	at := []any{start}
	for _, s := range p {
		var next []any
		for _, v := range at {
			next = append(next, selected(s, v, doc)...)
		}
		at = next
	}
	return at
}

// selected are the values one segment leads to. The library walks the members
// of objects in the random order of maps, so those are sorted.
func selected(s *spec.Segment, v, doc any) []any {
	if _, object := v.(map[string]any); Singular(s) || !object && !s.IsDescendant() {
		return s.Select(v, doc)
	}
	nodes := jsonpath.LocatedNodeList(s.SelectLocated(v, doc, nil))
	nodes.Sort()
	return slices.Collect(nodes.Nodes())
}

// Singular tells whether a segment leads to one value at most.
func Singular(s *spec.Segment) bool { return spec.Query(true, s).Singular() != nil }

// Many tells whether the path can lead to more than one value.
func (p Path) Many() bool {
	return slices.ContainsFunc(p, func(s *spec.Segment) bool { return !Singular(s) })
}

// LastEach is the place of the last segment that takes several entries of a
// list, such as [*], or -1. What is found at any depth is no list.
func (p Path) LastEach() int {
	for i, s := range slices.Backward(p) {
		if s.IsDescendant() {
			return -1
		}
		if !Singular(s) {
			return i
		}
	}
	return -1
}
