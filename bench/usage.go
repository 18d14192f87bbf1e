//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what a process took.
type usage struct {
	start     time.Time
	wall, cpu time.Duration
	peakMB    float64
	samples   []sample
	stages    []stage
}

// sample is the CPU time that a process has used up to a moment.
type sample struct {
	at  time.Time
	cpu time.Duration
}

// stage is a part of a run.
type stage struct {
	name string
	usage
}

// least is the round that took least, with the least CPU time and memory of
// all: other work on the machine only adds.
func least(all []usage) usage {
	u := all[0]
	for _, v := range all[1:] {
		cpu, peak := min(u.cpu, v.cpu), min(u.peakMB, v.peakMB)
		if v.wall < u.wall {
			u = v
		}
		u.cpu, u.peakMB = cpu, peak
	}
	return u
}

// timed runs a command and asks the system what it took.
func timed(cmd *exec.Cmd) (usage, error) {
	u := usage{start: time.Now()}
	if err := cmd.Start(); err != nil {
		return u, err
	}
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		u.watch(cmd.Process.Pid, done)
	}()
	err := cmd.Wait()
	u.wall = time.Since(u.start)
	close(done)
	<-watched
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && u.peakMB == 0 {
		u.peakMB = float64(r.Maxrss) / 1024
	}
	return u, err
}

// watch samples the CPU time and the peak memory of a process, where the
// system has /proc. The peak of the resource usage would do for memory, but on
// Linux it begins with that of the process that started this one.
func (u *usage) watch(pid int, done <-chan struct{}) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	proc := fmt.Sprintf("/proc/%d/", pid)
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		stat, err := os.ReadFile(proc + "stat")
		if err != nil {
			continue
		}
		// The fields after the name in parentheses; user and system time are the
		// 14th and 15th of all, in hundredths of a second.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		user, err1 := strconv.Atoi(fields[11])
		system, err2 := strconv.Atoi(fields[12])
		if err := errors.Join(err1, err2); err != nil {
			continue
		}
		u.samples = append(u.samples, sample{time.Now(), time.Duration(user+system) * 10 * time.Millisecond})
		status, _ := os.ReadFile(proc + "status")
		if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(after)[0], 64)
			u.peakMB = max(u.peakMB, kb/1024)
		}
	}
}

// cut divides a run into its stages by what can be seen from outside: the
// server knows when the first call came and the last was answered, and files
// know when they were written.
func (u *usage) cut(dir string, seen calls) error {
	ends := []struct {
		name string
		at   time.Time
	}{{"load", time.Unix(0, seen.First)}, {"run", time.Unix(0, seen.Last)}, {name: "finish"}, {name: "json report"}, {"terminal report", u.start.Add(u.wall)}}
	for i, pattern := range map[int]string{2: ".mettle/runs/*/run.json", 3: "reports/*.json"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) != 1 {
			return fmt.Errorf("%s: %d files, want 1", pattern, len(files))
		}
		info, err := os.Stat(files[0])
		if err != nil {
			return err
		}
		ends[i].at = info.ModTime()
	}
	from := u.start
	for _, end := range ends {
		st := stage{name: end.name}
		st.wall = max(0, end.at.Sub(from))
		st.cpu = max(0, u.cpuAt(end.at)-u.cpuAt(from))
		u.stages = append(u.stages, st)
		from = end.at
	}
	return nil
}

// cpuAt is the CPU time used up to a moment.
func (u *usage) cpuAt(t time.Time) time.Duration {
	if !t.Before(u.start.Add(u.wall)) {
		return u.cpu
	}
	before := sample{at: u.start}
	for _, s := range append(u.samples, sample{u.start.Add(u.wall), u.cpu}) {
		if s.at.After(t) {
			share := float64(t.Sub(before.at)) / float64(s.at.Sub(before.at))
			return before.cpu + time.Duration(share*float64(s.cpu-before.cpu))
		}
		before = s
	}
	return u.cpu
}

// testServer is the MCP server in a process of its own.
type testServer struct {
	cmd *exec.Cmd
	url string
}

func startServer() (*testServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-mode", "server")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return &testServer{cmd, strings.TrimSpace(url)}, nil
}

func (s *testServer) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// calls is what the server saw since it was last asked.
func (s *testServer) calls() (c calls, err error) {
	resp, err := http.Get(s.url + "calls")
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}
