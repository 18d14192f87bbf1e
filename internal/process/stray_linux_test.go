package process

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestChildrenInOtherSessionsEnd: setsid takes a child out of the group. It
// holds the write end of a pipe; reading ends when it is gone.
func TestChildrenInOtherSessionsEnd(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	for name, tc := range map[string]struct {
		script string
		wait   bool
	}{
		"while the program runs":                       {"setsid sleep 600 & echo ready >&3; wait", false},
		"after the program":                            {"setsid sleep 600 & echo ready >&3", true},
		"a child of a child":                           {"setsid sh -c 'setsid sleep 600 & sleep 600' & echo ready >&3", true},
		"without its environment, while it is a child": {"env -i $(command -v setsid) $(command -v sleep) 600 & echo ready >&3; wait", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd := exec.CommandContext(ctx, "sh", "-c", tc.script)
			cmd.ExtraFiles, cmd.Env = []*os.File{w}, []string{"PATH=" + os.Getenv("PATH")}
			Group(cmd)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			if _, err := r.Read(make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // for the shells to have started what they start
			if tc.wait {
				_ = cmd.Wait()
				Kill(cmd)
			} else {
				cancel()
				_ = cmd.Wait()
			}
			done := make(chan error, 1)
			go func() { _, err := io.Copy(io.Discard, r); done <- err }()
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("a child survives")
			}
		})
	}
}

func BenchmarkKill(b *testing.B) {
	cmd := exec.Command("true")
	cmd.Env = []string{}
	Group(cmd)
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Kill(cmd)
	}
}
