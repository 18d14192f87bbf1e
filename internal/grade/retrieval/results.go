// Package retrieval reads the ranked results of a search off its answer,
// compares them with labels of relevant documents, and computes the metrics of
// information retrieval.
package retrieval

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/jsondoc"
	"github.com/mettle-eval/mettle/internal/grade/reason"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Origin says where the ranked results of a search are in its answer.
type Origin struct {
	From string `yaml:"from" json:"from,omitempty" jsonschema:"where the ranked results stand: in JSON, in the source list or in the text; auto takes the first of these that has any" check:"enum=auto|json|sources|text,default=auto"`
	Path string `yaml:"path" json:"path,omitempty" jsonschema:"path to the results in the answer's JSON, such as $.results[*].url, where they are not found by themselves" check:"min=1"`

	steps jsondoc.Path
}

// CheckOrigin parses the path.
func (o *Origin) CheckOrigin() (err error) {
	if o.Path == "" {
		return nil
	}
	if o.From == "sources" || o.From == "text" {
		return &kind.FieldError{Field: "path", Err: fmt.Errorf("path leads into JSON, and has no meaning with from: %s", o.From)}
	}
	if o.steps, err = jsondoc.Parse(o.Path); err != nil {
		return &kind.FieldError{Field: "path", Err: err}
	}
	return nil
}

// MaxResults is how many results of an answer are looked at.
const MaxResults = 1000

// result is one entry of a ranked list.
type result struct {
	text  string    // what a reason calls it
	names []docName // all that it goes by
	ids   int       // how many of the names tell its document: an id of its own may be that of a section
}

// newResult makes a result of what it goes by; what is empty it does not have.
func newResult(url, path, id string) (r result) {
	for i, text := range []string{url, path, id} {
		name := parseName(text)
		if name.empty() {
			continue
		}
		if len(r.names) == 0 {
			r.text = strings.TrimSpace(text)
		}
		r.names = append(r.names, name)
		if i < 2 || r.ids == 0 {
			r.ids++
		}
	}
	return r
}

// key is the same for results from the same document.
func (r result) key(bySection bool) string {
	keys := make([]string, r.ids)
	for i, n := range r.names[:r.ids] {
		keys[i] = n.key(bySection)
	}
	return strings.Join(keys, "\n")
}

// listing is the ranked list of an answer, best first.
type listing struct {
	results []result
	where   string
	none    string // why there are no results
}

// results finds the ranked results of a response. An error means that they are
// not in a form that can be read.
func (o *Origin) results(r *eval.Response) (listing, error) {
	switch {
	case r.IsError:
		return listing{none: "the server calls its answer an error"}, nil
	case o.Path != "" || o.From == "json":
		return o.fromJSON(r)
	case o.From == "sources":
		return fromSources(r), nil
	case o.From == "text":
		return fromText(r.Text), nil
	}
	return fromAnywhere(r)
}

// fromAnywhere takes the first place that has results. A list in JSON that is
// empty is an answer too, and one that cannot be read is told only when no
// other place has any.
func fromAnywhere(r *eval.Response) (listing, error) {
	var unread error
	for _, d := range wholeDocuments(r) {
		l, err := searchJSON(d.value, d.where)
		if err == nil {
			return l, nil
		}
		if unread == nil && !errors.Is(err, errNoList) {
			unread = err
		}
	}
	for _, l := range []listing{fromSources(r), fromText(r.Text)} {
		if len(l.results) > 0 {
			return l, nil
		}
	}
	return listing{none: "the answer lists no results: no source list, and no URL in its text"}, unread
}

// jsonValue is a JSON value and where it was found.
type jsonValue struct {
	value any
	where string
}

// wholeDocuments gives the JSON that an answer is, not what it shows in a
// block: that may be an excerpt of a page. Structured content comes first; a
// server that only wraps its text there has the results in the text.
func wholeDocuments(r *eval.Response) (out []jsonValue) {
	for _, d := range []struct{ text, where string }{{string(r.Structured), "structured content"}, {r.Text, "the answer"}} {
		text := strings.TrimPrefix(strings.TrimSpace(d.text), "\uFEFF")
		if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
			continue
		}
		if v, err := jsondoc.Decode(text); err == nil {
			out = append(out, jsonValue{v, d.where})
		}
	}
	return out
}

func fromSources(r *eval.Response) listing {
	l := listing{where: "in the source list", none: "the answer has no source list"}
	for _, s := range r.Sources[:min(len(r.Sources), MaxResults)] {
		if s.URL == "" { // a list of files has them where others have titles
			s.URL = s.Title
		}
		l.results = append(l.results, newResult(s.URL, "", ""))
	}
	return l
}

// fromJSON reads the list at the path, or looks for one.
func (o *Origin) fromJSON(r *eval.Response) (listing, error) {
	text, where, ok := jsondoc.Find(r)
	if !ok {
		return listing{}, errors.New(jsondoc.NotFound)
	}
	doc, err := jsondoc.Decode(text)
	if err != nil {
		return listing{}, fmt.Errorf("read %s: %w", where, err)
	}
	if o.Path == "" {
		return searchJSON(doc, where)
	}
	where = fmt.Sprintf("at %s in %s", reason.Cut(o.Path, reason.Shown), where)
	entries, err := o.entries(doc, where)
	if err != nil {
		return listing{}, err
	}
	return readList(entries, where)
}

// entries gives what the path leads to, one for each result: a result that
// lacks what follows the last [*] keeps its place.
func (o *Origin) entries(doc any, where string) (out []any, err error) {
	lists, each, rest := o.steps.From(doc), jsondoc.Path(nil), jsondoc.Path(nil)
	if last := o.steps.LastEach(); last >= 0 {
		lists, each, rest = o.steps[:last].From(doc), o.steps[last:last+1], o.steps[last+1:]
	}
	if len(lists) == 0 && !o.emptyOnTheWay(doc) {
		return nil, fmt.Errorf("there is nothing %s", where)
	}
	for _, list := range lists {
		switch list := list.(type) {
		case []any:
			if each != nil {
				list = each.Within(doc, list)
			}
			out = append(out, list...)
		case nil: // how some servers write a list with nothing in it
		default:
			if each != nil {
				return nil, fmt.Errorf("there is no list %s, but %s", where, jsondoc.Show(list))
			}
			out = append(out, list)
		}
	}
	out = out[:min(len(out), MaxResults)]
	for i, entry := range out {
		out[i] = nil
		if values := rest.Within(doc, entry); len(values) > 0 {
			out[i] = values[0]
		}
	}
	return out, nil
}

// emptyOnTheWay tells whether the path leads nowhere because a list that it
// goes through has nothing in it.
func (o *Origin) emptyOnTheWay(doc any) bool {
	for i, s := range o.steps {
		if jsondoc.Singular(s) {
			continue
		}
		values := o.steps[:i].From(doc)
		if len(values) == 1 {
			list, ok := values[0].([]any)
			if len(list) == 0 && (ok || values[0] == nil) {
				return true
			}
		}
	}
	return false
}

// listNames are the names servers give to their list of results, likeliest
// first.
var listNames = []string{
	"results", "result", "items", "documents", "docs", "hits", "matches", "pages", "passages", "chunks", "sources", "data",
}

// maxListDepth is how many objects deep a list may stand.
const maxListDepth = 3

var errNoList = errors.New("no list of results found")

// searchJSON looks for the list of results: the document itself, or what an
// object has under one of the usual names, outer objects first.
func searchJSON(doc any, where string) (listing, error) {
	if list, ok := doc.([]any); ok {
		return readList(list, "in "+where)
	}
	unread := fmt.Errorf("%w in %s: give its path", errNoList, where)
	level := []any{doc}
	for range maxListDepth {
		l, found, err := searchLevel(level, where)
		if found {
			return l, nil
		}
		if err != nil && errors.Is(unread, errNoList) {
			unread = err
		}
		level = inner(level)
	}
	return listing{}, unread
}

// searchLevel looks for a list in objects that stand equally deep: the first
// with results, else the first that is empty. An error is the first list that
// cannot be read.
func searchLevel(level []any, where string) (l listing, found bool, unread error) {
	for _, v := range level {
		for _, name := range listNames {
			list, ok := listAt(v, name)
			if !ok {
				continue
			}
			read, err := readList(list, "at "+name+" in "+where)
			switch {
			case err == nil && len(read.results) > 0:
				return read, true, nil
			case err == nil && !found:
				l, found = read, true
			case err != nil && unread == nil:
				unread = err
			}
		}
	}
	return l, found, unread
}

// listAt is the list an object has under a name; null is an empty one.
func listAt(v any, name string) ([]any, bool) {
	object, _ := v.(map[string]any)
	member, ok := object[name]
	list, isList := member.([]any)
	return list, ok && (isList || member == nil)
}

// inner gives the objects inside objects, members by name.
func inner(level []any) (out []any) {
	for _, v := range level {
		object, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if _, ok := object[name].(map[string]any); ok {
				out = append(out, object[name])
			}
		}
	}
	return out
}

// readList reads the entries of a list. One without a name keeps its place;
// a list in which none has one is not what it was taken for.
func readList(entries []any, where string) (listing, error) {
	l := listing{where: where, none: "there is nothing " + where}
	named := false
	for _, entry := range entries[:min(len(entries), MaxResults)] {
		r := readEntry(entry)
		named = named || len(r.names) > 0
		l.results = append(l.results, r)
	}
	if len(l.results) > 0 && !named {
		return listing{}, fmt.Errorf("of %s %s none has a url, path or id", reason.Count(len(entries), "result"), where)
	}
	return l, nil
}

// readEntry reads a name, or an object that has some: itself, or in an object
// in which servers keep what they know about a document.
func readEntry(v any) result {
	object, ok := v.(map[string]any)
	if !ok {
		return newResult(nameText(v), "", "")
	}
	members := plainKeys(object)
	at := func(names ...string) string {
		for _, name := range names {
			if text := nameText(members[name]); text != "" {
				return text
			}
		}
		for _, outer := range []string{"metadata", "document", "source", "payload"} {
			object, _ := members[outer].(map[string]any)
			inside := plainKeys(object)
			for _, name := range names {
				if text := nameText(inside[name]); text != "" {
					return text
				}
			}
		}
		return ""
	}
	return newResult(
		at("url", "uri", "href", "link", "sourceurl"),
		at("path", "file", "filepath", "filename", "source"),
		at("id", "docid", "documentid", "slug"),
	)
}

// plainKeys gives members by their names in the form that all ways to write
// them have in common: file_path, filePath and File-Path are one.
func plainKeys(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		name := strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(key, "_", ""), "-", ""))
		if out[name] == nil {
			out[name] = object[key]
		}
	}
	return out
}

// nameText is a value that can be a name: a text or a number.
func nameText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
