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
	// probe is how long server/discover may stay unanswered before hello, an
	// initialize with the id firstID, is sent beside it; 0 sends none.
	probe time.Duration
	hello []byte

	mu      sync.Mutex
	waiting map[int64]*waiter
	sdk     map[int64]jsonrpc.ID
	probeID int64         // id of the SDK's server/discover
	lastOwn int64         // highest id sent by rpc
	lastSDK int64         // highest id sent by the SDK
	over    *fault        // why the stream ended
	greeted chan arrival  // gets the answer to hello; nil while it is not sent
	heard   chan struct{} // closed when the first answer arrives
	once    sync.Once
	strays  int // answers with an id that was never sent
}

// A waiter is someone who waits for an answer.
type waiter struct {
	arrived chan<- arrival
	sent    bool    // what is sent later comes behind it on the stream
	before  []int64 // of a beacon: the requests without an answer that were sent before it
}

type arrival struct {
	result   []byte
	fault    *fault
	overtook bool // of a beacon: a request that was sent before it had no answer yet
}

func newMux() *mux {
	return &mux{inbox: newInbox(), waiting: map[int64]*waiter{}, sdk: map[int64]jsonrpc.ID{}, heard: make(chan struct{})}
}

// rpc sends a request and waits for its answer.
func (m *mux) rpc(ctx context.Context, req *request) (reply, *fault) {
	arrived := make(chan arrival, 1)
	m.mu.Lock()
	if m.over != nil {
		defer m.mu.Unlock()
		return reply{}, m.over
	}
	w := &waiter{arrived: arrived}
	for id, other := range m.waiting {
		if req.beacon && other.sent {
			w.before = append(w.before, id)
		}
	}
	m.waiting[req.id] = w
	m.lastOwn = max(m.lastOwn, req.id)
	strays := m.strays
	m.mu.Unlock()
	defer m.forget(req.id)

	if f := m.send(ctx, req.body()); f != nil {
		return reply{}, f
	}
	m.mu.Lock()
	w.sent = true
	m.mu.Unlock()
	select {
	case a := <-arrived:
		return reply{result: a.result, overtook: a.overtook}, a.fault
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
		if req.Method == methodInitialize && m.greetedFor(req.ID) {
			return nil
		}
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
	m.sdk[sdkID(req.ID)] = req.ID
	m.lastSDK = max(m.lastSDK, sdkID(req.ID))
	if req.Method == methodDiscover {
		m.probeID = sdkID(req.ID)
		m.setProbed(probeAsked)
		if m.probe > 0 {
			time.AfterFunc(m.probe, func() { m.greet(req.ID) })
		}
	}
	return nil
}

// probeGrace is how long the answer to server/discover may come after that to
// an initialize that was sent later: servers may answer out of order.
const probeGrace = time.Second

// greet sends initialize to a server that has not answered server/discover, id.
// It may be one that ignores what it does not know, or one that is slow to
// start: the first answers initialize alone, the second both. Neither has to be
// started again, and a slow server is of the same era as a fast one.
func (m *mux) greet(id jsonrpc.ID) {
	arrived := make(chan arrival, 1)
	m.mu.Lock()
	if _, silent := m.sdk[sdkID(id)]; !silent || m.over != nil {
		m.mu.Unlock()
		return
	}
	m.waiting[firstID] = &waiter{arrived: arrived}
	m.greeted = make(chan arrival, 1)
	m.mu.Unlock()
	if f := m.send(context.Background(), m.hello); f != nil {
		m.greeted <- arrival{fault: f}
		return
	}
	a := <-arrived // at the latest when the stream ends
	m.greeted <- a
	timer := time.NewTimer(probeGrace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.closed:
	}
	m.giveUpProbe(id)
}

// greetedFor answers the SDK's initialize with what came of the one that was
// sent before it. It reports false if there was none.
func (m *mux) greetedFor(id jsonrpc.ID) bool {
	m.mu.Lock()
	greeted := m.greeted
	m.mu.Unlock()
	if greeted == nil {
		return false
	}
	go func() {
		select {
		case a := <-greeted:
			m.pushAnswer(id, a.result, a.fault)
		case <-m.closed:
		}
	}()
	return true
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
	m.once.Do(func() { close(m.heard) })
	m.mu.Lock()
	w, ok := m.waiting[id]
	delete(m.waiting, id)
	overtook := ok && slices.ContainsFunc(w.before, func(id int64) bool { return m.waiting[id] != nil })
	m.mu.Unlock()
	if ok {
		w.arrived <- arrival{result: result, fault: f, overtook: overtook}
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
	m.waiting = map[int64]*waiter{}
	m.mu.Unlock()
	for _, w := range waiting {
		w.arrived <- arrival{fault: f}
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
