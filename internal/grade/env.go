package grade

import (
	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/grade/judge"
	"github.com/mettle-eval/mettle/internal/process"
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

// defaultEnviron is for programs of checks that were handed no environment.
var defaultEnviron = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// PassedOn is the part of an environment that programs of checks get: see
// [process.Environ]. They work with files and times more than servers do.
func PassedOn(environ []string) []string { return process.Environ(environ, "TZ", "TMPDIR", "TMP") }

func (e *Env) environ() []string {
	if e.Environ == nil {
		return defaultEnviron
	}
	return e.Environ
}
