package mettle_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mettle-eval/mettle/internal/cli"
	"github.com/mettle-eval/mettle/internal/llm/llmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mettle":      func() { os.Exit(cli.Main(cli.System(os.Args[1:]))) },
		"tell-server": tellServer,
	})
}

// TestScripts runs the program as a user meets it: arguments, files, output
// and exit codes. Scripts have three commands of their own:
//
//	server DIR [latency=50ms] [fail=429:20,500:10,drop:5]
//	    starts an MCP server of the documentation plan's shape that answers
//	    tool X with the file DIR/X, and sets MCP_URL
//	vendor FILE [latency=50ms] [share429=0.2] [models=a,b] | vendor stop
//	    starts a server that speaks the protocols of the model vendors and
//	    answers as the file says (see llmtest.Script), and sets addresses and
//	    keys; or stops it
//	exits N mettle …
//	    runs a command and checks its exit code
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "dumb")
			env.Values[vendorServer{}] = new(vendorHandle)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": serverCommand,
			"vendor": vendorCommand,
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

// The keys that scripts have. No output may hold one.
const (
	anthropicKey = "sk-ant-not-for-reports-0123456789"
	openaiKey    = "sk-oai-not-for-reports-0123456789"
	boxKey       = "box-not-for-reports-0123456789"
)

type vendorServer struct{}

func vendorCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: vendor FILE [latency=D] [share429=S] | vendor stop")
	}
	if args[0] == "stop" {
		ts.Value(vendorServer{}).(*vendorHandle).close()
		return
	}
	answer, err := llmtest.Script(ts.ReadFile(args[0]))
	ts.Check(err)
	o := llmtest.Options{Answer: answer, Keys: []string{anthropicKey, openaiKey, boxKey}}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "latency":
			o.Latency, err = time.ParseDuration(value)
		case "models":
			o.Models = strings.Split(value, ",")
		case "share429":
			o.Share429, err = strconv.ParseFloat(value, 64)
		default:
			ts.Fatalf("vendor: unknown option %s", arg)
		}
		ts.Check(err)
	}
	s := llmtest.Start(o)
	ts.Value(vendorServer{}).(*vendorHandle).server = s
	ts.Defer(s.Close)
	ts.Setenv("ANTHROPIC_BASE_URL", s.Anthropic())
	ts.Setenv("OPENAI_BASE_URL", s.OpenAI())
	ts.Setenv("OLLAMA_HOST", s.Ollama())
	ts.Setenv("ANTHROPIC_API_KEY", anthropicKey)
	ts.Setenv("OPENAI_API_KEY", openaiKey)
}

// vendorHandle is a script's vendor.
type vendorHandle struct{ server *llmtest.Server }

func (v *vendorHandle) close() {
	if v.server != nil {
		v.server.Close()
		v.server = nil
	}
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
