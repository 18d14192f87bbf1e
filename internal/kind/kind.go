// Package kind holds catalogues of named kinds: graders, targets, whatever a
// YAML file chooses by a word and then configures.
//
// A kind's struct is its configuration. Its fields' tags are the one place
// that says what they are called (yaml, json), what they mean (jsonschema) and
// what they may hold (check); decoding with positions ([Decoder]), the JSON
// Schema ([SchemaOf]) and the reference text ([Fields]) all read them there.
//
// The check tag is a comma-separated list of: required; min=N and max=N for a
// number, or for the length of a string, list or mapping, and min=1ms and
// max=1m for a [Duration]; enum=a|b|c; default=X, which only documents.
package kind

// Kind is one entry of a catalogue.
type Kind[T any] struct {
	Name    string
	Doc     string // one sentence
	Explain string // what one sentence leaves open, as Markdown
	Example string // a use of it, as YAML
	New     func() T

	// Of graders: the failure mode that a failed check counts under, and that of
	// a failed check with not.
	Mode, NotMode string
	Graded        bool   // its values say more than pass and fail
	Section       string // the part of a report that shows its mean, with its place there
	Order         int
}

// Catalog is an explicit, alphabetical list of kinds.
type Catalog[T any] []Kind[T]

// Find gives the kind with a name.
func (c Catalog[T]) Find(name string) (Kind[T], bool) {
	for _, k := range c {
		if k.Name == name {
			return k, true
		}
	}
	return Kind[T]{}, false
}

// Names lists the kinds' names in catalogue order.
func (c Catalog[T]) Names() []string {
	names := make([]string, len(c))
	for i, k := range c {
		names[i] = k.Name
	}
	return names
}

// Checker is implemented by kinds whose configuration can be wrong in ways
// the check tags cannot say. Check runs when a file is loaded, touches nothing
// outside the value, and may keep what it worked out, such as a compiled
// pattern.
type Checker interface{ Check() error }

// FieldError is an error of a [Checker] that knows the field at fault, so that
// the message points there.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }
