package process

import (
	"slices"
	"strings"
)

// inherited are the variables that the official SDKs of the Model Context
// Protocol hand to servers they start, and those of the locale.
var inherited = []string{
	"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE",
	"APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", // Windows, as far as USERPROFILE
	"SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE",
}

// Inherits tells whether programs get a variable without being given it.
func Inherits(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains(inherited, name) || strings.HasPrefix(name, "LC_")
}

// Environ is the part of an environment, in the form of os.Environ, that
// programs get: what they need to start, never a key or a token. more names
// further variables. A function that a shell exported is left out, since some
// shells would run it. It is not nil, which would stand for all of our own.
func Environ(environ []string, more ...string) []string {
	kept := []string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if (Inherits(name) || slices.Contains(more, strings.ToUpper(name))) && !strings.HasPrefix(value, "()") {
			kept = append(kept, entry)
		}
	}
	return kept
}
