package docserver_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mettle-eval/mettle/builtin"
)

// label is a question, and the pages of a project that answer it.
type label struct {
	project  string
	pages    []string // empty when there is no answer
	question string
}

func readLabels(t *testing.T, file string) (out []label) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.SplitN(line, " | ", 3)
		if len(f) != 3 {
			t.Fatalf("%s: %q is not project | pages | question", file, line)
		}
		l := label{project: f[0], question: f[2]}
		if f[1] != "-" {
			l.pages = strings.Split(f[1], ", ")
		}
		out = append(out, l)
	}
	return out
}

// quality is how well labelled questions are answered.
type quality struct {
	questions, first, five int
	reciprocal             float64 // sum of 1/rank
	lost                   int     // have an answer, but nothing is said to be found
	unanswerable, wrong    int     // have none, but something is said to be
}

// measureQuality looks for the rank of the first right page, and for whether
// the server says that there is an answer.
func measureQuality(t *testing.T, client *mcp.ClientSession, labels []label) (q quality) {
	t.Helper()
	for _, l := range labels {
		found := call(t, client, "crypto_search_docs", map[string]any{"query": l.question, "project": l.project, "limit": 10})
		if len(l.pages) == 0 {
			q.unanswerable++
			if found.Confidence > 0 {
				q.wrong++
				t.Logf("says there is an answer (%d): %s: %s", found.Confidence, l.project, l.question)
			} else if !strings.HasPrefix(found.Text, "Not found: ") || len(found.Sources) > 0 {
				t.Errorf("confidence 0 and yet: %s", found.Text)
			}
			continue
		}
		q.questions++
		if found.Confidence == 0 {
			q.lost++
			t.Logf("says there is no answer: %s: %s", l.project, l.question)
		}
		rank := 1 + slices.IndexFunc(found.Sources, func(s source) bool {
			return slices.Contains(l.pages, strings.TrimSuffix(path.Base(s.Path), ".md"))
		})
		if rank == 1 {
			q.first++
		} else if found.Confidence > 0 {
			t.Logf("rank %d: %s: %s", rank, l.project, l.question)
		}
		if rank >= 1 && rank <= 5 {
			q.five++
		}
		if rank >= 1 {
			q.reciprocal += 1 / float64(rank)
		}
	}
	return q
}

// TestRetrieval measures how well the built-in pages are found. It fails when
// that is far worse than it was when the ranking was written; run it with -v to
// see the numbers.
func TestRetrieval(t *testing.T) {
	client := connect(t, serve(t, builtin.Docs, nil))
	for _, file := range []string{"questions.txt", "heldout.txt"} {
		t.Run(file, func(t *testing.T) {
			labels := readLabels(t, "testdata/"+file)
			for _, l := range labels {
				for _, p := range l.pages {
					if f, err := builtin.Docs.Open(l.project + "/" + p + ".md"); err != nil {
						t.Errorf("a label names a page that is gone: %v", err)
					} else {
						_ = f.Close()
					}
				}
			}
			var all quality
			for _, project := range []string{"cosmos", "mina", "solana"} {
				q := measureQuality(t, client, slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return l.project != project }))
				q.log(t, project)
				all.add(q)
			}
			all.log(t, "all")
			n := float64(all.questions)
			if float64(all.first)/n < 0.75 || float64(all.five)/n < 0.90 || all.reciprocal/n < 0.82 {
				t.Errorf("retrieval is worse than the floor of hit@1 0.75, hit@5 0.90, MRR 0.82")
			}
			if all.lost*10 > all.questions || all.wrong*10 > all.unanswerable {
				t.Errorf("more than a tenth of the questions is answered wrongly as to whether there is an answer")
			}
		})
	}
}

// TestErrorsAreExplained gives explain_error the questions that are answered on
// a page about errors, and wants most to be answered from it first.
func TestErrorsAreExplained(t *testing.T) {
	client := connect(t, serve(t, builtin.Docs, nil))
	asked, right := 0, 0
	for _, l := range append(readLabels(t, "testdata/questions.txt"), readLabels(t, "testdata/heldout.txt")...) {
		if !slices.ContainsFunc(l.pages, func(p string) bool {
			return strings.HasPrefix(p, "troubleshooting-") || strings.HasPrefix(p, "errors-")
		}) {
			continue
		}
		asked++
		ans := call(t, client, "crypto_explain_error", map[string]any{"error": l.question, "project": l.project})
		if len(ans.Sources) > 0 && slices.Contains(l.pages, strings.TrimSuffix(path.Base(ans.Sources[0].Path), ".md")) {
			right++
		} else {
			t.Logf("not explained: %s: %s", l.project, l.question)
		}
	}
	t.Logf("%d of %d errors are explained by the right page first", right, asked)
	if right*10 < asked*8 {
		t.Errorf("fewer than 8 of 10")
	}
}

func (q *quality) add(other quality) {
	q.questions += other.questions
	q.first += other.first
	q.five += other.five
	q.reciprocal += other.reciprocal
	q.lost += other.lost
	q.unanswerable += other.unanswerable
	q.wrong += other.wrong
}

func (q *quality) log(t *testing.T, name string) {
	t.Helper()
	n := float64(q.questions)
	t.Logf("%-7s %3d questions: hit@1 %.3f, hit@5 %.3f, MRR %.3f; confidence 0 for %d of them, over 0 for %d of %d without answer",
		name, q.questions, float64(q.first)/n, float64(q.five)/n, q.reciprocal/n, q.lost, q.wrong, q.unanswerable)
}
