//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mettle-eval/mettle/internal/llm/llmtest"
)

// What a run with models is measured with: the cases, the calls of each (one
// answer and three judges), and how many of them may run at a time.
const (
	modelCases   = 200
	modelCalls   = 4
	modelFlight  = 64
	modelLatency = 500 * time.Millisecond
)

// models measures a run that asks models beside the time its calls take when
// as many as allowed always run, with a vendor that answers all of them and
// with one that turns a fifth away.
func models(mettle, dir string) error {
	folder := filepath.Join(dir, "models")
	if err := writeModelSuite(folder); err != nil {
		return err
	}
	ideal := modelCases * modelCalls * modelLatency / modelFlight
	fmt.Printf("\n%d cases of %d model calls of %s, %d in flight, ideal %s\n", modelCases, modelCalls, modelLatency, modelFlight, ideal)
	for _, share := range []float64{0, 0.2} {
		u, calls, err := runModels(mettle, folder, share)
		if err != nil {
			return err
		}
		fmt.Printf("%3.0f%% of calls turned away: wall %s, %.2fx ideal, cpu %s, %.0f MB, %d calls\n", share*100, u.wall.Round(time.Millisecond), float64(u.wall)/float64(ideal), u.cpu.Round(time.Millisecond), u.peakMB, calls)
	}
	return nil
}

func runModels(mettle, folder string, share float64) (usage, int, error) {
	server := llmtest.Start(llmtest.Options{Latency: modelLatency, Share429: share, Answer: func(c llmtest.Call) llmtest.Answer {
		if c.Schema != nil {
			return llmtest.Answer{Text: `{"reasoning": "Fine.", "score": 0.9}`}
		}
		return llmtest.Answer{Text: "```ts\nconsole.log(1);\n```"}
	}})
	defer server.Close()
	// Twice as many cases as calls: while the judges of one case wait for their
	// turn, the answer to another is asked for.
	cmd := exec.Command(mettle, "run", "models.yaml", "--skills", ".", "--model", "anthropic:a", "--judge", "anthropic:b",
		"--concurrency", fmt.Sprint(2*modelFlight), "-o", "none", "--runs", filepath.Join(folder, fmt.Sprint("runs", share)))
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "ANTHROPIC_BASE_URL="+server.Anthropic(), "ANTHROPIC_API_KEY=sk-ant-bench-0123456789")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	u, err := timed(cmd)
	if err != nil {
		return u, 0, fmt.Errorf("mettle: %w\n%s", err, out.String()[max(0, out.Len()-2000):])
	}
	return u, server.Calls(), nil
}

func writeModelSuite(folder string) error {
	var b strings.Builder
	b.WriteString("name: models\ntarget: {type: skill}\ntests:\n")
	for i := range modelCases {
		fmt.Fprintf(&b, "  - {id: c%03d, input: {skill: s/SKILL.md, question: Question %d}, expected: {criteria: Right.}}\n", i, i)
	}
	if err := os.MkdirAll(filepath.Join(folder, "s"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "s", "SKILL.md"), []byte("---\nname: s\ndescription: d\nlanguage: js\n---\n# S\n\nText.\n"), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "models.yaml"), []byte(b.String()), 0o644)
}
