package mcpclient_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// serverEnv names the stdio server that this test binary is to be when it is
// started by a test.
const serverEnv = "MCPCLIENT_TEST_SERVER"

func TestMain(m *testing.M) {
	if name := os.Getenv(serverEnv); name != "" {
		os.Exit(runStdioServer(name))
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// dial connects and closes at the end of the test.
func dial(t testing.TB, cfg mcpclient.Config) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// call calls a tool without arguments and expects an answer.
func call(t testing.TB, c *mcpclient.Client, tool string) *mcpclient.Result {
	t.Helper()
	res, err := c.Call(t.Context(), tool, nil)
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	return res
}

// wantText expects the answer "hello", which every fixture server gives if it
// does not misbehave.
func wantText(t testing.TB, res *mcpclient.Result) {
	t.Helper()
	if got := res.Text(); got != "hello" {
		t.Errorf("text is %q, want %q", got, "hello")
	}
}

// wantClass expects an *Error of the given class and returns it.
func wantClass(t testing.TB, err error, op mcpclient.Op, class mcpclient.Class) *mcpclient.Error {
	t.Helper()
	var e *mcpclient.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v (%T), want an *Error", err, err)
	}
	if e.Op != op || e.Class != class {
		t.Fatalf("error is %s/%s (%v), want %s/%s", e.Op, e.Class, e, op, class)
	}
	return e
}

// callErr calls a tool and expects an error of the given class.
func callErr(t testing.TB, c *mcpclient.Client, tool string, class mcpclient.Class) *mcpclient.Error {
	t.Helper()
	_, err := c.Call(t.Context(), tool, nil)
	return wantClass(t, err, mcpclient.OpCall, class)
}

// soon is a deadline that is long for a machine and short for a person; tests
// wait for it only where a server is silent on purpose.
const soon = 300 * time.Millisecond

func withTimeout(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
