package llm

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
)

func TestBudgetsAreRead(t *testing.T) {
	for text, want := range map[string]string{
		"5usd":                   "5usd",
		"$0.50":                  "0.5usd",
		"5 USD":                  "5usd",
		"0.5$":                   "0.5usd",
		"2k usd":                 "2000usd",
		"12 dollars":             "12usd",
		"200k tokens":            "200000 tokens",
		"200K tokens":            "200000 tokens",
		"1.5m tokens":            "1500000 tokens",
		"1.5mtokens":             "1500000 tokens",
		"90 tokens":              "90 tokens",
		"30m":                    "30m0s",
		"30 minutes":             "30m0s",
		"1h30m":                  "1h30m0s",
		"2 hours":                "2h0m0s",
		"90s":                    "1m30s",
		"5usd, 200k tokens, 30m": "5usd, 200000 tokens, 30m0s",
		"30m,5usd":               "5usd, 30m0s",
		"0.000000001usd":         "0.000000001usd",
	} {
		b, err := ParseBudget(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := b.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                 `"" is no budget`,
		"5":                `"5" is no budget`,
		"5 eur":            `"5 eur" is no budget`,
		"-5usd":            `"-5" is no number`,
		"0usd":             `"0" is out of range`,
		"nanusd":           `"nan" is no number`,
		"infusd":           `"inf" is no number`,
		"0x10usd":          `"0x10" is no number`,
		"1e3usd":           `"1e3" is no number`,
		"usd":              `"" is no number`,
		"5usd,6usd":        "bounds dollars twice",
		"1k tokens, 2 tok": "bounds tokens twice",
		"1m, 2m":           "bounds the time twice",
		"5usd,":            `"" is no budget`,
		"0m":               `"0m" is no budget`,
		"0.1 tokens":       "less than a token",
		"9999999999m usd":  "out of range",
	} {
		if b, err := ParseBudget(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %s", text, b, err, want)
		}
	}
}

var dollarATry = Prices{"openai:m": {Rates: Rates{Input: 1, Output: 1000}}} // 1,000 tokens of output are a dollar

func thousand() *Request { return &Request{MaxTokens: 1000} }

func budget(t *testing.T, s string, m Model) (*Budget, Model) {
	t.Helper()
	b, err := ParseBudget(s)
	if err != nil {
		t.Fatal(err)
	}
	wrapped, err := b.Wrap(Spec{Provider: "openai", Model: "m"}, dollarATry, m)
	if err != nil {
		t.Fatal(err)
	}
	return b, wrapped
}

func TestABudgetIsNotOverdrawn(t *testing.T) {
	for _, text := range []string{"10.1usd", "10100 tokens"} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Int64
				_, m := budget(t, text, ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
					made.Add(1)
					return &Reply{Usage: eval.Usage{Calls: 1, Input: 4, Output: 1000}}, sleep(ctx, time.Second)
				}))
				var stopped atomic.Int64
				var wg sync.WaitGroup
				for range 50 {
					wg.Go(func() {
						_, err := m.Generate(t.Context(), thousand())
						var stop *eval.Stop
						switch {
						case errors.As(err, &stop) && strings.HasPrefix(stop.Why, "the budget of ") && strings.Contains(stop.Why, " is spent: "):
							stopped.Add(1)
						case err != nil:
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if made.Load() != 10 || stopped.Load() != 40 {
					t.Errorf("%d calls were made and %d stopped, want 10 and 40", made.Load(), stopped.Load())
				}
			})
		})
	}
}

// Calls take a tenth of what is reserved for them: those that do not fit wait
// for what is left, and all are made.
func TestWhatIsReservedForNothingIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := budget(t, "6usd", ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			return &Reply{Usage: eval.Usage{Calls: 1, Input: 4, Output: 100}}, sleep(ctx, time.Second)
		}))
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := m.Generate(t.Context(), thousand()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if cost, tokens := b.Spent(); cost != 50*eval.Dollars(0.100004) || tokens != 50*104 {
			t.Errorf("spent %s and %d tokens", cost, tokens)
		}
	})
}

func TestCallsWithoutAReplyCostNothing(t *testing.T) {
	b, m := budget(t, "1.1usd", ModelFunc(func(context.Context, *Request) (*Reply, error) {
		return nil, &Error{Class: Server, Message: "broken"}
	}))
	for range 20 {
		if _, err := m.Generate(t.Context(), thousand()); ClassOf(err) != Server {
			t.Fatal(err)
		}
	}
	if cost, _ := b.Spent(); cost != 0 || b.reserved != (Amount{}) {
		t.Errorf("spent %s, reserved %v", cost, b.reserved)
	}
}

func TestWhatAReplyDoesNotSayCountsAsThought(t *testing.T) {
	b, m := budget(t, "2.5usd", ModelFunc(func(context.Context, *Request) (*Reply, error) {
		return &Reply{Usage: eval.Usage{Calls: 1}}, nil
	}))
	for range 2 {
		if _, err := m.Generate(t.Context(), thousand()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Generate(t.Context(), thousand()); err == nil {
		t.Error("a third call fits, want the others to count")
	}
	if cost, tokens := b.Spent(); cost < eval.Dollars(2) || tokens < 2000 {
		t.Errorf("spent %s and %d tokens", cost, tokens)
	}
}

// TestEveryTryIsCharged: a schedule makes several tries of a call, and what
// each of them took counts.
func TestEveryTryIsCharged(t *testing.T) {
	dollar := &eval.Usage{Calls: 1, Input: 4, Output: 1000}
	for name, tc := range map[string]struct {
		fails error
		least eval.USD // of a try
	}{
		"malformed, with usage":    {&Error{Class: Malformed, Usage: dollar}, eval.Dollars(1)},
		"malformed":                {&Error{Class: Malformed}, eval.Dollars(1)},
		"negative usage":           {&Error{Class: Malformed, Usage: &eval.Usage{Calls: 1, Input: -1 << 40, Output: -5}}, eval.Dollars(1)},
		"timeout":                  {&Error{Class: Timeout}, eval.Dollars(1)},
		"broken off":               {&Error{Class: Transport, Err: io.ErrUnexpectedEOF}, eval.Dollars(1)},
		"never connected":          {&Error{Class: Transport, Err: &net.OpError{Op: "dial"}}, 0},
		"turned down":              {&Error{Class: RateLimited, Status: 429}, 0},
		"broken vendor":            {&Error{Class: Server, Status: 500}, 0},
		"refused, but it reported": {&Error{Class: Server, Status: 500, Usage: dollar}, eval.Dollars(1)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				inner := NewScheduler(Pace{Tries: 4}, nil).Wrap(ModelFunc(func(context.Context, *Request) (*Reply, error) {
					if tries++; tries%3 != 0 {
						return nil, tc.fails
					}
					return &Reply{Usage: eval.Usage{Calls: 1, Input: 4, Output: 1000}}, nil
				}))
				b, m := budget(t, "100usd", inner)
				if _, err := m.Generate(t.Context(), thousand()); err != nil {
					t.Fatal(err)
				}
				want := eval.Dollars(1.000004) + 2*tc.least
				if cost, _ := b.Spent(); cost < want || cost > want+eval.Dollars(0.1) || b.reserved != (Amount{}) {
					t.Errorf("spent %s, want %s; reserved %v", cost, want, b.reserved)
				}
				// Retries stop with the budget.
				tries = 0
				b, m = budget(t, "1.5usd", inner)
				_, err := m.Generate(t.Context(), thousand())
				var stop *eval.Stop
				if cost, _ := b.Spent(); errors.As(err, &stop) != (tc.least > 0) || cost > eval.Dollars(1.5) {
					t.Errorf("spent %s of $1.50: %v", cost, err)
				}
			})
		})
	}
}

// TestImpossibleUsageIsUnknown: it neither gives money back nor overflows.
func TestImpossibleUsageIsUnknown(t *testing.T) {
	for _, u := range []eval.Usage{
		{Calls: 1, Input: 4, Output: -1_000_000},
		{Calls: 1, Input: -4, Output: 1},
		{Calls: 1, Input: math.MaxInt, Output: math.MaxInt},
		{Calls: 1, Input: 1, Output: 1, CacheRead: -1 << 60},
		{Calls: 1, Input: math.MinInt, Output: math.MaxInt},
	} {
		plain := ModelFunc(func(context.Context, *Request) (*Reply, error) { return &Reply{Usage: u}, nil })
		for _, inner := range []Model{plain, NewScheduler(Pace{}, nil).Wrap(plain)} {
			b, m := budget(t, "2.5usd", inner)
			made := 0
			for range 10 {
				if _, err := m.Generate(t.Context(), thousand()); err != nil {
					break
				}
				made++
			}
			if cost, tokens := b.Spent(); made != 2 || cost < eval.Dollars(2) || cost > eval.Dollars(2.5) || tokens < 2000 {
				t.Errorf("%+v: %d calls, spent %s and %d tokens", u, made, cost, tokens)
			}
		}
	}
}

// TestAVendorThatIgnoresTheLimit overdraws a budget by one reply, and ends the
// calls under way.
func TestAVendorThatIgnoresTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made, ended atomic.Int64
		b, m := budget(t, "10usd", ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			wait := time.Duration(made.Add(1)) * time.Minute
			if err := sleep(ctx, wait); err != nil {
				ended.Add(1)
				return nil, err
			}
			return &Reply{Usage: eval.Usage{Calls: 1, Input: 4, Output: 11_000}}, nil
		}))
		var replies, stopped atomic.Int64
		var wg sync.WaitGroup
		for range 30 {
			wg.Go(func() {
				_, err := m.Generate(t.Context(), thousand())
				var stop *eval.Stop
				switch {
				case err == nil:
					replies.Add(1)
				case errors.As(err, &stop):
					stopped.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if cost, _ := b.Spent(); replies.Load() != 1 || stopped.Load() != 29 || ended.Load() != made.Load()-1 || cost > eval.Dollars(12) {
			t.Errorf("%d replies, %d stopped, %d of %d ended, spent %s", replies.Load(), stopped.Load(), ended.Load(), made.Load(), cost)
		}
	})
	// One that takes four times as much is expected to, from then on.
	b, m := budget(t, "10usd", ModelFunc(func(context.Context, *Request) (*Reply, error) {
		return &Reply{Usage: eval.Usage{Calls: 1, Input: 4, Output: 4000}}, nil
	}))
	for range 10 {
		if _, err := m.Generate(t.Context(), thousand()); err != nil {
			break
		}
	}
	if cost, _ := b.Spent(); cost > eval.Dollars(10) || cost < eval.Dollars(8) {
		t.Errorf("spent %s of $10", cost)
	}
}

func TestTimeIsABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := budget(t, "30m", ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			return &Reply{}, sleep(ctx, 10*time.Minute)
		}))
		for range 3 {
			if _, err := m.Generate(t.Context(), thousand()); err != nil {
				t.Fatal(err)
			}
		}
		_, err := m.Generate(t.Context(), thousand())
		var stop *eval.Stop
		if !errors.As(err, &stop) || stop.Why != "the budget of 30m0s is spent" {
			t.Errorf("got %v", err)
		}
	})
}

func TestWaitingForABudgetEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := budget(t, "1.1usd", ModelFunc(func(ctx context.Context, _ *Request) (*Reply, error) {
			return &Reply{}, sleep(ctx, time.Hour)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := m.Generate(ctx, thousand()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
	})
}

func TestADollarBudgetNeedsAPrice(t *testing.T) {
	nobody := Spec{Provider: "openai", Model: "nobody-knows"}
	dollars, tokens := &Budget{Cost: 1}, &Budget{Tokens: 1}
	if _, err := tokens.Wrap(nobody, DefaultPrices(), nil); err != nil {
		t.Errorf("a budget of tokens needs no price: %v", err)
	}
	_, err := dollars.Wrap(nobody, DefaultPrices(), nil)
	var unpriced *Unpriced
	if !errors.As(err, &unpriced) || !strings.Contains(err.Error(), `prices: {"openai:nobody-knows": {input: 1.25, output: 10}}`) {
		t.Errorf("got %v", err)
	}
	m := ModelFunc(func(context.Context, *Request) (*Reply, error) { return &Reply{}, nil })
	var none *Budget
	if wrapped, err := none.Wrap(nobody, nil, m); err != nil || wrapped == nil {
		t.Errorf("no budget: %v", err)
	}
}

var haiku = Spec{Provider: "anthropic", Model: "claude-haiku-5-5"}

// Keeping a long text costs more than reading it, and the first call pays.
func TestWhatKeepingTheSystemTextCostsIsReserved(t *testing.T) {
	prices := Prices{haiku.String(): {Rates: Rates{Input: 1, Output: 1, CacheWrite: 2}}}
	req := &Request{System: strings.Repeat("x", 350_000), CacheSystem: true, MaxTokens: 1} // 100,000 tokens
	b := &Budget{Cost: eval.Dollars(0.15)}
	m, err := b.Wrap(haiku, prices, ModelFunc(func(context.Context, *Request) (*Reply, error) {
		t.Error("it was asked")
		return nil, errors.New("asked")
	}))
	if err != nil {
		t.Fatal(err)
	}
	var stop *eval.Stop
	if _, err := m.Generate(t.Context(), req); !errors.As(err, &stop) {
		t.Errorf("got %v, want the budget of 15 cents to be too small for 20", err)
	}
}

func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{"5usd", "$0.50", "200k tokens", "1.5m tokens", "30m", "1h30m", "30 minutes", "5usd, 200k tokens, 30m", "$", ",", "1e309usd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := ParseBudget(s)
		if err != nil {
			return
		}
		if b.Cost < 0 || b.Tokens < 0 || b.Time < 0 || b.Cost == 0 && b.Tokens == 0 && b.Time == 0 {
			t.Fatalf("%q is %+v", s, b)
		}
		again, err := ParseBudget(b.String())
		if err != nil || again.Cost != b.Cost || again.Tokens != b.Tokens || again.Time != b.Time {
			t.Fatalf("%q is %s, which is %v, %v", s, b, again, err)
		}
	})
}
