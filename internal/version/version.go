// Package version knows which mettle this is, and answers `mettle version`
// before the rest of the program is initialised.
//
// Go initialises a program's packages in order of their import paths, each
// after what it imports. This package imports next to nothing, so its turn
// comes before the parsers, the database and the SDKs that the binary links,
// whose tables take several times as long to set up as an empty program takes
// to run. Scripts ask for a version often; they should not pay for those.
package version

import (
	"os"
	"runtime"
	"runtime/debug"
)

// release is set by the linker when a release is built.
var release = ""

// Version is the release, or what the build was made from.
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Line is what `mettle version` prints.
func Line() string {
	return "mettle " + Version() + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n"
}

func init() {
	if len(os.Args) == 2 && (os.Args[1] == "version" || os.Args[1] == "--version") {
		if _, err := os.Stdout.WriteString(Line()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}
