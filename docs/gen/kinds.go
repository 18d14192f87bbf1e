package main

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/target"
)

func rules() kind.Catalog[eval.Grader] { return grade.Kinds }

func targetKinds() kind.Catalog[target.Target] { return target.Kinds }

// ruleFields are the keys every check has.
func ruleFields() string { return fieldTable(grade.CommonFields()) }

// ruleIndex lists the rules in a table.
func ruleIndex() string {
	var rows [][]string
	for _, k := range grade.Kinds {
		mode := cmp.Or(k.Mode, "what the check inside counts as")
		rows = append(rows, []string{"[" + code(k.Name) + "](#" + anchor(k.Name) + ")", plain(k.Doc), plain(mode)})
	}
	return table([]string{"rule", "passes when", "a fail counts as"}, rows)
}

// fields is the table of what can be set on a value of a kind; "" when
// nothing can.
func fields(v any) string { return fieldTable(kind.Fields(v)) }

func fieldTable(list []kind.Field) string {
	if len(list) == 0 {
		return ""
	}
	var rows [][]string
	for _, f := range list {
		rows = append(rows, keyRow(f.Name, plain(f.Type), f.Default, f.Doc, f.Required))
	}
	return table(keyHead, rows)
}

var keyHead = []string{"key", "value", "default", "meaning"}

func keyRow(name, typ, def, doc string, required bool) []string {
	switch {
	case required:
		def = "required"
	case def != "":
		def = code(def)
	}
	return []string{code(name), typ, def, plain(doc)}
}

// part is a mapping among the settings of a kind, with its own keys.
type part struct{ Name, Fields string }

// parts lists the mappings among what can be set on a value.
func parts(v any) (out []part) {
	t := reflect.TypeOf(v).Elem()
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Type.Kind() != reflect.Struct || name == "" || name == "-" {
			continue
		}
		out = append(out, part{name, fields(reflect.New(f.Type).Interface())})
	}
	return out
}
