package main

import (
	"fmt"

	"github.com/mettle-eval/mettle/internal/eval"
)

// metricDocs says what gates can bound: the meaning, and the unit of a bound.
var metricDocs = map[string][2]string{
	"pass_rate":    {"passed / (passed + failed); results without a verdict are on neither side", "90% or 0.9"},
	"passed":       {"how many passed", "number"},
	"failed":       {"how many failed", "number"},
	"errors":       {"how many got no answer", "number"},
	"unscored":     {"how many have a check that could not decide, and none that failed", "number"},
	"skipped":      {"how many were left out", "number"},
	"total":        {"how many results there are", "number"},
	"retries":      {"how many tries were made after the first, by calls that broke on the way", "number"},
	"score":        {"mean of the cases' scores, each the weighted mean of its checks' values", "80% or 0.8"},
	"confidence":   {"mean of the confidence that answers state, those of 0 left out", "70 or 70%"},
	"latency_mean": {"mean time of an answer", "800ms or 2s"},
	"latency_p50":  {"time that half of the answers meet", "800ms or 2s"},
	"latency_p95":  {"time that 95 of 100 answers meet", "800ms or 2s"},
	"latency_p99":  {"time that 99 of 100 answers meet", "800ms or 2s"},
	"latency_max":  {"time of the slowest answer", "800ms or 2s"},
}

// labelDocs says what gates can be narrowed by.
var labelDocs = map[string]string{
	"difficulty": "results of cases of this difficulty",
	"tool":       "results of cases that ask this tool, by the name the suite uses",
	"project":    "results of cases of this project",
	"tag":        "results of cases with this tag",
	"suite":      "results of the suite with this name",
	"target":     "results of cases put to the target with this name",
	"key":        "scores of the checks with this key, instead of whole cases",
	"kind":       "scores of the checks of this kind, instead of whole cases",
}

// gateMetrics is the table of metrics. A metric that is not described here is
// an error, so that a new one gets its words.
func gateMetrics() (string, error) {
	var rows [][]string
	for _, m := range eval.GateMetrics {
		doc, ok := metricDocs[m]
		if !ok {
			return "", fmt.Errorf("gate metric %s is not described in docs/gen/gates.go", m)
		}
		rows = append(rows, []string{code(m), plain(doc[0]), plain(doc[1])})
	}
	return table([]string{"metric", "meaning", "bound"}, rows), nil
}

// gateLabels is the table of labels.
func gateLabels() (string, error) {
	var rows [][]string
	for _, l := range eval.GateLabels {
		doc, ok := labelDocs[l]
		if !ok {
			return "", fmt.Errorf("gate label %s is not described in docs/gen/gates.go", l)
		}
		rows = append(rows, []string{code(l), plain(doc)})
	}
	return table([]string{"label", "narrows to"}, rows), nil
}
