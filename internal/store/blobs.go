package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mettle-eval/mettle/internal/fsx"
)

// blobs keeps texts and files of a run once, by their digest: the skill that
// many answers were taken from, the artifacts of attempts.
type blobs struct {
	dir string

	mu    sync.Mutex
	kept  map[string]bool   // digests on disk
	texts map[string]string // digest of a text that was kept: hashing a skill for every answer costs more than looking it up
	read  map[string]string // text by digest
}

const digestPrefix = "sha256:"

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// keepText is keep for a text that comes again and again.
func (b *blobs) keepText(text string) (string, error) {
	b.mu.Lock()
	digest, ok := b.texts[text]
	b.mu.Unlock()
	if ok {
		return digest, nil
	}
	digest, err := b.keep([]byte(text))
	if err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.texts == nil {
		b.texts = map[string]string{}
	}
	b.texts[text] = digest
	return digest, nil
}

// keep stores data and returns its digest. It is on disk when keep returns.
func (b *blobs) keep(data []byte) (string, error) {
	digest := digestOf(data)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept[digest] {
		return digest, nil
	}
	if b.kept == nil {
		b.kept = map[string]bool{}
		if err := os.MkdirAll(b.dir, 0o700); err != nil {
			return "", fmt.Errorf("make the run's folder of blobs: %w", err)
		}
	}
	path := b.path(digest)
	if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, data) {
		if err := fsx.WriteSynced(path, data); err != nil {
			return "", fmt.Errorf("keep a blob: %w", err)
		}
	}
	b.kept[digest] = true
	return digest, nil
}

func (b *blobs) path(digest string) string {
	return filepath.Join(b.dir, strings.TrimPrefix(digest, digestPrefix))
}

// text reads a blob back, each once.
func (b *blobs) text(digest string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, ok := b.read[digest]; ok {
		return text, nil
	}
	hash := strings.TrimPrefix(digest, digestPrefix)
	if len(hash) != 2*sha256.Size || strings.Trim(hash, "0123456789abcdef") != "" {
		return "", fmt.Errorf("invalid digest %q", digest)
	}
	data, err := os.ReadFile(b.path(digest))
	if err != nil {
		return "", fmt.Errorf("read a blob: %w", err)
	}
	if digestOf(data) != digest {
		return "", fmt.Errorf("blob %s is damaged: its digest is %s", digest, digestOf(data))
	}
	if b.read == nil {
		b.read = map[string]string{}
	}
	b.read[digest] = string(data)
	return b.read[digest], nil
}
