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
)

// Version is that of the next release while it is being made. It is a
// constant, not read from the build's own records, because the package that
// reads those is initialised late.
const Version = "0.1.0"

// Line is what `mettle version` prints.
func Line() string {
	return "mettle " + Version + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n"
}

func init() {
	if len(os.Args) == 2 && (os.Args[1] == "version" || os.Args[1] == "--version") {
		if _, err := os.Stdout.WriteString(Line()); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
}
