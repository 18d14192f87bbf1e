// Command gen writes the JSON Schemas of suite files and mettle.yaml into the
// working directory. It is run by go generate.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/suite"
)

// schemas are the files with what they hold.
var schemas = []struct {
	file   string
	schema func() kind.Schema
}{
	{"suite.schema.json", suite.Schema},
	{"config.schema.json", suite.ConfigSchema},
}

func main() {
	log.SetFlags(0)
	for _, s := range schemas {
		text, err := render(s.schema())
		if err == nil {
			err = os.WriteFile(s.file, text, 0o644)
		}
		if err != nil {
			log.Fatalf("write %s: %v", s.file, err)
		}
	}
}

// render gives the same bytes for the same schema: JSON sorts the keys of a
// mapping.
func render(s kind.Schema) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(s)
	return b.Bytes(), err
}
