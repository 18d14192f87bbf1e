package mcpclient

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	group "github.com/mettle-eval/mettle/internal/process"
)

// A process is a server that was started, with everything it starts itself in
// one process group.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail
	exited chan struct{} // closed when the process is gone and reaped
	silent chan struct{} // closed when all of stderr has been read
	done   sync.WaitGroup
}

// startProcess runs the command. The pipes are made here and not by os/exec,
// whose Wait would either cut off the last lines of stdout or wait for a
// grandchild that keeps stderr open.
func startProcess(cfg Config, stderr *tail) (*process, error) {
	cmd := exec.Command(cfg.Command[0], cfg.Command[1:]...)
	cmd.Dir = cfg.Dir
	cmd.Env = append([]string{}, cfg.Env...) // nil would mean: inherit
	group.Group(cmd)
	p := &process{cmd: cmd, stderr: stderr, exited: make(chan struct{}), silent: make(chan struct{})}
	var pipes pipeSet
	stdinR, stdin := pipes.open()
	stdout, stdoutW := pipes.open()
	errR, errW := pipes.open()
	if pipes.err != nil {
		return nil, pipes.err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdinR, stdoutW, errW
	err := cmd.Start()
	stdinR.Close()
	stdoutW.Close()
	errW.Close()
	if err != nil {
		stdin.Close()
		stdout.Close()
		errR.Close()
		return nil, err
	}
	p.stdin, p.stdout = stdin, stdout
	p.done.Go(func() {
		_, _ = io.Copy(stderr, errR)
		errR.Close()
		close(p.silent)
	})
	p.done.Go(func() {
		_ = cmd.Wait() // the state says it all
		// Nothing that the server left behind may outlive it.
		group.Kill(cmd)
		close(p.exited)
		// A grandchild that left the group may still hold the pipe.
		time.AfterFunc(time.Second, func() { errR.Close() })
	})
	return p, nil
}

// A pipeSet opens pipes until one fails, and then closes them all.
type pipeSet struct {
	files []*os.File
	err   error
}

func (p *pipeSet) open() (r, w *os.File) {
	if p.err != nil {
		return nil, nil
	}
	if r, w, p.err = os.Pipe(); p.err != nil {
		for _, f := range p.files {
			f.Close()
		}
		return nil, nil
	}
	p.files = append(p.files, r, w)
	return r, w
}

// stop ends the process as the protocol asks: close its input, then SIGTERM,
// then SIGKILL, each with half of grace to react.
func (p *process) stop(grace time.Duration) {
	p.stdin.Close()
	if !p.exits(grace / 2) {
		group.Terminate(p.cmd)
		if !p.exits(grace / 2) {
			group.Kill(p.cmd)
		}
	}
	<-p.exited
	p.stdout.Close()
	p.done.Wait()
}

// exits reports whether the process is gone within d.
func (p *process) exits(d time.Duration) bool { return closes(p.exited, d) }

func closes(ch <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ch:
		return true
	case <-timer.C:
		return false
	}
}

// ending says in words how the process ended, or nothing if it still runs.
func (p *process) ending() string {
	if !p.exits(exitWait) {
		return ""
	}
	return fmt.Sprintf("the server process ended (%s)", p.cmd.ProcessState)
}

// lastWords is the last line the process wrote to stderr.
func (p *process) lastWords() string {
	closes(p.silent, exitWait)
	return p.stderr.lastLine()
}

// exitWait is how long the end of a process may lag behind that of its output.
const exitWait = 500 * time.Millisecond

// program is the name of the command, without its arguments, which may hold
// secrets.
func program(command []string) string { return filepath.Base(command[0]) }

// A tail keeps the last bytes written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // there was more before
}

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - tailSize; extra > 0 {
		t.buf = append(t.buf[:0], t.buf[extra:]...)
		t.cut = true
	}
	return len(p), nil
}

// String gives what is kept, as it came. A first line that has lost its start
// is left out: it may have been cut in the middle of a secret.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.buf)
	if t.cut {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

func (t *tail) lastLine() string {
	text := strings.TrimSpace(t.String())
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf, t.cut = t.buf[:0], false
}
