package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/term"
)

// progress shows a run as it happens: one line that is drawn over on a
// terminal, a line a result elsewhere. It is a sink behind the store, so
// what it shows is on disk.
type progress struct {
	w       *World
	verbose bool
	done    int // results counted, those of an earlier part of the run among them
	fresh   int // results of this part
	total   int
	failed  int
	errors  int
	started time.Time
	drawn   time.Time
	live    bool
	screen  bool // a terminal that can be drawn over
}

func newProgress(w *World, verbose bool) *progress {
	return &progress{w: w, verbose: verbose, screen: w.ErrTTY && w.Getenv("TERM") != "dumb"}
}

// Start notes how much there is to do.
func (p *progress) Start(run *eval.Run) error {
	p.total, p.started = run.Planned, p.w.Now()
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

// Results shows a batch.
func (p *progress) Results(batch []*eval.Result) error {
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
		if !p.screen || (p.verbose && r.Status != eval.Pass) {
			lines.WriteString(report.Line(r, p.done, p.total, o) + "\n")
		}
	}
	if p.screen && lines.Len() > 0 {
		p.clear()
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
	if !p.screen || (p.live && now.Sub(p.drawn) < redraw && p.done < p.total) {
		return
	}
	p.drawn, p.live = now, true
	const cells = 24
	filled := cells * p.done / max(1, p.total)
	bar := strings.Repeat("█", filled) + strings.Repeat("░", cells-filled)
	line := fmt.Sprintf("%s %d/%d", bar, p.done, p.total)
	if p.failed > 0 {
		line += fmt.Sprintf("  %d failed", p.failed)
	}
	if p.errors > 0 {
		line += fmt.Sprintf("  %d without verdict", p.errors)
	}
	if left := p.total - p.done; left > 0 && p.fresh > 0 {
		eta := now.Sub(p.started) / time.Duration(p.fresh) * time.Duration(left)
		line += "  about " + eta.Round(time.Second).String() + " left"
	}
	p.w.printf("\r%s\x1b[K", line)
}

func (p *progress) clear() {
	if p.live {
		p.w.printf("\r\x1b[K")
		p.live = false
	}
}
