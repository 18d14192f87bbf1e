// Package judge asks models about answers: which model, with what prompt, how
// the answer is kept apart from the instructions, and how a reply is read.
//
// A check makes a [Question] of [Sections] and calls [Ask] with the [Form] of
// the reply it wants. The sections are fenced with delimiters that no text
// inside them can forge. A reply that is not a verdict is shown to the judge
// once with what is wrong; when there is still none, that is an error.
package judge

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/llm"
)

// Judges are the models that judge checks ask.
type Judges struct {
	Default llm.Model // asked by checks that name no model; nil when the run has no judge
	Name    string    // of Default, as provider:model

	// Named gives the model that a check or a panel names. It is called for
	// every answer, from many goroutines, and so keeps what it made.
	Named func(spec string) (llm.Model, error)

	Prompts fs.FS  // files that replace the built-in prompts of the same name; may be nil
	Answer  string // the model under test: a check that is judged by it says so

	read   sync.Once
	texts  map[string]string // the prompts as they were when first needed
	err    error             // what is wrong with them
	sample int               // added to the sample of every request: which vote of a panel it is
}

// None is why a check cannot be judged in a run that has no judge.
const None = "no judge is configured: give --judge provider:model or models.judge in mettle.yaml"

// prompts reads the prompts once: a file that changes during the run changes
// nothing.
func (j *Judges) prompts() error {
	j.read.Do(func() { j.texts, j.err = readPrompts(j.Prompts) })
	return j.err
}

// As is the judges with this one as the default, for one vote of a panel.
// sample is added to the sample of every request, so that a judge that votes
// twice is asked twice.
func (j *Judge) As(sample int) *Judges {
	other := &Judges{Default: j.model, Name: j.name, Named: j.Named, Prompts: j.Prompts, Answer: j.Answer, sample: j.sample + sample}
	other.read.Do(func() { other.texts, other.err = j.texts, j.err })
	return other
}

// Judge is a model that is asked about one attempt.
type Judge struct {
	model   llm.Model
	name    string
	attempt *eval.Attempt
	*Judges
}

// For is the judge of an attempt: the model that a check names, or the default
// when spec is empty.
func (j *Judges) For(a *eval.Attempt, spec string) (*Judge, error) {
	m, name, err := j.find(spec)
	if err != nil {
		return nil, err
	}
	return &Judge{m, name, a, j}, nil
}

// Prompt is the text of a prompt file, with values for its placeholders; pairs
// are names and values.
func (j *Judge) Prompt(name string, pairs ...string) string { return filled(j.texts[name], pairs...) }

// Prepare finds judges that cannot be asked. The default may be absent: then the
// checks that ask it are skipped.
func (j *Judges) Prepare(specs ...string) error {
	missing := new(eval.Missing)
	for _, spec := range specs {
		if spec == "" && (j == nil || j.Default == nil) {
			continue
		}
		if _, _, err := j.find(spec); err != nil {
			missing.What = append(missing.What, err.Error())
		}
	}
	if len(missing.What) > 0 {
		return missing
	}
	return nil
}

// find is the model that a check names, or the default, with its name.
func (j *Judges) find(spec string) (m llm.Model, name string, err error) {
	switch {
	case spec == "" && (j == nil || j.Default == nil):
		return nil, "", errors.New(None)
	case spec != "" && (j == nil || j.Named == nil):
		return nil, "", fmt.Errorf("judge %s: models of checks cannot be asked here", spec)
	case j.prompts() != nil:
		return nil, "", j.err
	case spec == "":
		return j.Default, j.Name, nil
	}
	if m, err = j.Named(spec); err == nil && m == nil {
		err = errors.New("there is no such model")
	}
	if err != nil {
		return nil, "", fmt.Errorf("judge %s: %w", spec, err)
	}
	return m, spec, nil
}
