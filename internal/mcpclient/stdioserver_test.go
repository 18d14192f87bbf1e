package mcpclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// A stdioServer is a server process in the making: handle may take a message
// over from the well-behaved defaults.
type stdioServer struct {
	out    *bufio.Writer
	handle func(m *inMessage) bool
	eol    string
}

type inMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (s *stdioServer) write(format string, args ...any) {
	fmt.Fprintf(s.out, format+s.eol, args...)
	s.out.Flush()
}

func (s *stdioServer) result(id json.RawMessage, result string) {
	s.write(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

const helloResult = `{"content":[{"type":"text","text":"hello"}]}`

func initResult(version string) string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fixture","version":"1.2.3"}}`, version)
}

// serve answers like a plain server of the legacy era.
func (s *stdioServer) serve() int {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var m inMessage
		if json.Unmarshal(in.Bytes(), &m) != nil || s.handle != nil && s.handle(&m) || m.ID == nil {
			continue
		}
		switch m.Method {
		case "initialize":
			s.result(m.ID, initResult("2025-11-25"))
		case "tools/list":
			s.result(m.ID, `{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			s.result(m.ID, helloResult)
		default:
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		}
	}
	return 0
}

func runStdioServer(name string) int {
	if name == "sdk" {
		return runSDKServer()
	}
	s := &stdioServer{out: bufio.NewWriter(os.Stdout), eol: "\n"}
	setup, ok := stdioServers[name]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such server:", name)
		return 2
	}
	setup(s)
	return s.serve()
}

func runSDKServer() int {
	if err := newSDKServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// on replaces the answer to one method.
func (s *stdioServer) on(method string, do func(m *inMessage)) {
	next := s.handle
	s.handle = func(m *inMessage) bool {
		if m.Method == method {
			do(m)
			return true
		}
		return next != nil && next(m)
	}
}

// raw answers tools/call with a line that contains the id where it says %s.
func raw(format string) func(*stdioServer) {
	return func(s *stdioServer) {
		s.on("tools/call", func(m *inMessage) { s.write(format, m.ID) })
	}
}

// forever blocks in a way that the runtime does not take for a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// first reports whether it is called for the first time in this directory, by
// any process.
func first(name string) bool {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// callTime is how long the servers work that take a while.
const callTime = 100 * time.Millisecond

// slowStart is an installation that takes longer than any probe waits, and
// leaves a file for each time that it is begun.
func slowStart() {
	for i := 1; !first(fmt.Sprintf("start-%d", i)); i++ {
	}
	time.Sleep(3 * soon)
}

// stdioServers are the ways in which a process can misbehave.
var stdioServers = map[string]func(*stdioServer){
	"plain": func(*stdioServer) {},
	"silent-discover": func(s *stdioServer) {
		s.on("server/discover", func(*inMessage) {})
	},
	"wedged-discover": func(s *stdioServer) {
		s.on("server/discover", func(*inMessage) { forever() })
	},
	"exit-discover": func(s *stdioServer) {
		s.on("server/discover", func(*inMessage) { os.Exit(7) })
	},
	"banner": func(s *stdioServer) {
		s.write("Server \x1b[32mstarted\x1b[0m on\tstdio")
		s.write(`{"level":"info","msg":"loading"}`)
		fmt.Fprint(s.out, "ready> ") // no line end: shares a line with the first answer
		s.on("tools/call", func(m *inMessage) {
			s.write("calling %s", m.ID)
			s.result(m.ID, helloResult)
			s.write("[1,2,3]")
			s.write(`{"jsonrpc":"2.0"`)
		})
	},
	"talkative": func(s *stdioServer) {
		s.eol = "\r\n"
		s.on("tools/call", func(m *inMessage) {
			s.write("")
			s.write(`{"jsonrpc":"2.0","id":"p1","method":"ping"}`)
			s.write(`{"jsonrpc":"2.0","id":"r1","method":"roots/list"}`)
			s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
			s.result(m.ID, helloResult)
			s.result(m.ID, helloResult)
		})
	},
	"waits-for-pong": func(s *stdioServer) {
		var waiting json.RawMessage
		s.handle = func(m *inMessage) bool {
			switch {
			case m.Method == "tools/call":
				waiting = m.ID
				s.write(`{"jsonrpc":"2.0","id":"p1","method":"ping"}`)
				return true
			case string(m.ID) == `"p1"` && m.Result != nil:
				s.result(waiting, helloResult)
				return true
			}
			return false
		}
	},
	"huge": func(s *stdioServer) {
		s.on("tools/call", func(m *inMessage) {
			var p struct{ Name string }
			_ = json.Unmarshal(m.Params, &p)
			big := strings.Repeat("x", 200<<10)
			switch p.Name {
			case "id-first":
				s.write(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, m.ID, big)
			case "id-last":
				s.write(`{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":%s}`, big, m.ID)
			case "id-hidden":
				s.write(`{"result":{"content":[]},"id":%s,"x":"%s","jsonrpc":"2.0"}`, m.ID, big)
			default:
				s.result(m.ID, helloResult)
			}
		})
	},
	"unknown-content": raw(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"hologram","beam":1},{"type":"text","text":"hello"}]}}`),
	"no-content":      raw(`{"jsonrpc":"2.0","id":%s,"result":{"structuredContent":{"a":1}}}`),
	"null-content":    raw(`{"jsonrpc":"2.0","id":%s,"result":{"content":null,"structuredContent":[1]}}`),
	"string-content":  raw(`{"jsonrpc":"2.0","id":%s,"result":{"content":"hello"}}`),
	"string-code":     raw(`{"jsonrpc":"2.0","id":%s,"error":{"code":"E_FAIL","message":"no"}}`),
	"rpc-error":       raw(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool","data":{"near":"hello"}}}`),
	"is-error":        raw(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello"}],"isError":true}}`),
	"string-id":       raw(`{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}`),
	"wrong-id":        raw(`{"jsonrpc":"2.0","id":4%s,"result":{"content":[]}}`),
	"no-jsonrpc":      raw(`{"id":%s,"result":{"content":[]}}`),
	"no-result":       raw(`{"jsonrpc":"2.0","id":%s}`),
	"batch":           raw(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},{"jsonrpc":"2.0","id":%s,"result":` + helloResult + `}]`),
	"float-id":        raw(`{"jsonrpc":"2.0","id":%s.0,"result":` + helloResult + `}`),
	"old-version": func(s *stdioServer) {
		s.on("initialize", func(m *inMessage) { s.result(m.ID, initResult("2024-10-07")) })
	},
	"bad-hello": func(s *stdioServer) {
		s.on("initialize", func(m *inMessage) { s.result(m.ID, `"welcome"`) })
	},
	"stubborn": func(s *stdioServer) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		_ = s.serve()
		forever()
	},
	"crash-once": func(s *stdioServer) {
		s.on("tools/call", func(m *inMessage) {
			if first("crashed") {
				os.Exit(3)
			}
			s.result(m.ID, helloResult)
		})
	},
	"crash-always": func(s *stdioServer) {
		s.on("tools/call", func(*inMessage) {
			fmt.Fprintln(os.Stderr, "first line")
			fmt.Fprintln(os.Stderr, "\x1b[31mpanic: out of cheese\x1b[0m")
			os.Exit(3)
		})
	},
	"leaky": func(s *stdioServer) {
		s.write("my key is %s", os.Getenv("SERVICE_API_KEY"))
		s.on("tools/call", func(*inMessage) {
			fmt.Fprintln(os.Stderr, "bad key", os.Getenv("SERVICE_API_KEY"))
			os.Exit(3)
		})
	},
	"crash-at-start": func(*stdioServer) {
		fmt.Fprintln(os.Stderr, "OPENAI_API_KEY is not set")
		os.Exit(1)
	},
	"mute": func(s *stdioServer) {
		s.handle = func(*inMessage) bool { return true }
	},
	"slow": func(s *stdioServer) {
		// Answers a call only when it hears that nobody waits for it any more.
		var waiting json.RawMessage
		slow := true
		s.on("tools/call", func(m *inMessage) {
			if waiting = m.ID; !slow {
				s.result(m.ID, helloResult)
			}
		})
		s.on("notifications/cancelled", func(*inMessage) {
			slow = false
			s.result(waiting, helloResult)
		})
	},
	"deaf": func(s *stdioServer) {
		s.on("tools/list", func(*inMessage) { forever() })
	},
	"env": func(s *stdioServer) {
		s.on("tools/call", func(m *inMessage) {
			text, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
			s.result(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
		})
	},
	"loud": func(*stdioServer) {
		for i := range 5000 {
			fmt.Fprintf(os.Stderr, "line %d of a long story\n", i)
		}
	},
	"stuck-cursor": func(s *stdioServer) {
		s.on("tools/list", func(m *inMessage) {
			s.result(m.ID, `{"tools":[{"name":"hello","inputSchema":{"type":"object"}}],"nextCursor":""}`)
		})
	},
	"endless-cursor": func(s *stdioServer) {
		n := 0
		s.on("tools/list", func(m *inMessage) {
			n++
			s.result(m.ID, fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, n))
		})
	},
	"modern-slow": func(s *stdioServer) {
		// Knows only the modern era, and is slow to say so: it answers the
		// probe only after the old handshake has been tried.
		s.on("server/discover", func(m *inMessage) {
			if _, err := os.Stat("tried"); err == nil {
				s.result(m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
			}
		})
		s.on("initialize", func(m *inMessage) {
			first("tried")
			s.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"initialize is gone"}}`, m.ID)
		})
	},
	"serial": func(s *stdioServer) {
		s.on("tools/call", func(m *inMessage) {
			time.Sleep(callTime)
			s.result(m.ID, helloResult)
		})
	},
	"parallel": func(s *stdioServer) {
		var mu sync.Mutex // of the output
		s.on("ping", func(m *inMessage) {
			mu.Lock()
			defer mu.Unlock()
			s.result(m.ID, "{}")
		})
		s.on("tools/call", func(m *inMessage) {
			time.AfterFunc(callTime, func() {
				mu.Lock()
				defer mu.Unlock()
				s.result(m.ID, helloResult)
			})
		})
	},
	"slow-start-legacy": func(*stdioServer) { slowStart() },
	"slow-start-modern": func(s *stdioServer) {
		slowStart()
		s.on("server/discover", func(m *inMessage) {
			s.result(m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete"}`)
		})
	},
	"slow-hello": func(s *stdioServer) {
		s.on("initialize", func(*inMessage) { forever() })
	},
	"sleeper": func(*stdioServer) { forever() },
	"grandchild": func(*stdioServer) {
		child := exec.Command(os.Args[0])
		child.Env = []string{serverEnv + "=sleeper"}
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = os.WriteFile("grandchild.pid", fmt.Append(nil, child.Process.Pid), 0o600)
	},
}

// stdioConfig starts this test binary as the named server, in a directory of
// its own and with short limits.
func stdioConfig(t testing.TB, name string) mcpclient.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if self, err = filepath.Abs(self); err != nil {
		t.Fatal(err)
	}
	return mcpclient.Config{
		Command: []string{self},
		Dir:     t.TempDir(),
		// Covered binaries complain without the directory, those with the race
		// detector sleep a second before they exit.
		Env:      []string{serverEnv + "=" + name, "GOCOVERDIR=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"},
		Timeouts: mcpclient.Timeouts{Probe: 20 * time.Second},
		Name:     "mettle-test", Version: "0",
	}
}
