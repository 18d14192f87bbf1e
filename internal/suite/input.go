package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/kind"
)

// maxInputs bounds what the defaults' arguments may come to once every test
// has its copy.
const maxInputs = 64 << 20

// defaultInput is the arguments that every test shares.
type defaultInput []argument

// argument is one of them, its JSON as a member of an object.
type argument struct {
	name    string
	project string // the text, when the argument is the project
	json    []byte
}

func (l *loader) defaultInput(n *yaml.Node, tests int) (in defaultInput) {
	if n == nil {
		return nil
	}
	size := 0
	members, _ := l.d.Members(n, "input")
	for _, m := range members {
		alone := yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{m.Key, m.Value}}
		object := l.d.JSON(&alone)
		if object == nil {
			return nil // the problem is kept
		}
		a := argument{m.Key.Value, projectOf(l.d, m), object[1 : len(object)-1]}
		size += len(a.json)
		in = append(in, a)
	}
	if size*tests > maxInputs {
		l.d.Errorf(n, "the input is %d bytes, which %d tests would each hold a copy of: more than the %d MiB allowed", size, tests, maxInputs>>20)
		return nil
	}
	return in
}

// arguments is a test's input as a JSON object, the defaults' arguments after
// its own, and the project it names.
func (l *loader) arguments(n *yaml.Node) (input json.RawMessage, project string) {
	var own []kind.Member
	if n == nil {
		input = json.RawMessage("{}")
	} else if input = l.d.JSON(n); input == nil {
		return nil, ""
	} else {
		own, _ = l.d.Members(n, "input")
	}
	for _, m := range own {
		project = cmp.Or(project, projectOf(l.d, m))
	}
	for _, a := range l.input {
		if slices.ContainsFunc(own, func(m kind.Member) bool { return m.Key.Value == a.name }) {
			continue
		}
		project = cmp.Or(project, a.project)
		input = input[:len(input)-1]
		if len(input) > 1 {
			input = append(input, ',')
		}
		input = append(append(input, a.json...), '}')
	}
	return bytes.Clone(input), project // no larger than it must be: suites are held whole
}

func projectOf(d *kind.Decoder, m kind.Member) string {
	if r := d.Resolve(m.Value); m.Key.Value == "project" && r.Kind == yaml.ScalarNode && r.ShortTag() == "!!str" {
		return r.Value
	}
	return ""
}
