package grade

import (
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
)

// Env is what graders are handed beside the attempt, as [eval.Env.Grading].
type Env struct {
	Judges   *judge.Judges  // nil when the run has none
	Checkers *code.Checkers // programs that check code; nil for our own parsers alone
	Environ  []string       // of the programs of exec checks: see [PassedOn]
}

// envOf is what an attempt's graders were handed.
func envOf(e *eval.Env) *Env {
	if e != nil {
		if own, ok := e.Grading.(*Env); ok && own != nil {
			return own
		}
	}
	return new(Env)
}

// passedOn are the variables programs need to start and to find their files.
var passedOn = []string{
	"PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
	"SYSTEMROOT", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", // Windows
}

// defaultEnviron is for programs of checks that were handed no environment.
var defaultEnviron = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// PassedOn is the part of an environment, in the form of os.Environ, that
// programs of checks get: what they need to start, never a key or a token. It
// is not nil, which would stand for all of our own.
func PassedOn(environ []string) []string {
	kept := []string{}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(passedOn, strings.ToUpper(name)) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func (e *Env) environ() []string {
	if e.Environ == nil {
		return defaultEnviron
	}
	return e.Environ
}
