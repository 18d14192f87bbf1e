package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/suite"
)

// node is the part of JSON Schema that the schemas of suites and mettle.yaml
// are written in. They are where the keys of the files are read from, because
// the structs behind them are nobody's business.
type node struct {
	Ref         string           `json:"$ref"`
	Type        any              `json:"type"`
	Description string           `json:"description"`
	Default     json.RawMessage  `json:"default"`
	Enum        []string         `json:"enum"`
	Minimum     *float64         `json:"minimum"`
	Maximum     *float64         `json:"maximum"`
	MaxLength   *float64         `json:"maxLength"`
	MaxItems    *float64         `json:"maxItems"`
	Items       *node            `json:"items"`
	Properties  map[string]*node `json:"properties"`
	Values      values           `json:"additionalProperties"`
	Required    []string         `json:"required"`
	OneOf       []*node          `json:"oneOf"`
}

// values is what the values of a mapping with names of the reader's own are
// like; none where a schema says just that there are no others.
type values struct{ *node }

// UnmarshalJSON reads a schema, or a truth value, which says nothing here.
func (v *values) UnmarshalJSON(b []byte) error {
	if b[0] != '{' {
		return nil
	}
	v.node = new(node)
	return json.Unmarshal(b, v.node)
}

// schemas holds a schema by the word that templates use for its file.
type schemas map[string]*node

func readSchemas() (schemas, error) {
	out := schemas{}
	for name, s := range map[string]kind.Schema{"suite": suite.Schema(), "config": suite.ConfigSchema()} {
		b, err := json.Marshal(s)
		if err != nil {
			return nil, fmt.Errorf("write the %s schema: %w", name, err)
		}
		n := new(node)
		if err := json.Unmarshal(b, n); err != nil {
			return nil, fmt.Errorf("read the %s schema: %w", name, err)
		}
		out[name] = n
	}
	return out, nil
}

// order is that of the keys in the tables: what a person writes first. A
// schema has none. Keys that are not here follow, by name.
var order = []string{
	"id", "name", "description", "project", "version", "target", "targets", "suites", "defaults", "tool", "difficulty",
	"input", "eachSkill", "expected", "validations", "expectedKeywords", "forbiddenKeywords", "expectedImports",
	"criteria", "expectRefusal", "requiredImports", "requiredPatterns", "forbiddenPatterns", "groundTruth", "codeRequirements", "useLLMJudge",
	"tests", "tags",
	"trials", "concurrency", "timeouts", "maxErrors", "gates", "output", "case", "start", "connect", "list", "call", "close",
	"runs", "json", "report", "skills", "models", "answer", "judge", "endpoints", "limits", "prices", "prompts", "budget", "lint", "profile", "profiles", "extends", "keys", "rules", "suppress", "rule", "path", "reason",
	"baseline", "failOn",
}

// keys is the table of the keys of a mapping in a file: the file itself, or
// the one at a path of names with dots; lists stand for their entries.
func (s schemas) keys(file string, path ...string) (string, error) {
	n := s[file]
	for _, p := range path {
		for name := range strings.SplitSeq(p, ".") {
			if n = n.Properties[name]; n == nil {
				return "", fmt.Errorf("the %s schema has no %s", file, p)
			}
			if n.Items != nil {
				n = n.Items
			}
			if n.Values.node != nil {
				n = n.Values.node
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(n.Properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	})
	var rows [][]string
	for _, name := range names {
		p := n.Properties[name]
		typ := p.text()
		if p.hasKeys() {
			typ = strings.Replace(typ, "mapping", "[mapping](#"+anchor(name)+")", 1)
		}
		rows = append(rows, keyRow(name, typ, defaultText(p.Default), p.Description, slices.Contains(n.Required, name)))
	}
	return table(keyHead, rows), nil
}

// hasKeys tells a mapping, or a list of mappings, whose keys have a table of
// their own on the page, under a heading with its name.
func (n *node) hasKeys() bool {
	return len(n.Properties) > 0 || n.Items != nil && len(n.Items.Properties) > 0 || n.Values.node != nil && len(n.Values.Properties) > 0
}

func rank(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

func defaultText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// enumMax is how many values are listed; more have a page of their own.
const enumMax = 20

// text says in a few words what a value may be.
func (n *node) text() string {
	if len(n.Enum) > 0 && len(n.Enum) <= enumMax {
		return plain(strings.Join(n.Enum, " | "))
	}
	switch n.Ref {
	case "#/$defs/check":
		return "[check](rules.md)"
	case "#/$defs/target":
		return "[target](targets.md)"
	}
	if len(n.OneOf) > 0 {
		texts := make([]string, len(n.OneOf))
		for i, one := range n.OneOf {
			texts[i] = one.text()
		}
		return strings.Join(texts, " or ")
	}
	switch n.Type {
	case "array":
		return "list of " + n.Items.plural() + within(nil, n.MaxItems, " entries")
	case "object":
		return "mapping"
	case "integer":
		return "whole number" + within(n.Minimum, n.Maximum, "")
	case "number":
		return "number" + within(n.Minimum, n.Maximum, "")
	case "boolean":
		return "true or false"
	case "string":
		return "string" + within(nil, n.MaxLength, " characters")
	case nil:
		return "any value"
	}
	return "duration" // the one value of two types: 0, or a number with its unit
}

func (n *node) plural() string {
	if n.Ref != "" {
		return strings.Replace(n.text(), "]", "s]", 1)
	}
	return n.text() + "s"
}

func within(low, high *float64, unit string) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case low != nil && high != nil:
		return ", " + number(*low) + " to " + number(*high) + unit
	case high != nil:
		return ", " + number(*high) + unit + " or less"
	case low != nil:
		return ", " + number(*low) + unit + " or more"
	}
	return ""
}
