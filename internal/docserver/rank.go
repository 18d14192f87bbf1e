package docserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// query is what is looked for in a project's pages.
type query struct {
	Project string
	Text    string
	Hint    string // further words that help to choose, but need not be found
	Limit   int
	Keep    func(*chunk) bool    // nil keeps all
	Prefer  func(*chunk) float64 // by how much a chunk's rank is multiplied, nil for 1
}

// hit is a chunk that matches.
type hit struct {
	*entry
	BM25     float64 // higher is better
	Coverage float64 // share of the question that it has, 0 to 1
	rank     float64
}

// hits is what a query found, best first.
type hits struct {
	List     []hit
	Best     float64  // highest coverage of one of the first few
	Together float64  // coverage of the first few taken as one
	Missing  []string // words of the question that none of the first few has
}

// Weights of BM25: what a word counts in each column. It counts twice in a
// title or heading, and half in code, where it may be a mere name.
const (
	titleWeight   = 2.0
	headingWeight = 2.0
	proseWeight   = 1.0
	codeWeight    = 0.5
)

// Weights of the second ranking, beside a BM25 that is 1 for the best. They
// were chosen by hand on the questions in testdata/questions.txt; on either half
// of them the result changes by a question or two when one of them is
// doubled or halved.
const (
	coverageShare = 0.5 // for the share of the question that a chunk has
	titleShare    = 1.0 // for the share that its page's title has
	headingShare  = 1.0 // for the share that its headings have
	headingFocus  = 0.3 // for the share of its headings that is in the question
)

const (
	candidates  = 60   // chunks that are ranked a second time
	maxPostings = 1000 // places FTS5 is sent to; from 300 on the labelled questions are answered the same
	filtered    = 5    // by how much more both are when not every chunk will do
	first       = 5    // hits that say how well a question was answered
)

// search ranks chunks by BM25 and then favours those that have more of the
// question's words, above all in their title and headings: a passage with all
// of them once answers better than one with one of them often.
func (ix *Index) search(ctx context.Context, q query) (*hits, error) {
	p := ix.project(q.Project)
	if p == nil {
		return new(hits), nil
	}
	asked := p.question(q.Text, q.Hint)
	found, err := ix.candidates(ctx, p, asked, q.Keep)
	if err != nil {
		return nil, fmt.Errorf("search the pages: %w", err)
	}
	for i := range found {
		h := &found[i]
		h.Coverage = asked.coverage(h.all)
		h.rank = h.BM25/found[0].BM25 +
			coverageShare*(h.Coverage+asked.hinted(h.all)) +
			titleShare*asked.coverage(h.title) +
			headingShare*asked.coverage(h.heading) +
			headingFocus*asked.focus(p, h.heading)
		if q.Prefer != nil {
			h.rank *= q.Prefer(&h.chunk)
		}
	}
	slices.SortStableFunc(found, func(a, b hit) int { return cmp.Compare(b.rank, a.rank) })
	out := &hits{List: found[:min(len(found), q.Limit)]}
	asked.judge(out)
	return out, nil
}

// candidates asks FTS5 for the chunks with the highest BM25.
func (ix *Index) candidates(ctx context.Context, p *project, asked *question, keep func(*chunk) bool) (found []hit, err error) {
	if err := ctx.Err(); err != nil || len(asked.stems) == 0 {
		return nil, err
	}
	limit, postings := candidates, maxPostings
	if keep != nil {
		limit, postings = limit*filtered, postings*filtered
	}
	// Not to be interrupted: that could cost the connection, and with it all
	// that it has in memory. It takes a millisecond.
	rows, err := p.rank.QueryContext(context.WithoutCancel(ctx), asked.match(p, postings), limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for len(found) < candidates && rows.Next() {
		var id int
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, err
		}
		if e := &ix.chunks[id]; keep == nil || keep(&e.chunk) {
			found = append(found, hit{entry: e, BM25: score})
		}
	}
	return found, rows.Err()
}
