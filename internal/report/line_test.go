package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestLine holds the progress lines of all sample results against
// testdata/line.txtar.
func TestLine(t *testing.T) {
	got := &txtar.Archive{Comment: []byte("Progress lines of the results in sample_test.go.\n")}
	for _, v := range []struct {
		name string
		o    Options
	}{{"plain", Options{}}, {"narrow", Options{Width: 40}}, {"verbose", Options{Verbose: true}}, {"color", Options{Color: true, Verbose: true}}} {
		var b strings.Builder
		results := sampleResults()
		for i, r := range results {
			if r.Response != nil && len(r.Response.Text) > 1<<19 {
				continue // its reason alone fills a screen
			}
			b.WriteString(Line(runOf(results), r, i+1, v.o) + "\n")
		}
		data := strings.ReplaceAll(b.String(), "\x1b", "{ESC}")
		got.Files = append(got.Files, txtar.File{Name: v.name, Data: []byte(data)})
	}
	golden(t, "testdata/line.txtar", got)
}

func TestLineIsThePlansLine(t *testing.T) {
	r := plainResults()[0]
	if diff := cmp.Diff("  ✓ [3/120] mina-basic-001: What is o1js?", Line(&eval.Run{Header: eval.Header{Planned: 120}}, r, 3, Options{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
