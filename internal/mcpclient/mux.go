package mcpclient

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A mux sorts what arrives on one stream (the stdout of a process, the events
// of an HTTP+SSE server) to those who wait for it.
type mux struct {
	*inbox
	// send puts one message on the stream; abandon tells the server, without
	// waiting, that nobody waits for id any more.
	send    func(ctx context.Context, body []byte) *fault
	abandon func(id int64)
	// probe bounds the wait for server/discover; 0 does not.
	probe time.Duration

	mu      sync.Mutex
	waiting map[int64]chan<- arrival
	sdk     map[int64]jsonrpc.ID
	probeID int64  // id of the SDK's server/discover
	lastOwn int64  // highest id sent by rpc
	lastSDK int64  // highest id sent by the SDK
	over    *fault // why the stream ended
	strays  int    // answers with an id that was never sent
}

type arrival struct {
	result []byte
	fault  *fault
}

func newMux() *mux {
	return &mux{inbox: newInbox(), waiting: map[int64]chan<- arrival{}, sdk: map[int64]jsonrpc.ID{}}
}

// rpc sends a request and waits for its answer.
func (m *mux) rpc(ctx context.Context, req *request) (reply, *fault) {
	arrived := make(chan arrival, 1)
	m.mu.Lock()
	if m.over != nil {
		defer m.mu.Unlock()
		return reply{}, m.over
	}
	m.waiting[req.id] = arrived
	m.lastOwn = max(m.lastOwn, req.id)
	strays := m.strays
	m.mu.Unlock()
	defer m.forget(req.id)

	if f := m.send(ctx, req.body()); f != nil {
		return reply{}, f
	}
	select {
	case a := <-arrived:
		return reply{result: a.result}, a.fault
	case <-ctx.Done():
		m.abandon(req.id)
		return reply{}, m.unanswered(ctx, strays)
	}
}

// unanswered explains a request whose time is over. A server that answers
// under a wrong id is not slow, it is wrong.
func (m *mux) unanswered(ctx context.Context, strays int) *fault {
	f := ctxFault(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.class == ClassTimeout && m.strays > strays {
		f.class = ClassProtocol
		f.text = "no answer in time, but answers came with an id that was never sent"
	}
	return f
}

func (m *mux) forget(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.waiting, id)
}

// Write implements mcp.Connection for the SDK's own messages.
func (m *mux) Write(ctx context.Context, msg jsonrpc.Message) error {
	body, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if req, ok := msg.(*jsonrpc.Request); ok && req.IsCall() {
		if f := m.expectForSDK(req); f != nil {
			return f
		}
	}
	if f := m.send(ctx, body); f != nil {
		return f
	}
	return nil
}

func (m *mux) expectForSDK(req *jsonrpc.Request) *fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over != nil {
		return m.over
	}
	if req.Method == methodInitialize && m.probed() == probeSilent {
		// Whatever this server is doing with server/discover, it is not fit for
		// a handshake. The caller starts a fresh one and leaves the probe out.
		return protocolFault("the server does not answer %s", methodDiscover)
	}
	m.sdk[sdkID(req.ID)] = req.ID
	m.lastSDK = max(m.lastSDK, sdkID(req.ID))
	if req.Method == methodDiscover {
		m.probeID = sdkID(req.ID)
		m.setProbed(probeAsked)
		if m.probe > 0 {
			time.AfterFunc(m.probe, func() { m.giveUpProbe(req.ID) })
		}
	}
	return nil
}

// giveUpProbe answers server/discover in the place of a silent server.
func (m *mux) giveUpProbe(id jsonrpc.ID) {
	if _, ok := m.takeSDK(sdkID(id)); ok {
		m.setProbed(probeSilent)
		m.pushAnswer(id, nil, protocolFault("the server does not answer %s", methodDiscover))
	}
}

// takeSDK reports whether the SDK waits for id, and ends that.
func (m *mux) takeSDK(id int64) (jsonrpc.ID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	full, ok := m.sdk[id]
	delete(m.sdk, id)
	return full, ok
}

// deliver takes one message from the stream. It reports false when the
// message is none that a JSON-RPC peer would send.
func (m *mux) deliver(raw []byte) bool {
	msg, ok := parseMessage(raw)
	if !ok {
		return m.deliverBatch(raw)
	}
	if msg.method != nil && msg.hasVersion() {
		m.pushRaw(raw)
		return true
	}
	if !msg.isResponse() {
		return false
	}
	result, f := msg.answer()
	id, ok := msg.number()
	if !ok {
		if id, ok = msg.quotedNumber(); ok {
			result, f = nil, protocolFault("the answer has the id %s instead of %d", msg.id, id)
		}
	}
	m.settle(id, result, f)
	return true
}

// deliverBatch takes an array of messages, which 2025-03-26 allowed.
func (m *mux) deliverBatch(raw []byte) bool {
	if !valid(raw) {
		return false
	}
	taken := false
	elements(raw, func(value []byte) { taken = m.deliver(value) || taken })
	return taken
}

// settle gives the answer to the one who waits for id.
func (m *mux) settle(id int64, result []byte, f *fault) {
	m.mu.Lock()
	arrived, ok := m.waiting[id]
	delete(m.waiting, id)
	m.mu.Unlock()
	if ok {
		arrived <- arrival{result: result, fault: f}
		return
	}
	if full, ok := m.takeSDK(id); ok {
		if id == m.probeID {
			m.setProbed(probeAnswered)
		}
		m.pushAnswer(full, result, f)
		return
	}
	m.countStray(id)
}

// countStray notes an answer nobody waits for, unless it is a second answer or
// one that came after its request was given up.
func (m *mux) countStray(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	late := id > 0 && id <= m.lastSDK || id > firstID && id <= m.lastOwn
	if !late {
		m.strays++
	}
}

// end fails everyone who waits, now and later.
func (m *mux) end(f *fault) {
	m.mu.Lock()
	if m.over == nil {
		m.over = f
	}
	waiting := m.waiting
	m.waiting = map[int64]chan<- arrival{}
	m.mu.Unlock()
	for _, arrived := range waiting {
		arrived <- arrival{fault: f}
	}
	m.Close()
}

func (m *mux) ended() *fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

// pending lists the ids that are waited for.
func (m *mux) pending() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.waiting))
}

// tooLong reports an overlong message to the call it answers. If its id cannot
// be found and several wait, one of them would wait in vain: all try again.
func (m *mux) tooLong(ln *line, limit int64) {
	f := tooLargeFault(limit)
	if id, ok := ln.id(); ok {
		m.settle(id, nil, f)
		return
	}
	pending := m.pending()
	if len(pending) > 1 {
		f.class, f.again = ClassTransport, true
		f.text = "an answer was too large, and it did not say to which call it belongs"
	}
	for _, id := range pending {
		m.settle(id, nil, f)
	}
}
