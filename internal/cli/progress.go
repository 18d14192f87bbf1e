package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/term"
)

// progress shows a run as it happens: one line that is drawn over on a
// terminal, a line a result elsewhere. It is a listener, so what it shows is on
// disk.
type progress struct {
	w       *World
	verbose bool
	screen  bool // a terminal that can be drawn over

	mu      sync.Mutex
	run     *eval.Run
	done    int // results counted, those of an earlier part of the run among them
	fresh   int // results of this part
	failed  int
	errors  int
	started time.Time
	drawn   time.Time
	live    bool
}

func newProgress(w *World, p *session.Plan, verbose bool) *progress {
	return &progress{w: w, verbose: verbose, screen: w.ErrTTY && w.Getenv("TERM") != "dumb", done: p.Done()}
}

// Name is how notes of the run call it.
func (p *progress) Name() string { return "progress" }

// Patience is long: the report comes after the progress on the same screen.
func (p *progress) Patience() time.Duration { return 5 * time.Second }

// Start says what the targets turned out to be.
func (p *progress) Start(run *eval.Run) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run, p.started = run, p.w.Now()
	for _, name := range slices.Sorted(maps.Keys(run.Targets)) {
		d := run.Targets[name]
		if d["server"] != "" {
			p.w.printf("%s\n", term.Paint(p.w.color(p.w.ErrTTY)).Dim(term.Sanitize(fmt.Sprintf("%s: %s, %s, protocol %s", name, d["server"], d["transport"], d["protocol"]))))
		}
		if d["tools"] != "" {
			p.w.printf("%s\n", term.Sanitize("tools: "+d["tools"]))
		}
	}
	return nil
}

// Event is not shown by itself: the calls of a result are shown with it.
func (p *progress) Event(eval.Event) error { return nil }

// Results shows a batch.
func (p *progress) Results(batch []*eval.Result) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var lines strings.Builder
	o := report.Options{Color: p.w.color(p.w.ErrTTY), Verbose: p.verbose, Width: p.w.Width}
	for _, r := range batch {
		p.done++
		p.fresh++
		switch r.Status {
		case eval.Fail:
			p.failed++
		case eval.Error, eval.Unscored:
			p.errors++
		}
		if !p.screen || p.verbose {
			lines.WriteString(report.Line(p.run, r, p.done, o) + "\n")
		}
	}
	if p.screen && lines.Len() > 0 {
		p.wipe()
	}
	p.w.printf("%s", lines.String())
	p.draw()
	return nil
}

// Finish leaves the screen to the report.
func (p *progress) Finish(*eval.Run) error {
	p.clear()
	return nil
}

const redraw = 80 * time.Millisecond

func (p *progress) draw() {
	now := p.w.Now()
	if !p.screen || (p.live && now.Sub(p.drawn) < redraw && p.done < p.run.Planned) {
		return
	}
	p.drawn, p.live = now, true
	const cells = 24
	filled := cells * p.done / max(1, p.run.Planned)
	bar := strings.Repeat("█", filled) + strings.Repeat("░", cells-filled)
	line := fmt.Sprintf("%s %d/%d", bar, p.done, p.run.Planned)
	if p.failed > 0 {
		line += fmt.Sprintf("  %d failed", p.failed)
	}
	if p.errors > 0 {
		line += fmt.Sprintf("  %d without verdict", p.errors)
	}
	if left := p.run.Planned - p.done; left > 0 && p.fresh > 0 {
		eta := now.Sub(p.started) / time.Duration(p.fresh) * time.Duration(left)
		line += "  about " + eta.Round(time.Second).String() + " left"
	}
	p.w.printf("\r%s\x1b[K", line)
}

// clear takes the progress line off the screen.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *progress) wipe() {
	if p.live {
		p.w.printf("\r\x1b[K")
		p.live = false
	}
}
