package lintreport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDiffForPeople: on a terminal nothing is obeyed, and line ends can be told
// apart.
func TestDiffForPeople(t *testing.T) {
	text := []byte("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\x1b[2J\n+a\x1b[2J\r\n")
	want := "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a␛[2J\n+a␛[2J␍\n"
	if diff := cmp.Diff(want, string(Diff(text, false))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
