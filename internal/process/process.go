// Package process splits command lines, and ends programs together with
// everything they started: npx and shells leave children behind that only a
// signal to their process group reaches.
package process

import "os/exec"

// Group makes a command that has not been started lead a process group of its
// own. When the command has a context, its end kills the whole group.
func Group(cmd *exec.Cmd) {
	group(cmd)
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { return kill(cmd) }
	}
}

// Terminate asks the group of a command to end. Where there are no signals, it
// kills the program.
func Terminate(cmd *exec.Cmd) { end(cmd, terminate) }

// Kill ends the group of a command. The program itself may be gone already:
// then it ends what the program left running.
func Kill(cmd *exec.Cmd) { end(cmd, kill) }

func end(cmd *exec.Cmd, signal func(*exec.Cmd) error) {
	if cmd.Process != nil { // it was started
		_ = signal(cmd) // fails when the group is empty, which is what is wanted
	}
}
