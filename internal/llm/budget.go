package llm

import (
	"context"
	"fmt"
	"math"
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
	// Settle ends a reservation: used is what the call took.
	Settle(reserved, used Amount)
}

// Amount is what counts against an [Account].
type Amount struct {
	Cost   eval.USD
	Tokens int
}

func (a Amount) plus(b Amount) Amount  { return Amount{a.Cost + b.Cost, a.Tokens + b.Tokens} }
func (a Amount) minus(b Amount) Amount { return Amount{a.Cost - b.Cost, a.Tokens - b.Tokens} }

// Charge puts a model's calls under an account: each reserves what it is
// thought to take before it is made, and settles for what it took.
func Charge(account Account, spec Spec, prices Prices, m Model) Model {
	return ModelFunc(func(ctx context.Context, req *Request) (*Reply, error) {
		think := Estimate(req)
		usage := eval.Usage{Calls: 1, Input: think.Input, Output: think.Output}
		if req.CacheSystem {
			usage.CacheWrite = textTokens(req.System) // the most expensive that may come of it
		}
		cost, _ := prices.Cost(spec, usage)
		held, used := Amount{cost, think.Total()}, Amount{}
		if err := account.Reserve(ctx, held); err != nil {
			return nil, err
		}
		defer func() { account.Settle(held, used) }()
		reply, err := m.Generate(ctx, req)
		if err == nil && reply != nil {
			used = took(prices, spec, reply.Usage, held)
		}
		return reply, err
	})
}

// took is what a reply counts. What it does not say was what was thought; a
// call without a reply counts nothing.
func took(prices Prices, spec Spec, u eval.Usage, held Amount) Amount {
	if u.Calls == 0 {
		return Amount{} // it was not made
	}
	used := Amount{Tokens: u.Input + u.Output}
	if used.Tokens == 0 {
		used.Tokens = held.Tokens
	}
	cost, known := prices.Cost(spec, u)
	if !known {
		cost = held.Cost
	}
	used.Cost = cost
	return used
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
	settled  chan struct{} // closed when a reservation ends, and made anew
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
