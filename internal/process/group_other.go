//go:build !unix

package process

import "os/exec"

// Without process groups only the program itself can be ended. What it started
// has to notice that its pipes are closed.
func group(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func kill(cmd *exec.Cmd) error { return cmd.Process.Kill() }
