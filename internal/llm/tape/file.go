package tape

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mettle-eval/mettle/internal/fsx"
)

const (
	format = 2
	marker = "tape.json" // says that a folder is a tape, and of which format
)

// entry is one exchange on a tape: a file of its own, for people to read and
// for version control to show what changed.
type entry struct {
	Format int             `json:"format"`
	Kind   string          `json:"kind"`
	Key    json.RawMessage `json:"key"`
	Value  json.RawMessage `json:"value"`
}

// parseEntry reads an entry. Its parts are as small as JSON makes them, so
// that raw parts of what is made of them do not depend on how the file is set.
func parseEntry(b []byte) (*entry, error) {
	var small bytes.Buffer
	if err := json.Compact(&small, b); err != nil {
		return nil, err
	}
	var e entry
	if err := json.Unmarshal(small.Bytes(), &e); err != nil {
		return nil, err
	}
	switch {
	case e.Format == 0 || e.Kind == "":
		return nil, errors.New("it is no entry of a tape")
	case e.Format > format:
		return nil, fmt.Errorf("it has format %d, and this mettle reads format %d", e.Format, format)
	case e.Format < format:
		return nil, errors.New("it was made by an older mettle: record it again")
	case len(e.Key) == 0 || len(e.Value) == 0:
		return nil, errors.New("it has no key or no value")
	}
	return &e, nil
}

// canonical is the JSON of a value with sorted keys and no space: what is
// equal as JSON is the same key.
func canonical(v any) ([]byte, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // large numbers must not become equal
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	return marshal(tree)
}

// marshal writes JSON that people can read: < stays <.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// path is where an entry is kept. It is computed from the key as it is, not as
// it is written: a replay finds it without knowing what was redacted.
func (t *Tape) path(kind string, key any) (string, error) {
	if kind == "" || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return "", fmt.Errorf("%q is no kind of tape entry", kind)
	}
	b, err := canonical(key)
	if err != nil {
		return "", fmt.Errorf("key of a tape entry: %w", err)
	}
	sum := sha256.Sum256(append([]byte(kind+"\x00"), b...))
	return filepath.Join(t.dir, kind, hex.EncodeToString(sum[:16])+".json"), nil
}

// Load finds what was saved under a key and reads it into a pointer.
func (t *Tape) Load(kind string, key, into any) (bool, error) {
	path, err := t.path(kind, key)
	if err != nil {
		return false, err
	}
	e, err := readEntry(path, kind)
	if e == nil || err != nil {
		return false, err
	}
	if err := json.Unmarshal(e.Value, into); err != nil {
		return false, fmt.Errorf("tape entry %s: %w", path, err)
	}
	return true, nil
}

// readEntry gives nil when there is no such entry.
func readEntry(path, kind string) (*entry, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var e *entry
	if err == nil {
		e, err = parseEntry(b)
	}
	if err == nil && e.Kind != kind {
		err = fmt.Errorf("it is of the kind %q, want %q", e.Kind, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("tape entry %s: %w", path, err)
	}
	return e, nil
}

// Save keeps a value under a key, in place of what was kept there. Both are
// redacted first.
func (t *Tape) Save(kind string, key, value any) error {
	if t.mode == Replay {
		return fmt.Errorf("tape %s: it is replayed, not written", t.dir)
	}
	path, err := t.path(kind, key)
	if err != nil {
		return err
	}
	b, err := t.encode(kind, key, value)
	if err == nil {
		err = fsx.WritePrivate(path, b)
	}
	if err != nil {
		return fmt.Errorf("tape entry %s: %w", path, err)
	}
	return nil
}

func (t *Tape) encode(kind string, key, value any) ([]byte, error) {
	e := entry{Format: format, Kind: kind}
	for _, part := range []struct {
		of   any
		into *json.RawMessage
	}{{key, &e.Key}, {value, &e.Value}} {
		b, err := marshal(part.of)
		if err != nil {
			return nil, err
		}
		*part.into = t.Redact.JSON(b)
	}
	b, err := marshal(e)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
