package grade

import (
	"context"
	"slices"
	"strings"
)

// passedOn are the variables programs need to start and to find their files.
var passedOn = []string{
	"PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"SYSTEMROOT", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", // Windows
}

// defaultEnviron is for programs run without [WithEnviron].
var defaultEnviron = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

type environKey struct{}

// WithEnviron gives the programs of exec checks their environment, in the form
// of os.Environ. Only what programs need to start is taken from it, never a key
// or a token.
func WithEnviron(ctx context.Context, environ []string) context.Context {
	return context.WithValue(ctx, environKey{}, PassedOn(environ))
}

// PassedOn is the part of an environment that programs of checks get.
func PassedOn(environ []string) (kept []string) {
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(passedOn, strings.ToUpper(name)) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func environ(ctx context.Context) []string {
	if kept, ok := ctx.Value(environKey{}).([]string); ok {
		return append([]string{}, kept...) // not nil: that would be all of our own
	}
	return defaultEnviron
}
