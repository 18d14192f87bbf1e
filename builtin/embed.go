// Package builtin is what the binary carries: documentation pages, skills, and
// the suites that ask about them.
package builtin

import (
	"embed"
	"io/fs"
)

//go:embed docs skills suites
var files embed.FS

// Docs holds the Markdown pages, a folder a project.
var Docs = sub("docs")

// Skills holds the skills, as <skill>/<language>/SKILL.md.
var Skills = sub("skills")

// Suites holds the suite files, a folder a project and one for skills.
var Suites = sub("suites")

func sub(dir string) fs.FS {
	f, err := fs.Sub(files, dir)
	if err != nil {
		panic(err) // the name is ours
	}
	return f
}
