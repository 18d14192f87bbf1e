package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/skill"
	"github.com/mettle-eval/mettle/internal/term"
)

// mendRounds bounds how often a file is mended: each round makes the fixes that
// those before it stood in the way of.
const mendRounds = 10

// mend makes all fixes of a document and gives what is mended.
func (j *lintJob) mend(f lintFile, d *skill.Document) (*skill.Document, []skill.Finding) {
	scratch, err := skill.NewLinter(j.settings) // the job's own would take each version for a further skill
	if err != nil {
		return d, nil // the job's own was made of the same
	}
	var mended []skill.Finding
	open := j.fixable(scratch.File(d))
	for round := 0; round < mendRounds && len(open) > 0; round++ {
		text, n := skill.Apply(d.Text, open)
		if n == 0 || text == d.Text {
			break
		}
		d = f.parse([]byte(text))
		left := j.fixable(scratch.File(d))
		mended = append(mended, gone(open, left)...)
		open = left
	}
	return d, mended
}

// fixable are the findings whose fixes are wanted.
func (j *lintJob) fixable(found []skill.Finding) []skill.Finding {
	return slices.DeleteFunc(found, func(f skill.Finding) bool {
		return f.Fix == nil || f.Suppressed != "" || j.baseline != nil && j.baseline.Has(f)
	})
}

// gone are the findings that are no longer there.
func gone(before, after []skill.Finding) (out []skill.Finding) {
	left := make(map[string]bool, len(after))
	for _, f := range after {
		left[f.Fingerprint] = true
	}
	for _, f := range before {
		if !left[f.Fingerprint] {
			out = append(out, f)
		}
	}
	return out
}

// mendFile mends a file on the disk. When it cannot be written, what is wrong
// with it is still so.
func (j *lintJob) mendFile(f lintFile, d *skill.Document) (*skill.Document, []skill.Finding, error) {
	after, mended := j.mend(f, d)
	if after.Text == d.Text {
		return d, nil, nil
	}
	if err := rewrite(f.path, []byte(d.Text), []byte(after.Text)); err != nil {
		return d, nil, errors.New(f.shownIn(err))
	}
	return after, mended, nil
}

// rewrite replaces a file's text in one step. A file that has changed since it
// was read is left alone.
func rewrite(path string, before, after []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	now, err := os.OpenFile(path, os.O_RDWR, 0) // one that must not be written to is not to be replaced either
	if err != nil {
		return err
	}
	defer now.Close()
	text, err := io.ReadAll(now)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, before) {
		return fmt.Errorf("%s has changed since it was read", path)
	}
	return fsx.WriteFile(path, after)
}

// diff shows what --fix would change. For a program it is exact, so that it can
// be applied; on a terminal what the files hold is made harmless first.
func (j *lintJob) diff(ctx context.Context, out io.Writer, o report.Options) error {
	fixed := 0
	workers := 1 // the texts of two versions of a file are held, so one at a time
	err := inOrder(ctx, len(j.files), workers, func(i int) lintChange { return j.change(j.files[i]) }, func(c lintChange) error {
		j.totals.Files++
		if c.problem != "" {
			j.totals.Problems++
			j.world.printf("mettle: %s\n", term.Sanitize(c.problem))
		}
		if len(c.text) == 0 {
			return nil
		}
		j.changes++
		fixed += c.fixed
		_, err := out.Write(c.show(o.Color || j.world.OutTTY && j.opts.output == "-", o.Color))
		return err
	})
	if err != nil {
		return err
	}
	if j.changes == 0 {
		j.world.printf("nothing to fix in %s\n", count(len(j.files), "file"))
		return nil
	}
	j.world.printf("--fix would mend %s in %s\n", count(fixed, "finding"), count(j.changes, "file"))
	return nil
}

// lintChange is what --fix would do to a file.
type lintChange struct {
	text    []byte // a unified diff
	fixed   int
	problem string // why it is not known
}

func (j *lintJob) change(f lintFile) lintChange {
	d, err := j.load(f)
	if err != nil {
		return lintChange{problem: f.shownIn(err)}
	}
	after, mended := j.mend(f, d)
	text := diff.Diff("a/"+f.shown, []byte(d.Text), "b/"+f.shown, []byte(after.Text))
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
		text = rest // the command line of a diff program, which this is not
	}
	return lintChange{text: text, fixed: len(mended)}
}

// show is the diff for a person or for a program.
func (c lintChange) show(person, color bool) []byte {
	if !person {
		return c.text
	}
	var b bytes.Buffer
	for line := range strings.Lines(string(c.text)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutSuffix(line, "\r"); ok {
			line = rest + "␍" // or lines would differ in nothing that can be seen
		}
		line = term.Sanitize(line)
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			line = term.Paint(color).Bold(line)
		case strings.HasPrefix(line, "@@"):
			line = term.Paint(color).Dim(line)
		case strings.HasPrefix(line, "-"):
			line = term.Paint(color).Red(line)
		case strings.HasPrefix(line, "+"):
			line = term.Paint(color).Green(line)
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}
