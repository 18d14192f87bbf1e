package target

import (
	"maps"
	"path/filepath"
	"slices"
)

// folder is where a command runs.
func (m *MCP) folder() string {
	if filepath.IsAbs(m.Dir) {
		return m.Dir
	}
	return filepath.Join(m.given.Base, m.Dir)
}

// environ is what a command sees: what mettle was given, and the target's own.
func (m *MCP) environ() []string {
	env := slices.Clone(m.given.Environ)
	for _, k := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, k+"="+m.Env[k])
	}
	return env
}
