package cli

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
	"github.com/mettle-eval/mettle/internal/report"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/term"
)

// outputOptions says which reports of a run are written, and where.
type outputOptions struct {
	output  string
	reports []string
	verbose bool
}

func (o *outputOptions) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "", "JSON report's path, - for standard output (default reports/eval-<project|all>-<millis>.json)")
	f.StringArrayVar(&o.reports, "report", nil, "further report as format=path: "+strings.Join(formatNames(), ", ")+"; - for standard output")
	f.BoolVar(&o.verbose, "verbose", false, "show calls and the reasons of failed checks as they come")
}

// noReport as a path means that the report is not wanted.
const noReport = "none"

// settle takes from the config what the flags leave open, and finds reports
// that could not be written before anything is asked: two to one place, a
// folder, a place that cannot be written to.
func (o *outputOptions) settle(w *World, cfg *suite.Config) error {
	o.output = cmp.Or(o.output, cfg.Output.JSON)
	if o.reports == nil {
		o.reports = cfg.Output.Report
	}
	if err := checkReports(o.reports); err != nil {
		return err
	}
	reports := o.reports
	if o.output != "" && o.output != noReport {
		reports = append([]string{"json=" + o.output}, reports...)
	}
	seen := map[string]string{}
	for _, r := range reports {
		name, path, _ := strings.Cut(r, "=")
		if path != "-" {
			path = w.abs(path)
		}
		if other, taken := seen[path]; taken {
			return usagef("the %s and the %s report both go to %s", other, name, path)
		}
		seen[path] = name
		if path == "-" {
			continue
		}
		if err := fsx.Writable(path); err != nil {
			return usagef("the %s report cannot be written: %w", name, err)
		}
	}
	return nil
}

// checkReports finds a mistyped --report before anything is asked.
func checkReports(reports []string) error {
	for _, r := range reports {
		name, path, ok := strings.Cut(r, "=")
		if !ok || path == "" {
			return usagef("--report %q is not format=path", r)
		}
		if _, ok := report.Find(name); !ok {
			return usagef("--report: unknown format %q, want one of %s", name, strings.Join(formatNames(), ", "))
		}
	}
	return nil
}

func formatNames() (names []string) {
	for _, f := range report.Formats {
		names = append(names, f.Name)
	}
	return names
}

// write writes the JSON report, those asked for, and the terminal report, which
// gives way when standard output is wanted for data.
func (o *outputOptions) write(w *World, run *eval.Run, dir string) error {
	output := o.output
	if output == "" {
		output = filepath.Join("reports", fmt.Sprintf("eval-%s-%d.json", fileName(cmp.Or(run.Project, "all")), w.Now().UnixMilli()))
	}
	for _, r := range append([]string{"json=" + output}, o.reports...) {
		if r == "json="+noReport {
			continue
		}
		name, path, _ := strings.Cut(r, "=")
		// Reports say what the run was, not where on this machine it is kept: a
		// replay writes the same.
		if err := writeReport(w, run, name, path, report.Options{Verbose: o.verbose || name == "terminal"}); err != nil {
			return err
		}
	}
	terminal, _ := report.Find("terminal") // last: whoever reads it may stop reading
	screen, color := o.stream(w)
	if err := terminal.Write(screen, run, report.Options{Color: color, Width: w.Width, Verbose: o.verbose, Dir: w.shown(dir)}); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// stream is where the report for people goes: standard output, unless that is
// wanted for data.
func (o *outputOptions) stream(w *World) (io.Writer, bool) {
	if o.output == "-" || slices.ContainsFunc(o.reports, func(r string) bool { return strings.HasSuffix(r, "=-") }) {
		return w.Stderr, w.color(w.ErrTTY)
	}
	return w.Stdout, w.color(w.OutTTY)
}

// fileName keeps a name from being more than a name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' || r < ' ' || r == 0x7f {
			return '-'
		}
		return r
	}, strings.Trim(s, "."))
}

func writeReport(w *World, run *eval.Run, name, path string, o report.Options) error {
	format, _ := report.Find(name)
	if path == "-" {
		return format.Write(w.reportOut(name), run, o)
	}
	err := fsx.Replace(w.abs(path), func(out io.Writer) error { return format.Write(out, run, o) })
	if err != nil {
		return fmt.Errorf("write the %s report: %w; the run is kept: mettle report writes it again", name, err)
	}
	w.printf("%s\n", term.Paint(w.color(w.ErrTTY)).Dim(name+" report: "+w.shown(path)))
	return nil
}
