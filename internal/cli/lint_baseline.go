package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/term"
)

// readBaseline reads the old findings, if there is a file of them.
func (j *lintJob) readBaseline(cfg *suite.Config) error {
	switch {
	case j.opts.baseline != "":
		j.baselinePath = j.world.abs(j.opts.baseline)
	case cfg.Lint.Baseline != "":
		j.baselinePath = filepath.Join(cfg.Dir, cfg.Lint.Baseline)
	case j.opts.writeBaseline:
		return usagef("--write-baseline needs the file's name: give --baseline, or lint.baseline in %s", suite.ConfigName)
	default:
		return nil
	}
	f, err := os.Open(j.baselinePath)
	if errors.Is(err, fs.ErrNotExist) && j.opts.writeBaseline {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no baseline %s; --write-baseline makes one", j.world.shown(j.baselinePath))
	}
	if err != nil {
		return usagef("read the baseline: %w", err)
	}
	defer f.Close()
	if j.baseline, err = skill.ReadBaseline(f); err != nil {
		return usagef("%s: %w", j.world.shown(j.baselinePath), err)
	}
	j.seen = map[string]bool{}
	return nil
}

// withoutBaseline takes old findings out and counts them.
func (j *lintJob) withoutBaseline(f *report.LintFile) {
	if j.baseline == nil || j.opts.writeBaseline {
		return
	}
	f.Findings = slices.DeleteFunc(f.Findings, func(x skill.Finding) bool {
		old := x.Suppressed == "" && j.baseline.Has(x)
		if old {
			j.totals.Baseline++
			j.seen[x.Fingerprint] = true
		}
		return old
	})
}

// staleEntries counts the findings of the baseline that were not found again in
// files that were looked at.
func (j *lintJob) staleEntries() (n int) {
	if j.baseline == nil {
		return 0
	}
	linted := j.lintedIDs()
	for _, e := range j.baseline.Findings {
		if linted[e.File] && !j.seen[e.Fingerprint] {
			n++
		}
	}
	return n
}

func (j *lintJob) lintedIDs() map[string]bool {
	ids := make(map[string]bool, len(j.files))
	for _, f := range j.files {
		ids[f.id] = true
	}
	return ids
}

// rememberFindings writes the findings of now to the baseline. What it says of
// files that were not looked at stays, as long as they are there.
func (j *lintJob) rememberFindings(ctx context.Context) error {
	ids := make(map[string]string, len(j.files))
	for _, f := range j.files {
		ids[f.shown] = f.id
	}
	var found []skill.Finding
	err := j.lint(ctx, func(f report.LintFile) error {
		if j.totals.Add(f); f.Err != nil {
			j.world.printf("%s\n", term.Sanitize("mettle: "+f.Err.Error()))
		}
		for _, x := range f.Findings {
			x.File = ids[f.Path]
			found = append(found, x)
		}
		return nil
	})
	if err != nil {
		return err
	}
	next := skill.NewBaseline(found)
	n := len(next.Findings)
	next.Findings = append(next.Findings, j.entriesOfOthers()...)
	slices.SortStableFunc(next.Findings, func(a, b skill.BaselineEntry) int {
		return strings.Compare(a.File+"\x00"+a.Rule+"\x00"+a.Fingerprint, b.File+"\x00"+b.Rule+"\x00"+b.Fingerprint)
	})
	if err := fsx.Replace(j.baselinePath, next.Write); err != nil {
		return usagef("write the baseline: %w", err)
	}
	j.world.printf("%s of %s written to %s\n", count(n, "finding"), count(len(j.files), "file"), j.world.shown(j.baselinePath))
	return nil
}

// entriesOfOthers are those of files that exist and were not looked at.
func (j *lintJob) entriesOfOthers() (out []skill.BaselineEntry) {
	if j.baseline == nil {
		return nil
	}
	linted := j.lintedIDs()
	for _, e := range j.baseline.Findings {
		if linted[e.File] {
			continue
		}
		if _, err := os.Stat(filepath.Join(j.root, filepath.FromSlash(e.File))); err == nil {
			out = append(out, e)
		}
	}
	return out
}
