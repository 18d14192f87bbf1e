package rust

import (
	"strings"
	"testing"
)

// TestUseExpansionIsBounded holds that a group with a long prefix and many leaves does not grow with their product.
func TestUseExpansionIsBounded(t *testing.T) {
	prefix := strings.Repeat("a", 900)
	src := strings.Repeat("use "+prefix+"::{"+strings.Repeat("b,", 20_000)+"};\n", 20)
	total := 0
	for _, i := range Imports(src) {
		total += len(i.Path)
	}
	if most := useBudget + 4*len(src); total == 0 || total > most {
		t.Errorf("paths take %d bytes, want some and at most %d", total, most)
	}
	deep := "use " + strings.Repeat("a::{", 100_000) + "b" + strings.Repeat("}", 100_000) + ";"
	if got := Imports(deep); len(got) != 0 {
		t.Errorf("a tree %d deep gave %d imports, want none", 100_000, len(got))
	}
}
