package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

// Account is what calls are paid from. [Budget] is the one of this process;
// another may be shared by processes.
type Account interface {
	// Reserve sets an amount aside before a call is made. It waits while only
	// what other calls have reserved is in the way, and gives an [eval.Stop]
	// when the amount will not fit at all.
	Reserve(ctx context.Context, a Amount) error
	// Settle ends a reservation: used is what the try took.
	Settle(reserved, used Amount)
}

// Bounder is an [Account] that can end calls under way. Bound gives the context
// of a call, which ends with an [eval.Stop] as its cause when more has been
// spent than there is. end must be called.
type Bounder interface {
	Bound(ctx context.Context) (bounded context.Context, end func())
}

// Amount is what counts against an [Account].
type Amount struct {
	Cost   eval.USD
	Tokens int
}

func (a Amount) plus(b Amount) Amount  { return Amount{a.Cost + b.Cost, a.Tokens + b.Tokens} }
func (a Amount) minus(b Amount) Amount { return Amount{a.Cost - b.Cost, a.Tokens - b.Tokens} }

// Charge puts a model's calls under an account. Every try of a call reserves
// what it is thought to take before it is made, and settles for what was
// reported, or else for what was reserved.
func Charge(account Account, spec Spec, prices Prices, m Model) Model {
	c := &charged{account: account, spec: spec, prices: prices}
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) { return c.generate(ctx, m, req) })
}

// charged is a model under an account.
type charged struct {
	account Account
	spec    Spec
	prices  Prices

	mu    sync.Mutex
	worst float64 // how many times as much as was thought a reply took; 0 for no more
}

func (c *charged) generate(ctx context.Context, m Model, req *Request) (*Reply, error) {
	if b, ok := c.account.(Bounder); ok {
		bounded, end := b.Bound(ctx)
		defer end()
		ctx = bounded
	}
	held := c.expected(req)
	if err := c.account.Reserve(ctx, held); err != nil {
		return nil, err
	}
	settled := false // the try that was reserved for
	own := *req
	own.failed = func(err error) {
		c.account.Settle(held, c.lost(req, err, held))
		settled = true
	}
	own.again = func() error {
		held = c.expected(req)
		err := c.account.Reserve(ctx, held)
		settled = err != nil
		return err
	}
	reply, err := m.Generate(ctx, &own)
	switch {
	case settled:
	case err != nil || reply == nil:
		c.account.Settle(held, c.unscheduled(req, err, held))
	default:
		c.account.Settle(held, c.took(req, reply.Usage, held))
	}
	var stop *eval.Stop
	if err != nil && errors.As(context.Cause(ctx), &stop) {
		return nil, stop
	}
	return reply, err
}

// expected is what a try may take: what is estimated, and as many times more as
// a reply has taken that was longer than it was allowed to be.
func (c *charged) expected(req *Request) Amount {
	think := Estimate(req)
	c.mu.Lock()
	if c.worst > 1 {
		think.Output = int(min(float64(think.Output)*c.worst, maxTokens))
	}
	c.mu.Unlock()
	usage := eval.Usage{Calls: 1, Input: think.Input, Output: think.Output}
	if req.CacheSystem {
		usage.CacheWrite = textTokens(req.System) // the most expensive that may come of it
	}
	cost, _ := c.prices.Cost(c.spec, usage)
	return Amount{cost, think.Total()}
}

// took is what a reply counts. What it does not say was what was thought.
func (c *charged) took(req *Request, u eval.Usage, held Amount) Amount {
	if u.Calls == 0 {
		return Amount{} // it was not made
	}
	used := Amount{Tokens: u.Input + u.Output}
	if used.Tokens == 0 || !plausible(u) {
		return held
	}
	c.mu.Lock()
	c.worst = max(c.worst, float64(u.Output)/float64(outputTokens(req)))
	c.mu.Unlock()
	cost, known := c.prices.Cost(c.spec, u)
	if !known {
		cost = held.Cost
	}
	used.Cost = cost
	return used
}

// lost is what a try counts that brought no reply: what the vendor reported, or
// else what was thought. A request that the vendor turned down, or that never
// reached it, is not billed.
func (c *charged) lost(req *Request, err error, held Amount) Amount {
	var e *Error
	var dial *net.OpError
	switch {
	case !errors.As(err, &e):
		return held // it was called off on the way
	case e.Usage != nil:
		return c.took(req, *e.Usage, held)
	case e.Status >= 400, errors.As(err, &dial) && dial.Op == "dial":
		return Amount{}
	}
	switch e.Class {
	case Malformed, Timeout, Transport:
		return held
	}
	return Amount{}
}

// unscheduled is [charged.lost] of a call that no schedule has spoken of: one
// that was called off has not been made.
func (c *charged) unscheduled(req *Request, err error, held Amount) Amount {
	if ClassOf(err) == "" {
		return Amount{}
	}
	return c.lost(req, err, held)
}

// maxTokens is more than any call takes.
const maxTokens = 1e9

// plausible tells whether usage can be what a call took. Vendors and gateways
// have reported less than nothing, and numbers that overflow.
func plausible(u eval.Usage) bool {
	least, most := min(u.Input, u.Output, u.CacheRead, u.CacheWrite), max(u.Input, u.Output, u.CacheRead, u.CacheWrite)
	return least >= 0 && most <= maxTokens
}

// Budget is what a run may spend. What is zero is not bounded; a nil budget
// bounds nothing.
//
// A call reserves what it is thought to take before it is made, and settles
// for what it took, so that calls under way together do not overdraw what each
// of them alone would have left. One that does not fit while others are under
// way waits for what they leave; when it does not fit at all, it ends with
// [eval.Stop], and the run can be resumed with another budget.
type Budget struct {
	Cost   eval.USD
	Tokens int
	Time   time.Duration // from the first [Budget.Wrap] on

	mu       sync.Mutex
	start    time.Time
	spent    Amount
	reserved Amount
	settled  chan struct{}                   // closed when a reservation ends, and made anew
	calls    map[int]context.CancelCauseFunc // those under way, by number
	numbered int
}

// ParseBudget reads a budget: dollars (5usd, $0.50), tokens (200k tokens),
// time (30m, 1h30m, 30 minutes), or several of them with commas between.
func ParseBudget(s string) (*Budget, error) {
	b := new(Budget)
	for part := range strings.SplitSeq(s, ",") {
		if err := b.read(strings.ToLower(strings.TrimSpace(part))); err != nil {
			return nil, fmt.Errorf("budget %q: %w", s, err)
		}
	}
	return b, nil
}

func (b *Budget) read(s string) error {
	twice := func(what string) error { return fmt.Errorf("it bounds %s twice", what) }
	if n, ok := cutUnit(s, "tokens", "token", "tok"); ok {
		if b.Tokens != 0 {
			return twice("tokens")
		}
		f, err := readAmount(n, math.MaxInt32*1000.0)
		if b.Tokens = int(math.Round(f)); err == nil && b.Tokens == 0 {
			err = fmt.Errorf("%q is less than a token", s)
		}
		return err
	}
	n, dollars := cutUnit(s, "usd", "dollars", "dollar", "$")
	if rest, ok := strings.CutPrefix(s, "$"); ok {
		n, dollars = rest, true
	}
	if dollars {
		if b.Cost != 0 {
			return twice("dollars")
		}
		f, err := readAmount(n, 1e9)
		if b.Cost = eval.Dollars(f); err == nil && b.Cost == 0 {
			err = fmt.Errorf("%q is nothing", s)
		}
		return err
	}
	d, err := readTime(s)
	if err == nil && b.Time != 0 {
		return twice("the time")
	}
	b.Time = d
	return err
}

// cutUnit takes a unit off the end.
func cutUnit(s string, units ...string) (string, bool) {
	for _, u := range units {
		if n, ok := strings.CutSuffix(s, u); ok {
			return strings.TrimSpace(n), true
		}
	}
	return s, false
}

// readAmount reads a number that may end in k or m, for thousands and
// millions.
func readAmount(s string, most float64) (float64, error) {
	n, scale := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		n, scale = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "m"):
		n, scale = s[:len(s)-1], 1e6
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || strings.Trim(n, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is no number", s)
	}
	if f *= scale; f <= 0 || f > most {
		return 0, fmt.Errorf("%q is out of range", s)
	}
	return f, nil
}

func readTime(s string) (time.Duration, error) {
	text := s
	for _, unit := range []struct{ word, letter string }{{"minutes", "m"}, {"minute", "m"}, {"mins", "m"}, {"min", "m"}, {"hours", "h"}, {"hour", "h"}} {
		if n, ok := strings.CutSuffix(text, unit.word); ok {
			text = strings.TrimSpace(n) + unit.letter
			break
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is no budget, want dollars (5usd), tokens (200k tokens) or time (30m)", s)
	}
	return d, nil
}

func (b *Budget) String() string {
	var parts []string
	if b.Cost != 0 {
		parts = append(parts, strconv.FormatFloat(b.Cost.Float(), 'f', -1, 64)+"usd")
	}
	if b.Tokens != 0 {
		parts = append(parts, strconv.Itoa(b.Tokens)+" tokens")
	}
	if b.Time != 0 {
		parts = append(parts, b.Time.String())
	}
	return strings.Join(parts, ", ")
}

// Wrap puts the model's calls under the budget. A model whose price is not
// known cannot be put under one in dollars: the error is [*Unpriced].
func (b *Budget) Wrap(spec Spec, prices Prices, m Model) (Model, error) {
	if b == nil {
		return m, nil
	}
	if _, known := prices.Of(spec); b.Cost != 0 && !known {
		return nil, &Unpriced{spec}
	}
	b.mu.Lock()
	if b.start.IsZero() {
		b.start, b.settled = now(), make(chan struct{})
	}
	b.mu.Unlock()
	return Charge(b, spec, prices, m), nil
}

// Reserve waits until an amount fits.
func (b *Budget) Reserve(ctx context.Context, a Amount) error {
	for {
		b.mu.Lock()
		fits, err := b.fits(a)
		if fits {
			b.reserved = b.reserved.plus(a)
		}
		settled := b.settled
		b.mu.Unlock()
		if fits || err != nil {
			return err
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// fits tells whether an amount may be reserved now; an error, that it will not
// fit either when all calls under way have turned out to take nothing.
func (b *Budget) fits(a Amount) (bool, error) {
	switch without := b.spent.plus(a); {
	case b.Time != 0 && now().Sub(b.start) >= b.Time:
		return false, &eval.Stop{Why: fmt.Sprintf("the budget of %s is spent", b.Time)}
	case b.Cost != 0 && without.Cost > b.Cost:
		return false, &eval.Stop{Why: fmt.Sprintf("the budget of %s is spent: %s so far, and the next call may cost %s", b.Cost, b.spent.Cost, a.Cost)}
	case b.Tokens != 0 && without.Tokens > b.Tokens:
		return false, &eval.Stop{Why: fmt.Sprintf("the budget of %d tokens is spent: %d so far, and the next call may take %d", b.Tokens, b.spent.Tokens, a.Tokens)}
	}
	with := b.spent.plus(b.reserved).plus(a)
	return (b.Cost == 0 || with.Cost <= b.Cost) && (b.Tokens == 0 || with.Tokens <= b.Tokens), nil
}

// Settle counts what a call took, and lets those that wait try again.
func (b *Budget) Settle(reserved, used Amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = b.reserved.minus(reserved)
	b.spent = b.spent.plus(used)
	close(b.settled)
	b.settled = make(chan struct{})
	if why := b.overdrawn(); why != nil {
		for _, cancel := range b.calls {
			cancel(why)
		}
	}
}

// overdrawn is why the run is to stop at once: a vendor took more than it was
// allowed to.
func (b *Budget) overdrawn() error {
	switch {
	case b.Cost != 0 && b.spent.Cost > b.Cost:
		return &eval.Stop{Why: fmt.Sprintf("the budget of %s is overdrawn: %s so far; replies were longer than they were allowed to be", b.Cost, b.spent.Cost)}
	case b.Tokens != 0 && b.spent.Tokens > b.Tokens:
		return &eval.Stop{Why: fmt.Sprintf("the budget of %d tokens is overdrawn: %d so far; replies were longer than they were allowed to be", b.Tokens, b.spent.Tokens)}
	}
	return nil
}

// Bound ends calls that are under way when the budget is overdrawn. The reply
// that overdrew it is there already.
func (b *Budget) Bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == nil {
		b.calls = map[int]context.CancelCauseFunc{}
	}
	b.numbered++
	number := b.numbered
	b.calls[number] = cancel
	return ctx, func() {
		b.mu.Lock()
		delete(b.calls, number)
		b.mu.Unlock()
		cancel(nil)
	}
}

// Spent is what calls under the budget have taken so far.
func (b *Budget) Spent() (cost eval.USD, tokens int) {
	if b == nil {
		return 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.Cost, b.spent.Tokens
}
