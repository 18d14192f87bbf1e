// Package session decides everything about a run and carries it out.
//
// [New] turns [Options] into a [Plan]: configuration, suites and the selected
// cases, targets, models and judges, prompts, budget, gates and the header of
// the run. It finds every problem before anything is asked. [Resume] is the
// plan of a stored run minus what is done, [Rescore] one whose target is the
// stored run. [Plan.Run] carries the plan out, [Plan.Baseline] runs the same
// cases on the built-in server, [Plan.DryRun] estimates what a run would cost,
// and [Drift] makes the calls of a recording again.
//
// A command turns flags into options, calls one of these, and prints.
package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// World is the part of the outside world that sessions touch.
type World struct {
	Dir     string   // working directory
	Environ []string // in the form of os.Environ
	Now     func() time.Time
	Random  func() uint32
	Note    func(text string) // tells the person something while a run goes on
}

// Getenv is the value of an environment variable, "" when it is not set.
func (w *World) Getenv(name string) string {
	v, _ := w.LookupEnv(name)
	return v
}

// LookupEnv is the value of an environment variable and whether it is set.
func (w *World) LookupEnv(name string) (string, bool) {
	for i := len(w.Environ) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(w.Environ[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Abs makes a path of the command line absolute.
func (w *World) Abs(path string) string { return within(w.Dir, path) }

// within is a path relative to a folder.
func within(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// Shown is a path as a person wants to see it: short, from the working
// directory.
func (w *World) Shown(path string) string {
	rel, err := filepath.Rel(w.Dir, w.Abs(path))
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}

func (w *World) notef(format string, args ...any) {
	if w.Note != nil {
		w.Note(fmt.Sprintf(format, args...))
	}
}

// UsageError is an option that cannot be meant: nothing was asked.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
