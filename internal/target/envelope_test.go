package target

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// TestEnvelope splits each text of testdata/envelope.txtar: name.raw is what
// a server said, name.want what it comes apart into. The comment of the file
// says the rest; name.envelope, where present, holds settings, and
// name.structured the structured content.
func TestEnvelope(t *testing.T) {
	file := filepath.Join("testdata", "envelope.txtar")
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*txtar.File{}
	for i := range archive.Files {
		files[archive.Files[i].Name] = &archive.Files[i]
	}
	for i := range archive.Files {
		name, ok := strings.CutSuffix(archive.Files[i].Name, ".raw")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var e Envelope
			if f := files[name+".envelope"]; f != nil {
				if err := yaml.Unmarshal(f.Data, &e); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.check(); err != nil {
				t.Fatal(err)
			}
			raw := strings.ReplaceAll(string(archive.Files[i].Data), `\r`, "\r")
			r := &eval.Response{Text: raw}
			if f := files[name+".structured"]; f != nil {
				r.Structured = json.RawMessage(f.Data)
			}
			e.Split(r)
			got := describe(r)
			want := files[name+".want"]
			if want == nil {
				t.Fatalf("%s.want is missing", name)
			}
			if *update {
				want.Data = []byte(got)
			} else if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.RawText() != raw {
				t.Error("the raw text is not what the server said")
			}
		})
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func describe(r *eval.Response) string {
	var b strings.Builder
	b.WriteString("text: " + strings.ReplaceAll(strings.ReplaceAll(r.Text, "\r", `\r`), "\n", "\n    | ") + "\n")
	if r.Meta != nil {
		j, _ := json.Marshal(r.Meta)
		b.WriteString("meta: " + string(j) + "\n")
	}
	if r.MetaBroken != "" {
		b.WriteString("broken: " + r.MetaBroken + "\n")
	}
	for _, s := range r.Sources {
		j, _ := json.Marshal(s)
		b.WriteString("source: " + string(j) + "\n")
	}
	return b.String()
}

func FuzzEnvelope(f *testing.F) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "envelope.txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		f.Add(string(file.Data))
	}
	f.Add("---\n<response_metadata>{}</response_metadata>---\n")
	f.Add("### Sources\n[1] a\n### Sources\n")
	f.Fuzz(func(t *testing.T, raw string) {
		r := &eval.Response{Text: raw}
		new(Envelope).Split(r)
		if r.RawText() != raw {
			t.Errorf("the raw text became %q", r.RawText())
		}
		if len(r.Text) > len(raw)+2 {
			t.Errorf("the answer grew to %q", r.Text)
		}
	})
}
