package mcpclient

import (
	"encoding/json"
	"time"

	"github.com/mettle-eval/mettle/internal/term"
)

// Info is what is known about the server and the session so far.
type Info struct {
	Name, Version string          // of the server, as it says
	Target        string          // URL without secrets, or name of the program
	Protocol      string          // agreed version
	Era           string          // EraLegacy or EraModern
	Transport     string          // one of the Transport constants, never auto
	Capabilities  json.RawMessage // of the server
	Instructions  string

	// Noise counts the lines on stdout that were no messages; NoiseLines are
	// the first few of them.
	Noise      int
	NoiseLines []string
	Stderr     string // the end of it

	Tools     int    // how many the last [Client.Tools] found
	ToolsHash string // identifies them, regardless of order
	// Connect and List are how long the last handshake and listing took.
	Connect, List time.Duration
	Reconnects    int
	Findings      []string // oddities of the tool list
}

// Info reports on the session. It asks the server nothing.
func (c *Client) Info() Info {
	noise, lines := c.noise.seen()
	c.mu.Lock()
	defer c.mu.Unlock()
	info := Info{
		Target: c.secrets.clean(c.target()), Noise: noise, NoiseLines: lines, Stderr: term.ExcerptLines(c.secrets.clean(c.stderr.String())),
		Tools: len(c.listed.tools), ToolsHash: c.listed.sum,
		Connect: c.connectTime, List: c.listTime, Reconnects: c.reconnects,
		Findings: append([]string(nil), c.listed.findings...),
	}
	if c.hello != nil {
		c.describe(&info)
	}
	return info
}

// describe fills in what the server said in the last handshake.
func (c *Client) describe(info *Info) {
	info.Transport = c.linkKind
	info.Protocol = c.hello.ProtocolVersion
	info.Era = EraLegacy
	if isModern(info.Protocol) {
		info.Era = EraModern
	}
	info.Instructions = c.secrets.clean(c.hello.Instructions)
	if c.hello.Capabilities != nil {
		if raw, err := json.Marshal(c.hello.Capabilities); err == nil {
			info.Capabilities = c.secrets.answer(raw)
		}
	}
	if server := c.hello.ServerInfo; server != nil {
		info.Name, info.Version = c.secrets.excerpt(server.Name, 200), c.secrets.excerpt(server.Version, 200)
	}
}
