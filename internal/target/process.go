package target

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/mettle-eval/mettle/internal/process"
)

// folder is where a command runs.
func (m *MCP) folder() string {
	if filepath.IsAbs(m.Dir) {
		return m.Dir
	}
	return filepath.Join(m.given.Base, m.Dir)
}

// environ is what a command sees: what programs need to start, and what the
// target names. A server's answers are kept and shown, so that whatever else it
// saw could end up there.
func (m *MCP) environ() []string {
	env := process.Environ(m.given.Environ)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	return env
}
