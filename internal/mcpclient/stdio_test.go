package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// TestStdioEra has the rows about server/discover.
func TestStdioEra(t *testing.T) {
	t.Parallel()
	for name, probe := range map[string]time.Duration{
		"plain": 5 * time.Second, "silent-discover": soon, "exit-discover": 5 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := stdioConfig(t, name)
			cfg.Timeouts.Probe = probe
			cfg.Timeouts.Close = soon
			c := dial(t, cfg)
			wantText(t, call(t, c, "hello"))
			info := c.Info()
			if info.Era != mcpclient.EraLegacy || info.Protocol != "2025-11-25" || info.Transport != mcpclient.TransportStdio {
				t.Errorf("era %s, version %s, transport %s", info.Era, info.Protocol, info.Transport)
			}
		})
	}
	t.Run("slow modern server", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "modern-slow")
		cfg.Timeouts.Probe = soon
		c := dial(t, cfg)
		wantText(t, call(t, c, "hello"))
		if info := c.Info(); info.Era != mcpclient.EraModern {
			t.Errorf("era is %s", info.Era)
		}
	})
	t.Run("hangs on server/discover", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "wedged-discover")
		cfg.Timeouts.Probe, cfg.Timeouts.Start, cfg.Timeouts.Close = soon/2, soon, soon
		_, err := mcpclient.Dial(t.Context(), cfg)
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassTimeout)
		if !strings.Contains(e.Error(), "timeouts.start") || !strings.Contains(e.Error(), `protocol: "2025-11-25"`) {
			t.Errorf("the error does not say what to do: %v", e)
		}
	})
	t.Run("pinned version needs no probe", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "wedged-discover")
		cfg.Protocol = "2025-11-25"
		wantText(t, call(t, dial(t, cfg), "hello"))
	})
	t.Run("pinned version refused", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "plain")
		cfg.Protocol = "2025-06-18"
		_, err := mcpclient.Dial(t.Context(), cfg)
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassProtocol)
		if !strings.Contains(e.Error(), "2025-11-25") || !strings.Contains(e.Error(), "2025-06-18") {
			t.Errorf("the error does not name both versions: %v", e)
		}
	})
	t.Run("version outside the known ones", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), stdioConfig(t, "old-version"))
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassProtocol)
		if !strings.Contains(e.Error(), "2024-10-07") {
			t.Errorf("the error does not name the version: %v", e)
		}
	})
	t.Run("hello of the wrong shape", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), stdioConfig(t, "bad-hello"))
		wantClass(t, err, mcpclient.OpStart, mcpclient.ClassProtocol)
	})
}

// TestStdioSlowStart has a server that takes longer to start than the probe
// waits: it is started once, and is of the era that it is of when it is fast.
func TestStdioSlowStart(t *testing.T) {
	t.Parallel()
	for name, era := range map[string]string{"slow-start-legacy": mcpclient.EraLegacy, "slow-start-modern": mcpclient.EraModern} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := stdioConfig(t, name)
			cfg.Timeouts.Probe = soon
			c := dial(t, cfg)
			wantText(t, call(t, c, "hello"))
			if got := c.Info().Era; got != era {
				t.Errorf("era is %s, want %s", got, era)
			}
			if starts, _ := filepath.Glob(filepath.Join(cfg.Dir, "start-*")); len(starts) != 1 {
				t.Errorf("started %d times", len(starts))
			}
		})
	}
}

// TestStdioConnectTimeout has the ways in which a process is too slow for the
// handshake.
func TestStdioConnectTimeout(t *testing.T) {
	t.Parallel()
	long := 20 * time.Second
	for _, tt := range []struct {
		name, server string
		timeouts     mcpclient.Timeouts
		want         string
	}{
		{"connect alone", "mute", mcpclient.Timeouts{Connect: soon}, "no answer within 300ms (timeouts.start)"},
		{"start", "mute", mcpclient.Timeouts{Start: soon, Connect: long}, "no answer within 300ms (timeouts.start)"},
		{"connect after the first answer", "slow-hello", mcpclient.Timeouts{Start: long, Connect: soon}, "no answer within 300ms (timeouts.connect)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := stdioConfig(t, tt.server)
			cfg.Timeouts = tt.timeouts
			cfg.Timeouts.Close = soon
			_, err := mcpclient.Dial(t.Context(), cfg)
			if e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassTimeout); !strings.Contains(e.Error(), tt.want) {
				t.Errorf("error %v, want %q", e, tt.want)
			}
		})
	}
}

// TestStdioLatency has the latency of a call that others wait beside: the time
// that the server took for this call, whether it does one at a time or many.
func TestStdioLatency(t *testing.T) {
	t.Parallel()
	const workers, calls = 8, 3
	for _, server := range []string{"serial", "parallel"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			c := dial(t, stdioConfig(t, server))
			began := time.Now()
			var all sync.WaitGroup
			var mu sync.Mutex
			var latencies []time.Duration
			for range workers {
				all.Go(func() {
					for range calls {
						res, err := c.Call(t.Context(), "hello", nil)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						latencies = append(latencies, res.Latency)
						mu.Unlock()
					}
				})
			}
			all.Wait()
			took := time.Since(began)
			if t.Failed() {
				return
			}
			slices.Sort(latencies)
			if median := latencies[len(latencies)/2]; median < callTime || median > 3*callTime {
				t.Errorf("the median is %s, want about %s", median, callTime)
			}
			if limit := workers * calls * callTime / 2; server == "parallel" && took > limit {
				t.Errorf("%d calls side by side took %s, want less than %s", workers*calls, took, limit)
			}
		})
	}
}

// TestStdioTurn has a call whose time starts with its turn.
func TestStdioTurn(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "serial")
	cfg.Timeouts.Call = 5 * callTime
	c := dial(t, cfg)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := c.Call(t.Context(), "hello", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func TestStdioNoise(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "banner"))
	wantText(t, call(t, c, "hello"))
	wantText(t, call(t, c, "hello")) // the noise after the first answer has been read
	info := c.Info()
	want := []string{
		"Server started on stdio", `{"level":"info","msg":"loading"}`, "ready>", "calling 1000001", "[1,2,3]",
	}
	if diff := cmp.Diff(want, info.NoiseLines); diff != "" {
		t.Errorf("noise lines (-want +got):\n%s", diff)
	}
	if info.Noise < 7 {
		t.Errorf("%d lines of noise, want 7 or more", info.Noise)
	}
}

// TestStdioAnswers has the rows about answers that are odd but readable.
func TestStdioAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		server     string
		parts      []string
		structured string
		isError    bool
		findings   []string
	}{
		{server: "talkative", parts: []string{"hello"}},
		{server: "waits-for-pong", parts: []string{"hello"}},
		{server: "batch", parts: []string{"hello"}},
		{server: "float-id", parts: []string{"hello"}},
		{server: "is-error", parts: []string{"hello"}, isError: true},
		{server: "unknown-content", parts: []string{"", "hello"}, findings: []string{`part 1 has the unknown type "hologram"`}},
		{server: "no-content", structured: `{"a":1}`, findings: []string{"content is missing"}},
		{server: "null-content", structured: `[1]`, findings: []string{"content is null instead of an array"}},
		{server: "string-content", parts: []string{"hello"}, findings: []string{
			"content is a string instead of an array", "part 1 is a string instead of an object",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.server, func(t *testing.T) {
			t.Parallel()
			c := dial(t, stdioConfig(t, tt.server))
			for range 2 { // the session lives on
				res := call(t, c, "hello")
				var parts []string
				for _, p := range res.Parts {
					parts = append(parts, p.Text)
				}
				if diff := cmp.Diff(tt.parts, parts); diff != "" {
					t.Errorf("parts (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.findings, res.Findings); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
				if string(res.Structured) != tt.structured || res.IsError != tt.isError {
					t.Errorf("structured %s, isError %t", res.Structured, res.IsError)
				}
				if string(res.Request) != `{"name":"hello","arguments":{}}` || !json.Valid(res.Response) || res.Attempts != 1 {
					t.Errorf("request %s, response %s, attempts %d", res.Request, res.Response, res.Attempts)
				}
			}
		})
	}
}

// TestStdioFaults has the rows about answers that are none.
func TestStdioFaults(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"string-code", "string-id", "wrong-id", "no-jsonrpc", "no-result"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			cfg := stdioConfig(t, server)
			if server == "wrong-id" {
				cfg.Timeouts.Call = soon // nothing tells whose answer it is
			}
			c := dial(t, cfg)
			e := callErr(t, c, "hello", mcpclient.ClassProtocol)
			if e.Attempts != 1 {
				t.Errorf("%d attempts, want 1", e.Attempts)
			}
			if _, err := c.Tools(t.Context()); err != nil {
				t.Errorf("the session is dead: %v", err)
			}
		})
	}
	t.Run("rpc-error", func(t *testing.T) {
		t.Parallel()
		e := callErr(t, dial(t, stdioConfig(t, "rpc-error")), "hello", mcpclient.ClassRPC)
		var rpc *mcpclient.RPCError
		if !errors.As(e, &rpc) {
			t.Fatalf("no *RPCError in %v", e)
		}
		want := &mcpclient.RPCError{Code: -32602, Message: "unknown tool", Data: json.RawMessage(`{"near":"hello"}`)}
		if diff := cmp.Diff(want, rpc); diff != "" || e.Attempts != 1 {
			t.Errorf("attempts %d (-want +got):\n%s", e.Attempts, diff)
		}
	})
}

func TestStdioHugeAnswer(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "huge")
	cfg.MaxMessage = 100 << 10
	c := dial(t, cfg)
	for _, tool := range []string{"id-first", "id-last", "id-hidden"} {
		e := callErr(t, c, tool, mcpclient.ClassTooLarge)
		if e.Attempts != 1 || !strings.Contains(e.Error(), "102400 bytes") {
			t.Errorf("%s: %v", tool, e)
		}
		wantText(t, call(t, c, "hello"))
	}
	if n := c.Info().Reconnects; n != 0 {
		t.Errorf("%d reconnects, want 0", n)
	}
}

func TestStdioCrash(t *testing.T) {
	t.Parallel()
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		c := dial(t, stdioConfig(t, "crash-once"))
		res := call(t, c, "hello")
		wantText(t, res)
		if info := c.Info(); res.Attempts != 2 || info.Reconnects != 1 {
			t.Errorf("%d attempts, %d reconnects", res.Attempts, info.Reconnects)
		}
		if want := []string{"the server process ended (exit status 3)"}; !slices.Equal(res.Retries, want) {
			t.Errorf("retries %q, want %q", res.Retries, want)
		}
	})
	t.Run("always", func(t *testing.T) {
		t.Parallel()
		e := callErr(t, dial(t, stdioConfig(t, "crash-always")), "hello", mcpclient.ClassTransport)
		if !strings.Contains(e.Error(), "exit status 3") || e.Body != "panic: out of cheese" || e.Attempts != 3 {
			t.Errorf("%d attempts, body %q: %v", e.Attempts, e.Body, e)
		}
	})
	t.Run("at start", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), stdioConfig(t, "crash-at-start"))
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassTransport)
		if !strings.Contains(e.Error(), "exit status 1") || !strings.Contains(e.Error(), "OPENAI_API_KEY is not set") {
			t.Errorf("error does not say why: %v", e)
		}
	})
	t.Run("no such program", func(t *testing.T) {
		t.Parallel()
		_, err := mcpclient.Dial(t.Context(), mcpclient.Config{Command: []string{"./no-such-program", "--token=hunter2-hunter2"}})
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassTransport)
		if !strings.Contains(e.Error(), "start no-such-program: ") || strings.Contains(e.Error(), "hunter2") {
			t.Errorf("error: %v", e)
		}
	})
}

func TestStdioDeadlines(t *testing.T) {
	t.Parallel()
	t.Run("start", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "mute")
		cfg.Timeouts.Start, cfg.Timeouts.Close = soon, soon
		_, err := mcpclient.Dial(t.Context(), cfg)
		e := wantClass(t, err, mcpclient.OpStart, mcpclient.ClassTimeout)
		if !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("%v is not DeadlineExceeded", e)
		}
	})
	t.Run("call", func(t *testing.T) {
		t.Parallel()
		c := dial(t, stdioConfig(t, "slow"))
		_, err := c.Call(withTimeout(t, soon), "hello", nil)
		wantClass(t, err, mcpclient.OpCall, mcpclient.ClassTimeout)
		// The server heard of it, and its late answer confuses nobody.
		wantText(t, call(t, c, "hello"))
	})
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		c := dial(t, stdioConfig(t, "slow"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := c.Call(ctx, "hello", nil)
		wantClass(t, err, mcpclient.OpCall, mcpclient.ClassCanceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not Canceled", err)
		}
	})
	t.Run("server that stops reading", func(t *testing.T) {
		t.Parallel()
		cfg := stdioConfig(t, "deaf")
		cfg.Timeouts.List, cfg.Timeouts.Call, cfg.Timeouts.Close = soon, soon, soon
		c := dial(t, cfg)
		_, err := c.Tools(t.Context())
		wantClass(t, err, mcpclient.OpList, mcpclient.ClassTimeout)
		big := json.RawMessage(`{"text":"` + strings.Repeat("x", 200<<10) + `"}`)
		for range 20 { // more than the pipe and the queue hold
			_, err := c.Call(withTimeout(t, 20*time.Millisecond), "hello", big)
			wantClass(t, err, mcpclient.OpCall, mcpclient.ClassTimeout)
		}
	})
}

func TestStdioEnvironment(t *testing.T) {
	t.Parallel()
	cfg := stdioConfig(t, "env")
	cfg.Env = append(cfg.Env, "GREETING=hi")
	got := strings.Split(call(t, dial(t, cfg), "env").Text(), "\n")
	got = slices.DeleteFunc(got, func(entry string) bool { return strings.HasPrefix(entry, "METTLE_PROCESS=") })
	slices.Sort(got)
	want := slices.Sorted(slices.Values(cfg.Env))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestStdioStderr(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "loud"))
	wantText(t, call(t, c, "hello"))
	got := c.Info().Stderr
	if len(got) > 8<<10 || !strings.HasSuffix(got, "line 4999 of a long story") {
		t.Errorf("%d bytes of stderr, ending in %q", len(got), got[max(0, len(got)-60):])
	}
}

func TestStdioCursors(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "stuck-cursor"))
	tools, err := c.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "hello" {
		t.Fatalf("tools %v, error %v", tools, err)
	}
	want := []string{`the tool "hello" is listed twice`, `tools/list repeats the cursor ""`}
	if diff := cmp.Diff(want, c.Info().Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	_, err = dial(t, stdioConfig(t, "endless-cursor")).Tools(t.Context())
	wantClass(t, err, mcpclient.OpList, mcpclient.ClassProtocol)
}

func TestArgumentsOnOneLine(t *testing.T) {
	t.Parallel()
	c := dial(t, stdioConfig(t, "plain"))
	res, err := c.Call(t.Context(), "hello", json.RawMessage("{\n  \"a\": \"b c\"\r\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Request), `{"name":"hello","arguments":{"a":"b c"}}`; got != want {
		t.Errorf("request %s, want %s", got, want)
	}
	if _, err := c.Call(t.Context(), "hello", json.RawMessage(`{"a":`)); err == nil {
		t.Error("broken arguments were accepted")
	}
}
