package suite

import (
	"github.com/mettle-eval/mettle/internal/grade"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/target"
)

const draft = "https://json-schema.org/draft/2020-12/schema"

// Schema is the JSON Schema of a suite file.
func Schema() kind.Schema {
	s := kind.SchemaOf(new(suiteFile))
	s["$schema"] = draft
	s["title"] = "mettle suite"
	s["description"] = "Tests of a target, with what their answers must be like."
	s["$defs"] = kind.Schema{"check": grade.CheckSchema(), "target": target.Schema()}
	return s
}

// ConfigSchema is the JSON Schema of mettle.yaml.
func ConfigSchema() kind.Schema {
	s := kind.SchemaOf(new(configFile))
	s["$schema"] = draft
	s["title"] = "mettle configuration"
	s["description"] = "Targets, suites and settings of the runs in this folder and below."
	s["$defs"] = kind.Schema{"target": target.Schema()}
	return s
}
