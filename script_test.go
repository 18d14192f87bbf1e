package mettle_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mettle-eval/mettle/internal/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mettle": func() { os.Exit(cli.Main(cli.System(os.Args[1:]))) },
	})
}

// TestScripts runs the program as a user meets it: arguments, files, output
// and exit codes. Scripts have two commands of their own:
//
//	server DIR [latency=50ms] [fail=429:20,500:10,drop:5]
//	    starts an MCP server of the documentation plan's shape that answers
//	    tool X with the file DIR/X, and sets MCP_URL
//	exits N mettle …
//	    runs a command and checks its exit code
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "dumb")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": serverCommand,
			"exits":  exitsCommand,
		},
	})
}

func serverCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: server DIR [latency=D] [fail=KIND:PERCENT,…]")
	}
	s := &planServer{answers: map[string]string{}}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		s.answers[e.Name()] = ts.ReadFile(args[0] + "/" + e.Name())
	}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "latency":
			s.latency, err = time.ParseDuration(value)
			ts.Check(err)
		case "fail":
			s.faults = parseFaults(ts, value)
		default:
			ts.Fatalf("server: unknown option %s", arg)
		}
	}
	url, stop := s.start()
	ts.Defer(stop)
	ts.Setenv("MCP_URL", url)
}

func parseFaults(ts *testscript.TestScript, text string) map[string]int {
	faults := map[string]int{}
	for pair := range strings.SplitSeq(text, ",") {
		kind, percent, _ := strings.Cut(pair, ":")
		var n int
		_, err := fmt.Sscan(percent, &n)
		ts.Check(err)
		faults[kind] = n
	}
	return faults
}

func exitsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s exits with %s, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}
