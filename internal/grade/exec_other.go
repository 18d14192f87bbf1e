//go:build !unix

package grade

import "os/exec"

// Without process groups only the program itself is ended.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
