package judge

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/kind"
)

//go:embed prompts/*.md
var promptFiles embed.FS

// The prompts that are part of every question, beside that of the kind.
const (
	systemPrompt  = "system.md"
	closingPrompt = "closing.md"
	repairPrompt  = "repair.md"
)

// MaxPrompt bounds a prompt file: it is instructions, not material.
const MaxPrompt = 64 << 10

// promptNames lists the prompts the program carries.
func promptNames() []string {
	entries, err := promptFiles.ReadDir("prompts")
	if err != nil {
		panic(err) // they are part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Digests names every prompt that judges are asked with, and a digest of
// its text. Files of overrides replace built-in ones; overrides may be nil.
func Digests(overrides fs.FS) map[string]string {
	texts, _ := readPrompts(overrides) // what cannot be read is told when the checks are prepared
	digests := make(map[string]string, len(texts))
	for name, text := range texts {
		digests[name] = Digest(text)
	}
	return digests
}

// Digest is the digest of a prompt's text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readPrompts reads the prompts, each from the overrides if it is there.
func readPrompts(overrides fs.FS) (map[string]string, error) {
	names := promptNames()
	texts := make(map[string]string, len(names))
	var errs []error
	for _, name := range names {
		text, err := builtinPrompt(name), error(nil)
		if overrides != nil {
			text, err = overriddenPrompt(overrides, name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("prompt %s: %w", name, err))
			continue
		}
		texts[name] = text
	}
	if overrides != nil {
		errs = append(errs, strangers(overrides, names))
	}
	return texts, errors.Join(errs...)
}

func builtinPrompt(name string) string {
	text, err := promptFiles.ReadFile("prompts/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return tidyPrompt(string(text))
}

func overriddenPrompt(overrides fs.FS, name string) (string, error) {
	data, err := fs.ReadFile(overrides, name)
	if errors.Is(err, fs.ErrNotExist) {
		return builtinPrompt(name), nil
	}
	if err != nil {
		return "", err
	}
	known := placeholders(builtinPrompt(name))
	text, err := promptText(data, known)
	if err != nil || name != closingPrompt && name != repairPrompt {
		return text, err
	}
	for _, p := range known { // a judge that is not told the form of its reply gives none
		if !strings.Contains(text, "{{"+p+"}}") {
			return "", fmt.Errorf("{{%s}} is missing", p)
		}
	}
	return text, nil
}

// strangers finds Markdown files whose names are nearly those of prompts. What
// is far from all of them is not ours: targets keep their prompts in the same
// folder.
func strangers(overrides fs.FS, names []string) error {
	found, err := fs.Glob(overrides, "*.md")
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range found {
		if near := kind.Near(name, names); near != "" && !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("prompt %s: there is no prompt of this name (did you mean %q?)", name, near))
		}
	}
	return errors.Join(errs...)
}

// promptText is the text of a prompt that replaces a built-in one. known are the
// placeholders it may have.
func promptText(data []byte, known []string) (string, error) {
	text := tidyPrompt(string(data))
	switch {
	case len(data) > MaxPrompt:
		return "", fmt.Errorf("the prompt is %d bytes long, want %d or less", len(data), MaxPrompt)
	case !utf8.ValidString(text):
		return "", errors.New("the prompt is not UTF-8")
	case text == "":
		return "", errors.New("the prompt is empty")
	}
	for _, p := range placeholders(text) {
		if !slices.Contains(known, p) {
			return "", fmt.Errorf("the prompt has {{%s}}, which stands for nothing here", p)
		}
	}
	return text, nil
}

func tidyPrompt(text string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF"))
}

// ParsePrompt reads the prompt file of a check, which has no placeholders.
func ParsePrompt(data []byte) (string, error) { return promptText(data, nil) }

// placeholders lists the names between {{ and }} in a prompt.
func placeholders(text string) (out []string) {
	for {
		_, rest, ok := strings.Cut(text, "{{")
		if !ok {
			return out
		}
		name, rest, ok := strings.Cut(rest, "}}")
		if !ok {
			return out
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
		text = rest
	}
}

// filled puts values into a prompt's places; pairs are names and values.
func filled(text string, pairs ...string) string {
	places := slices.Clone(pairs)
	for i := 0; i < len(places); i += 2 {
		places[i] = "{{" + places[i] + "}}"
	}
	return strings.NewReplacer(places...).Replace(text)
}
