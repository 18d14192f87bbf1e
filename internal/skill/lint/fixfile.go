package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mettle-eval/mettle/internal/skill"
)

// fixRounds bounds how often a file is fixed: each round makes the fixes that those before it stood in the way of.
const fixRounds = 10

// fix makes all fixes of a document and gives the findings that are gone.
func (j *Job) fix(f *File, d *skill.Document) (*skill.Document, []Finding) {
	scratch, err := NewLinter(j.linter.opts) // the job's own would take each version for a further skill
	if err != nil {
		return d, nil // the job's own was made of the same
	}
	var fixed []Finding
	open := fixable(scratch.File(d))
	for round := 0; round < fixRounds && len(open) > 0; round++ {
		text, n := Apply(d.Text, open)
		if n == 0 || text == d.Text {
			break
		}
		d = f.parse([]byte(text))
		left := fixable(scratch.File(d))
		fixed = append(fixed, gone(open, left)...)
		open = left
	}
	return d, fixed
}

// fixable are the findings whose fixes are wanted.
func fixable(found []Finding) []Finding {
	return slices.DeleteFunc(found, func(f Finding) bool { return f.Fix == nil || f.Suppressed != "" })
}

// gone are the findings that are no longer there.
func gone(before, after []Finding) (out []Finding) {
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

// fixFile fixes a file on the disk. When it cannot be written, what is wrong with it is still so.
func (j *Job) fixFile(f *File, d *skill.Document) (*skill.Document, []Finding, error) {
	after, fixed := j.fix(f, d)
	if after.Text == d.Text {
		return d, nil, nil
	}
	if err := rewrite(f.Path, []byte(d.Text), []byte(after.Text)); err != nil {
		return d, nil, f.shown(err)
	}
	return after, fixed, nil
}

// rewrite puts a new text in the place of a file's old one, in one step and with the permissions it has. A file that is
// not what it was when it was read is left alone.
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
	info, err := now.Stat()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(now)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, before) {
		return fmt.Errorf("%s has changed since it was read", path)
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".mettle-*")
	if err != nil {
		return err
	}
	_, err = next.Write(after)
	err = errors.Join(err, next.Chmod(info.Mode().Perm()), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Change is what fixing would do to a file.
type Change struct {
	Diff  []byte // a unified diff, empty when nothing changes
	Fixed int    // findings that are gone then
	Err   error  // why it is not known
}

// Changes tells what fixing would do to each file, and changes none. It counts files and problems.
func (j *Job) Changes(ctx context.Context, emit func(Change) error) error {
	const workers = 1 // the texts of two versions of a file are held, so one at a time
	return inOrder(ctx, len(j.Files), workers, func(i int) Change { return j.change(&j.Files[i]) }, func(c Change) error {
		j.Totals.Files++
		if c.Err != nil {
			j.Totals.Problems++
		}
		return emit(c)
	})
}

func (j *Job) change(f *File) Change {
	d, err := f.load()
	if err != nil {
		return Change{Err: f.shown(err)}
	}
	after, fixed := j.fix(f, d)
	text := diff.Diff("a/"+f.Shown, []byte(d.Text), "b/"+f.Shown, []byte(after.Text))
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
		text = rest // the command line of a diff program, which this is not
	}
	return Change{Diff: text, Fixed: len(fixed)}
}
