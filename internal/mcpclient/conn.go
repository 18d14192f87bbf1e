package mcpclient

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A conn carries messages to one server. It has two users: the SDK's session,
// which does the handshake through the mcp.Connection side, and the Client,
// which sends tools/list and tools/call through rpc.
type conn interface {
	mcp.Connection
	// rpc makes one attempt at a request. It is safe for concurrent use.
	rpc(ctx context.Context, req *request) (reply, *fault)
	// agreed tells the version that the handshake found.
	agreed(version string)
	// probed tells what became of the SDK's server/discover.
	probed() probeState
	// ended says why nothing can be sent any more; nil if it can.
	ended() *fault
	// stop ends the connection and everything it started. The server is told
	// so only if politely is set.
	stop(politely bool)
}

// A reply is the result of a request with what was odd about its delivery.
type reply struct {
	result   []byte
	findings []string
	session  string // the id in the HTTP headers around it
	overtook bool   // of a beacon on a stream: it came before the answer to an earlier request
}

// A request is a JSON-RPC request on its way beside the SDK.
type request struct {
	id     int64
	method string
	params []byte
	// tool and header are mirrored into HTTP headers in the modern era.
	tool   string
	header []headerField
	// beacon asks for the reply to say whether it overtook another.
	beacon bool
}

type headerField struct{ name, value string }

// firstID keeps our ids apart from those of the SDK, which counts from 1.
const firstID = 1_000_000

func (r *request) body() []byte {
	b := make([]byte, 0, len(r.params)+len(r.method)+64)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, r.id, 10)
	b = append(b, `,"method":"`...)
	b = append(b, r.method...)
	b = append(b, `","params":`...)
	b = append(b, r.params...)
	return append(b, '}')
}

// cancelBody is the notification that the answer to id is no longer awaited.
func cancelBody(id int64) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` +
		strconv.FormatInt(id, 10) + `,"reason":"no longer awaited"}}`)
}

// An inbox hands messages to the SDK's session.
type inbox struct {
	messages chan jsonrpc.Message
	closed   chan struct{}
	once     sync.Once
	// discover is what became of server/discover.
	discover atomic.Int32
}

type probeState int32

const (
	probeNone     probeState = iota // not sent
	probeAsked                      // sent, no answer
	probeSilent                     // given up
	probeAnswered                   // answered, in whatever way
)

func newInbox() *inbox {
	return &inbox{messages: make(chan jsonrpc.Message, 16), closed: make(chan struct{})}
}

func (b *inbox) Read(ctx context.Context) (jsonrpc.Message, error) {
	// What is already here is given out before the end is announced.
	select {
	case m := <-b.messages:
		return m, nil
	default:
	}
	select {
	case m := <-b.messages:
		return m, nil
	case <-b.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close is called by the SDK when it lets go. The conn itself lives on until
// it is stopped.
func (b *inbox) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

func (b *inbox) SessionID() string { return "" }

func (b *inbox) probed() probeState { return probeState(b.discover.Load()) }

func (b *inbox) setProbed(s probeState) { b.discover.Store(int32(s)) }

// push gives m to the SDK, unless it has let go.
func (b *inbox) push(m jsonrpc.Message) {
	select {
	case b.messages <- m:
	case <-b.closed:
	}
}

// pushRaw gives a request or notification of the server to the SDK. What the
// SDK cannot read is dropped: it was not asked for.
func (b *inbox) pushRaw(raw []byte) {
	if m, err := jsonrpc.DecodeMessage(raw); err == nil {
		b.push(m)
	}
}

// pushAnswer gives the SDK the answer to one of its own requests. A fault
// stays a fault: the SDK wraps it, and Dial finds it again.
func (b *inbox) pushAnswer(id jsonrpc.ID, result []byte, f *fault) {
	resp := &jsonrpc.Response{ID: id}
	switch {
	case f == nil:
		resp.Result = json.RawMessage(result)
	case f.rpc != nil:
		resp.Error = &jsonrpc.Error{Code: f.rpc.Code, Message: f.rpc.Message, Data: f.rpc.Data}
	default:
		resp.Error = f
	}
	b.push(resp)
}

// sdkID gives the number of a request the SDK made.
func sdkID(id jsonrpc.ID) int64 {
	n, _ := id.Raw().(int64)
	return n
}

const (
	methodDiscover    = "server/discover"
	methodInitialize  = "initialize"
	methodPing        = "ping"
	methodInitialized = "notifications/initialized"
	methodListTools   = "tools/list"
	methodCallTool    = "tools/call"
)
