package cli

import (
	"strings"

	"github.com/mettle-eval/mettle/internal/fsx"
)

// checkDestinations finds reports that could not be written before anything is
// asked: two to one place, a folder, a place that cannot be written to.
func (o *runOptions) checkDestinations(w *World) error {
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

// noReport as a path means that the report is not wanted.
const noReport = "none"
