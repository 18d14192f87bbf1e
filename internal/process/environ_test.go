package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	t.Parallel()
	given := []string{
		"HOME=/home/a", "PATH=/bin", "LC_ALL=C", "LANG=de_DE.UTF-8", "TERM=xterm", "ANTHROPIC_API_KEY=sk", "GITHUB_TOKEN=gh", "DATABASE_URL=postgres://u:p@h/d",
		"LD_PRELOAD=x.so", "TZ=UTC", "SHELL=() { evil; }", "Path=C:\\", "broken",
	}
	if diff := cmp.Diff([]string{"HOME=/home/a", "PATH=/bin", "LC_ALL=C", "LANG=de_DE.UTF-8", "TERM=xterm", "TZ=UTC", "Path=C:\\"}, Environ(given, "TZ")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := Environ(nil); got == nil || len(got) != 0 {
		t.Errorf("without an environment: %#v", got)
	}
}
