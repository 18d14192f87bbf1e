// Package schema carries the JSON Schemas of the files people write, for
// editors and for the schema command. They are generated from the types that
// the files are decoded into.
package schema

import _ "embed"

//go:generate go run ./gen

// Suite is the JSON Schema of suite files.
//
//go:embed suite.schema.json
var Suite []byte

// Config is the JSON Schema of mettle.yaml.
//
//go:embed config.schema.json
var Config []byte
