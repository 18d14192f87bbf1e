// Package process splits command lines, and ends programs together with
// everything they started: npx and shells leave children behind that only a
// signal to their process group reaches.
//
// A child that leaves the group (setsid, a daemon) is found on Linux by a
// variable in its environment, and by its parents as long as they are there. A
// daemon that clears its environment survives, and so does any that leaves the
// group on another system.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// markName is the variable by which what a program started is found.
const markName = "METTLE_PROCESS="

var started atomic.Int64

// Group makes a command that has not been started lead a process group of its
// own, and marks its environment, if it is given one. When the command has a
// context, its end kills the whole group.
func Group(cmd *exec.Cmd) {
	group(cmd)
	if cmd.Env != nil {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s%d-%d", markName, os.Getpid(), started.Add(1)))
	}
	if cmd.Cancel != nil {
		cmd.Cancel = func() error { Kill(cmd); return nil }
	}
}

// mark is the entry that [Group] added to a command's environment.
func mark(cmd *exec.Cmd) string {
	if n := len(cmd.Env); n > 0 && strings.HasPrefix(cmd.Env[n-1], markName) {
		return cmd.Env[n-1]
	}
	return ""
}

// Terminate asks the group of a command to end. Where there are no signals, it
// kills the program.
func Terminate(cmd *exec.Cmd) {
	if cmd.Process != nil { // it was started
		_ = terminate(cmd) // fails when the group is empty, which is what is wanted
	}
}

// Kill ends the group of a command, and what it started outside of the group.
// The program itself may be gone already: then it ends what the program left
// running.
func Kill(cmd *exec.Cmd) {
	if cmd.Process == nil {
		return
	}
	strays := descendants(cmd)
	_ = kill(cmd)
	for range 10 { // a child may start another one in between
		for _, p := range strays {
			_ = p.Kill()
			_ = p.Release()
		}
		if strays = marked(cmd); len(strays) == 0 {
			return
		}
	}
}
