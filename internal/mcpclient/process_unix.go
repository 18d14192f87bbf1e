//go:build unix

package mcpclient

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process lead a group of its own: npx and shells leave
// children behind that only a signal to the group reaches.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

func terminateGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
