package mcpclient

import "sync"

// noiseLog counts what a server wrote to stdout besides its messages.
type noiseLog struct {
	secrets *secrets

	mu    sync.Mutex
	count int
	first []string
}

const (
	noiseKept     = 5
	noiseLineSize = 200
)

func (n *noiseLog) add(text []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	if len(n.first) < noiseKept {
		n.first = append(n.first, n.secrets.excerpt(string(text), noiseLineSize))
	}
}

func (n *noiseLog) seen() (count int, first []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.count, append([]string(nil), n.first...)
}
