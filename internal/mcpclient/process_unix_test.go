//go:build unix

package mcpclient_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// TestCloseKillsGroup starts a server that leaves a child behind, as npx does.
func TestCloseKillsGroup(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "grandchild")
	c := dial(t, cfg)
	wantText(t, call(t, c, "hello"))
	pid := grandchild(t, cfg)
	if !alive(pid) {
		t.Fatal("the grandchild is not running")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	waitDead(t, pid)
}

// TestCloseKillsStubborn closes a server that ignores the end of its input and
// SIGTERM. That Close returns at all is the proof that SIGKILL came.
func TestCloseKillsStubborn(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "stubborn")
	cfg.Timeouts.Close = soon
	c := dial(t, cfg)
	wantText(t, call(t, c, "hello"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := c.Call(t.Context(), "hello", nil)
	wantClass(t, err, mcpclient.OpCall, mcpclient.ClassCanceled)
}

// TestCrashKillsGroup checks that what a crashed server leaves behind is gone
// before the next one starts.
func TestCrashKillsGroup(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "grandchild")
	c := dial(t, cfg)
	wantText(t, call(t, c, "hello"))
	old := grandchild(t, cfg)
	leader, err := syscall.Getpgid(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(leader, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDead(t, old)
	wantText(t, call(t, c, "hello"))
	if fresh := grandchild(t, cfg); fresh == old {
		t.Error("no new server was started")
	}
}

func TestCloseEndsCalls(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "slow"))
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(context.WithoutCancel(t.Context()), "hello", nil)
		failed <- err
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wantClass(t, <-failed, mcpclient.OpCall, mcpclient.ClassCanceled)
}

func grandchild(t *testing.T, cfg mcpclient.Config) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cfg.Dir, "grandchild.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether a process runs. One that is dead but not yet reaped by
// the system's init counts as dead.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true // no /proc here: the signal has to do
	}
	for i := len(stat) - 1; i > 0; i-- {
		if stat[i] == ')' {
			return stat[i+2] != 'Z'
		}
	}
	return true
}

// waitDead polls, because the kernel ends a killed process in its own time.
func waitDead(t *testing.T, pid int) {
	t.Helper()
	ctx := withTimeout(t, 10*time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-ctx.Done():
			t.Fatalf("process %d is still alive", pid)
		case <-tick.C:
		}
	}
}
