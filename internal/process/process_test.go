//go:build unix

package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
)

// start runs a shell script that leaves a child behind. The child holds the
// write end of a pipe: reading ends when the last process of the group is gone.
func start(t *testing.T, ctx context.Context, script string) (*exec.Cmd, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd := exec.Command("sh", "-c", script)
	if ctx != nil {
		cmd = exec.CommandContext(ctx, "sh", "-c", script)
	}
	cmd.ExtraFiles = []*os.File{w}
	Group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ready := make([]byte, 1)
	if _, err := r.Read(ready); err != nil {
		t.Fatal(err)
	}
	return cmd, r
}

func TestGroupEndsAsAWhole(t *testing.T) {
	t.Parallel()
	const stays = `sleep 600 & echo ready >&3; wait`
	for name, tc := range map[string]struct {
		script string
		end    func(*exec.Cmd)
	}{
		"kill":               {stays, Kill},
		"terminate":          {stays, Terminate},
		"kill what was left": {`sleep 600 & echo ready >&3`, func(cmd *exec.Cmd) { _ = cmd.Wait(); Kill(cmd) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, pipe := start(t, nil, tc.script)
			tc.end(cmd)
			if _, err := io.ReadAll(pipe); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
		})
	}
}

func TestGroupEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd, pipe := start(t, ctx, `sleep 600 & echo ready >&3; wait`)
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("the command ended well")
	}
	if _, err := io.ReadAll(pipe); err != nil {
		t.Error(err)
	}
}

func TestKillWithoutStart(t *testing.T) {
	t.Parallel()
	Kill(exec.Command("sh"))
}
