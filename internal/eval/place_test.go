package eval_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/eval"
)

// TestSharedCheckKeepsItsPlaceInEachCase: two cases use one check, each at a
// line of its own.
func TestSharedCheckKeepsItsPlaceInEachCase(t *testing.T) {
	shared := &eval.Check{Key: "k", Kind: "k", Pos: eval.Pos{File: "defaults.yaml", Line: 3, Col: 5}}
	for _, test := range []struct {
		places []eval.Place
		want   eval.Pos
	}{
		{[]eval.Place{{Line: 7, Col: 9}}, eval.Pos{File: "suite.yaml", Line: 7, Col: 9}},
		{[]eval.Place{{}}, shared.Pos},
		{nil, shared.Pos},
	} {
		c := &eval.Case{ID: "c", Checks: []*eval.Check{shared}, Places: test.places, Pos: eval.Pos{File: "suite.yaml", Line: 6}}
		if got := c.CheckPos(0); got != test.want {
			t.Errorf("CheckPos(0) with %v = %v, want %v", test.places, got, test.want)
		}
		b, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back eval.Case
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, back.CheckPos(0)); diff != "" {
			t.Errorf("read back (-want +got):\n%s", diff)
		}
	}
}
