// Package cli is mettle's command line: one file a command, flags to options to
// two or three calls into the other packages. It is the only package that
// reads the environment, the terminal, the clock and the working directory,
// all through one value, [World].
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	tty "golang.org/x/term"

	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

// World is everything outside the program that a command may touch.
type World struct {
	Args    []string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	OutTTY  bool // whether Stdout is a terminal
	ErrTTY  bool
	Width   int // of the terminal, 0 when there is none
	Environ []string
	Dir     string // working directory
	Now     func() time.Time
	Random  func() uint32
	// Interrupts derives a context that ends when a person asks the program
	// to stop; asking twice leaves it a moment to close.
	Interrupts func(context.Context) (context.Context, context.CancelFunc)
}

// System is the real world.
func System(args []string) *World {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	w := &World{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		OutTTY: tty.IsTerminal(int(os.Stdout.Fd())), ErrTTY: tty.IsTerminal(int(os.Stderr.Fd())),
		Environ: os.Environ(), Dir: dir, Now: time.Now, Random: rand.Uint32, Interrupts: interrupts,
	}
	if w.OutTTY {
		w.Width, _, _ = tty.GetSize(int(os.Stdout.Fd()))
	}
	return w
}

// closingTime is what a program that was told twice to stop has left: enough
// to end the servers that it started.
const closingTime = 3 * time.Second

func interrupts(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel()
		<-signals
		time.Sleep(closingTime)
		os.Exit(ExitInterrupted)
	}()
	return ctx, func() { signal.Stop(signals); cancel() }
}

// session is the part of the world that sessions touch.
func (w *World) session() *session.World {
	return &session.World{
		Dir: w.Dir, Environ: w.Environ, Now: w.Now, Random: w.Random,
		Note: func(text string) {
			if w.ErrTTY {
				w.printf("\r\x1b[K") // the progress line, which is drawn again
			}
			w.printf("%s\n", term.Sanitize(text))
		},
	}
}

// Getenv is the value of an environment variable, "" when it is not set.
func (w *World) Getenv(name string) string { return w.session().Getenv(name) }

// LookupEnv is the value of an environment variable and whether it is set.
func (w *World) LookupEnv(name string) (string, bool) { return w.session().LookupEnv(name) }

// abs makes a path of the command line absolute.
func (w *World) abs(path string) string { return w.session().Abs(path) }

// shown is a path as a person wants to see it.
func (w *World) shown(path string) string { return w.session().Shown(path) }

// color tells whether a stream should get colour.
func (w *World) color(tty bool) bool {
	switch {
	case w.Getenv("NO_COLOR") != "":
		return false
	case w.Getenv("CLICOLOR_FORCE") != "" && w.Getenv("CLICOLOR_FORCE") != "0":
		return true
	}
	return tty && w.Getenv("TERM") != "dumb"
}

// reportOut is where a report on standard output is written to. That of GitHub
// is made of commands.
func (w *World) reportOut(format string) io.Writer {
	if format == "github" {
		return term.Unguarded(w.Stdout)
	}
	return w.Stdout
}

// printf talks to the person: progress, notes, problems.
func (w *World) printf(format string, args ...any) { fmt.Fprintf(w.Stderr, format, args...) }

// Main runs the program and gives its exit code.
func Main(w *World) int {
	if w.Getenv("GOGC") == "" && w.Getenv("GOMEMLIMIT") == "" {
		tuneMemory()
	}
	if w.Getenv("GITHUB_ACTIONS") != "" { // its log takes commands from what servers say
		w.Stdout, w.Stderr = term.NewGuard(w.Stdout), term.NewGuard(w.Stderr)
	}
	ctx, stop := w.Interrupts(context.Background())
	defer stop()
	root := newRootCmd(w)
	root.SetArgs(w.Args)
	root.SetIn(w.Stdin)
	root.SetOut(w.Stdout)
	root.SetErr(w.Stderr)
	started := false // arguments and flags are checked before
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitMet
	}
	if !started {
		err = &usageError{Err: err}
	}
	code := exitCode(err)
	var quiet *verdictError
	if !errors.As(err, &quiet) {
		w.printf("%s\n", errorText(w, err))
	}
	return code
}

func newRootCmd(w *World) *cobra.Command {
	root := &cobra.Command{
		Use:   "mettle",
		Short: "Test MCP documentation servers and Agent Skills",
		Long: "mettle asks an MCP server, or a model that has read a skill, the questions of a YAML\n" +
			"suite, checks the answers with rules and judges, reports by difficulty, tool and score,\n" +
			"and fails CI on a regression. It lints Agent Skills in milliseconds.\n\n" +
			"Exit codes: 0 gates met, 1 gates not met, 2 wrong usage or invalid suite,\n" +
			"3 the run could not be completed, 130 interrupted.",
		Example: "  mettle run                                   # the built-in suites against the built-in server\n" +
			"  mettle run suites/ --url http://localhost:3000\n" +
			"  mettle run quality --model anthropic:claude-sonnet-5-5 --judge openai:gpt-6-sol\n" +
			"  mettle lint skills/\n" +
			"  mettle validate suites/*.yaml",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newCassetteCmd(w), newCompareCmd(w), newDoctorCmd(w), newExplainCmd(w), newLintCmd(w), newListCmd(w), newProbeCmd(w), newReportCmd(w), newRescoreCmd(w), newResumeCmd(w), newRunCmd(w),
		newRunsCmd(w), newSchemaCmd(w), newServeCmd(w), newValidateCmd(w), newVersionCmd(w),
	)
	return root
}
