package target

import (
	"path/filepath"
	"slices"
)

// folder is where a command runs.
func (m *MCP) folder() string {
	if m.Dir == "" || filepath.IsAbs(m.Dir) {
		if m.Dir == "" {
			return m.Base
		}
		return m.Dir
	}
	return filepath.Join(m.Base, m.Dir)
}

// environ is what a command sees: what mettle was given, and the target's own.
func (m *MCP) environ() []string {
	env := slices.Clone(m.Environ)
	for _, k := range sortedKeys(m.Env) {
		env = append(env, k+"="+m.Env[k])
	}
	return env
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
