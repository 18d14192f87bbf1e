package code

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"
)

var (
	labels        = flag.String("labels", "", "file of labelled sources, as testdata/label.py writes it, for TestAccuracy")
	labelLanguage = flag.String("language", "python", "language of the labelled sources")
)

// TestAccuracy counts how often [Syntax] and the language's own parser agree on labelled sources, and lists where they do
// not. It is for measuring: what the labels are made of is not in the repository.
func TestAccuracy(t *testing.T) {
	if *labels == "" {
		t.Skip("no -labels given")
	}
	f, err := os.Open(*labels)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wrong, found, valid, rejected, unchecked, bytes int
	var spent time.Duration
	lines := bufio.NewScanner(f)
	for lines.Buffer(nil, 16<<20); lines.Scan(); {
		var s struct {
			File, Source string
			Valid        bool
		}
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		problems, checked := Syntax(*labelLanguage, s.Source)
		spent += time.Since(start)
		bytes += len(s.Source)
		switch {
		case !checked:
			unchecked++
		case s.Valid:
			if valid++; len(problems) > 0 {
				rejected++
				t.Logf("rejected: %s: %+v", s.File, problems[0])
			}
		default:
			if wrong++; len(problems) > 0 {
				found++
			} else {
				t.Logf("missed: %s", s.File)
			}
		}
	}
	n := max(wrong+valid+unchecked, 1)
	t.Logf("%s: %d of %d errors found, %d of %d valid sources rejected, %d not checked; %v and %d bytes a source",
		*labelLanguage, found, wrong, rejected, valid, unchecked, spent/time.Duration(n), bytes/n)
}
