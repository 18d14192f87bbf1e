//go:build !unix

package mcpclient

import (
	"os"
	"os/exec"
)

// Without process groups only the server itself can be ended; what it started
// has to notice that its pipes are closed.
func ownGroup(*exec.Cmd) {}

func terminateGroup(p *os.Process) { _ = p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }
