package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/grade/reason"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Relevance says which documents a search should have found.
// It is the part of a check that names labels.
type Relevance struct {
	Relevant []Label `yaml:"relevant" json:"relevant" jsonschema:"the relevant documents, each by URL, path or id; as {id, grade} where some are more relevant than others" check:"required,min=1,max=200"`
}

// Label names a relevant document and says how relevant it is.
type Label struct {
	text  string
	grade int // from 1, which is plain relevant
	name  docName
}

// gradedLabel is a label with its grade, as YAML has it.
type gradedLabel struct {
	ID    string `yaml:"id" json:"id" jsonschema:"URL, path or id of the document" check:"required,min=1"`
	Grade int    `yaml:"grade" json:"grade" jsonschema:"how relevant the document is; only ndcg_at_k makes a difference" check:"min=1,max=10,default=1"`
}

// DecodeNode reads a label: a string, or a mapping with a grade.
func (l *Label) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	g := gradedLabel{Grade: 1}
	if n.Kind == yaml.MappingNode {
		d.Struct(n, "a label", &g)
	} else {
		d.Decode(n, &g.ID, "a label")
	}
	*l = Label{text: g.ID, grade: g.Grade, name: parseName(g.ID)}
}

// JSONSchema allows both forms.
func (Label) JSONSchema() kind.Schema {
	return kind.Schema{"oneOf": []kind.Schema{{"type": "string", "minLength": 1}, kind.SchemaOf(new(gradedLabel))}}
}

// MarshalJSON writes the label as it can be read again.
func (l Label) MarshalJSON() ([]byte, error) {
	if l.grade == 1 {
		return json.Marshal(l.text)
	}
	return json.Marshal(gradedLabel{l.text, l.grade})
}

// CheckLabels wants labels that name something, and each document once: two
// labels for one document would make a perfect search look half as good.
func (r *Relevance) CheckLabels() error {
	var errs []error
	for i, l := range r.Relevant {
		if l.name.empty() {
			errs = append(errs, labelErrorf(i, "the label %s names no document", reason.Quote(l.text)))
			continue
		}
		same := slices.IndexFunc(r.Relevant[:i], func(o Label) bool { return o.name.matches(l.name) || l.name.matches(o.name) })
		if same >= 0 {
			errs = append(errs, labelErrorf(i, "the label %s can name the same document as %s",
				reason.Quote(l.text), reason.Quote(r.Relevant[same].text)))
		}
	}
	return errors.Join(errs...)
}

func labelErrorf(i int, format string, args ...any) error {
	return &kind.FieldError{Field: fmt.Sprintf("relevant[%d]", i), Err: fmt.Errorf(format, args...)}
}

// bySection tells whether sections count as documents of their own, as they
// must where a label names one.
func (r *Relevance) bySection() bool {
	return slices.ContainsFunc(r.Relevant, func(l Label) bool { return l.name.fragment != "" })
}

// docName is a URL, path or id in the form in which names are compared.
type docName struct {
	parts    []string // between the slashes, the host first when there is one
	host     bool     // the name has a scheme, so parts starts with a host and is complete
	query    string
	fragment string
}

// parseName takes a name apart. What does not tell documents apart is left
// out: the scheme, slashes at the ends, the host's case, the extension of a
// page.
func parseName(text string) (n docName) {
	text, fragment, _ := strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	n.fragment, n.query = unescaped(strings.TrimSpace(fragment)), strings.TrimSpace(query)
	text = strings.ReplaceAll(strings.TrimSpace(text), `\`, "/")
	scheme, rest, ok := strings.Cut(text, "://")
	if ok && !strings.Contains(scheme, "/") {
		text = rest
		host, _, _ := strings.Cut(rest, "/")
		n.host = host != "" && host != "." // file:///docs/a.md has none
	}
	for part := range strings.SplitSeq(text, "/") {
		if part != "" && part != "." {
			n.parts = append(n.parts, unescaped(part))
		}
	}
	last := len(n.parts) - 1
	if n.host {
		n.parts[0] = strings.ToLower(n.parts[0])
	}
	if last > 0 || last == 0 && !n.host {
		n.parts[last] = withoutExtension(n.parts[last])
	}
	return n
}

// unescaped is a part of a URL without its % signs, or as it is when they are
// none.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// withoutExtension takes off what one page has in one place and not in
// another: its file is field.md, its address /field or /field.html.
func withoutExtension(file string) string {
	dot := strings.LastIndexByte(file, '.')
	if dot <= 0 {
		return file
	}
	switch strings.ToLower(file[dot:]) {
	case ".md", ".mdx", ".markdown", ".html", ".htm":
		return file[:dot]
	}
	return file
}

func (n docName) empty() bool { return len(n.parts) == 0 }

// matches tells whether a label names a document: the whole of it when the
// label is a URL, else the end of it from one of its slashes on. Query and
// fragment count when the label has them.
func (n docName) matches(doc docName) bool {
	before := len(doc.parts) - len(n.parts)
	switch {
	case n.empty() || before < 0 || n.host && before > 0:
		return false
	case n.query != "" && n.query != doc.query, n.fragment != "" && n.fragment != doc.fragment:
		return false
	}
	for i, part := range n.parts {
		at := before + i
		isHost := at == 0 && (n.host || doc.host)
		if part != doc.parts[at] && !(isHost && strings.EqualFold(part, doc.parts[at])) {
			return false
		}
	}
	return true
}

// key is the same for names of the same document.
func (n docName) key(bySection bool) string {
	key := strings.Join(n.parts, "/") + "?" + n.query
	if bySection {
		key += "#" + n.fragment
	}
	return key
}
