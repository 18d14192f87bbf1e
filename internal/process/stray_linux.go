package process

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// marked finds the living processes that have the mark of a command, but for
// the command itself. Only those started after it are looked at, by their
// numbers.
func marked(cmd *exec.Cmd) []*os.Process {
	entry := mark(cmd)
	if entry == "" {
		return nil
	}
	return find(cmd, func(pid, _ int) bool {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // empty when it has ended
		return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+entry+"\x00"))
	})
}

// descendants finds what a command that still runs has started, whatever has
// become of the environment.
func descendants(cmd *exec.Cmd) (all []*os.Process) {
	family := map[int]bool{cmd.Process.Pid: true}
	for {
		more := find(cmd, func(pid, parent int) bool { return family[parent] && !family[pid] })
		for _, p := range more {
			family[p.Pid] = true
		}
		if len(more) == 0 {
			return all
		}
		all = append(all, more...)
	}
}

// find opens the processes started after a command for which match is true. It
// is asked when the process is open, so that its number cannot have become
// another one's.
func find(cmd *exec.Cmd, match func(pid, parent int) bool) (found []*os.Process) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // as many as there are
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= cmd.Process.Pid {
			continue
		}
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok && match(pid, parent) {
			found = append(found, p)
		} else {
			_ = p.Release()
		}
	}
	return found
}

// parentOf is the parent of a process that has not ended.
func parentOf(pid int) (parent int, ok bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	end := bytes.LastIndexByte(stat, ')') // the program's name before it may hold anything
	if err != nil || end < 0 {
		return 0, false
	}
	var state string
	if _, err := fmt.Sscan(string(stat[end+1:]), &state, &parent); err != nil || state == "Z" || state == "X" {
		return 0, false
	}
	return parent, true
}
