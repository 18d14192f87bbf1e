package docserver

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // the full-text engine behind database/sql
)

// Index ranks chunks. It holds them in memory, with one FTS5 table a project,
// so that how rare a word is counts within the project asked about. It is safe
// for concurrent use.
type Index struct {
	db       *sql.DB
	chunks   []chunk
	projects []string // sorted
	count    map[string]int
}

func newIndex(chunks []chunk) (*Index, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	db.SetMaxOpenConns(1) // a second connection would see another, empty memory
	ix := &Index{db: db, chunks: chunks, count: map[string]int{}}
	for _, c := range chunks {
		if ix.count[c.Project] == 0 {
			ix.projects = append(ix.projects, c.Project)
		}
		ix.count[c.Project]++
	}
	slices.Sort(ix.projects)
	if err := ix.fill(); err != nil {
		db.Close()
		return nil, fmt.Errorf("fill the index: %w", err)
	}
	return ix, nil
}

func (ix *Index) fill() error {
	tx, err := ix.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	inserts := map[string]*sql.Stmt{}
	for i, p := range ix.projects {
		create := fmt.Sprintf(`create virtual table pages%d using fts5(title, section, body, content='', tokenize='porter unicode61 remove_diacritics 2')`, i)
		if _, err := tx.Exec(create); err != nil {
			return err
		}
		if inserts[p], err = tx.Prepare(fmt.Sprintf(`insert into pages%d(rowid, title, section, body) values (?, ?, ?, ?)`, i)); err != nil {
			return err
		}
	}
	for i, c := range ix.chunks {
		if _, err := inserts[c.Project].Exec(i, c.Title, c.Section, c.Text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close lets go of the index.
func (ix *Index) Close() error { return ix.db.Close() }

// Projects lists what there are pages about.
func (ix *Index) Projects() []string { return ix.projects }

// Chunks is how many passages a project has.
func (ix *Index) Chunks(project string) int { return ix.count[project] }

// hit is a chunk that matches, best first.
type hit struct {
	*chunk
	id       int
	Score    float64 // bm25, higher is better
	Coverage float64 // share of the question's words it has, rare words counting more
}

// hits is what a question found.
type hits struct {
	List     []hit
	Coverage float64 // of all hits together
}

// query is a question to the index.
type query struct {
	Project string
	Text    string
	Limit   int
	Keep    func(*chunk) bool // nil keeps all
}

// candidates is how many chunks are ranked by coverage after bm25 chose them.
const candidates = 60

// search ranks chunks by bm25, a word in the title counting four times and in
// the section heading three times what it counts in the text, and then favours those
// that have more of the question's words: a passage with all of them once
// answers better than one with one of them often.
func (ix *Index) search(ctx context.Context, q query) (*hits, error) {
	table := slices.Index(ix.projects, q.Project)
	words := terms(q.Text)
	if table < 0 || len(words) == 0 {
		return &hits{}, nil
	}
	weights, err := ix.rarity(ctx, table, words)
	if err != nil {
		return nil, err
	}
	found, err := ix.ranked(ctx, table, words, q)
	if err != nil || len(found) == 0 {
		return &hits{}, err
	}
	all, err := ix.cover(ctx, table, words, weights, found)
	if err != nil {
		return nil, err
	}
	best := found[0].Score
	slices.SortStableFunc(found, func(a, b hit) int {
		return compareDown(a.Score/best+a.Coverage, b.Score/best+b.Coverage)
	})
	return &hits{List: found[:min(len(found), q.Limit)], Coverage: all}, nil
}

func compareDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func (ix *Index) ranked(ctx context.Context, table int, words []string, q query) ([]hit, error) {
	rows, err := ix.db.QueryContext(ctx, fmt.Sprintf(
		`select rowid, -bm25(pages%d, 4.0, 3.0, 1.0) as score from pages%d where pages%d match ? order by score desc, rowid limit ?`, table, table, table),
		strings.Join(words, " OR "), candidates*4)
	if err != nil {
		return nil, fmt.Errorf("search the pages: %w", err)
	}
	defer rows.Close()
	var found []hit
	for rows.Next() {
		var id int
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, err
		}
		if c := &ix.chunks[id]; (q.Keep == nil || q.Keep(c)) && len(found) < candidates {
			found = append(found, hit{chunk: c, id: id, Score: score})
		}
	}
	return found, rows.Err()
}

// rarity weighs each word by how few chunks have it. A word that no page has
// weighs most: a question made of such words has no answer here.
func (ix *Index) rarity(ctx context.Context, table int, words []string) ([]float64, error) {
	n := float64(ix.count[ix.projects[table]])
	weights := make([]float64, len(words))
	for i, w := range words {
		var df float64
		err := ix.db.QueryRowContext(ctx, fmt.Sprintf(`select count(*) from pages%d where pages%d match ?`, table, table), w).Scan(&df)
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", w, err)
		}
		weights[i] = math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	return weights, nil
}

// cover works out which share of the question each hit has, and which all of
// the first few have together.
func (ix *Index) cover(ctx context.Context, table int, words []string, weights []float64, found []hit) (float64, error) {
	byChunk := make(map[int]int, len(found))
	ids := make([]string, len(found))
	for i, h := range found {
		byChunk[h.id] = i
		ids[i] = strconv.Itoa(h.id)
	}
	const together = 5
	var total, all float64
	for i, w := range words {
		total += weights[i]
		rows, err := ix.db.QueryContext(ctx, fmt.Sprintf(
			`select rowid from pages%d where pages%d match ? and rowid in (%s)`, table, table, strings.Join(ids, ",")), w)
		if err != nil {
			return 0, fmt.Errorf("look up %s: %w", w, err)
		}
		seen := false
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				rows.Close()
				return 0, err
			}
			at := byChunk[id]
			found[at].Coverage += weights[i]
			seen = seen || at < together
		}
		if err := rows.Err(); err != nil {
			return 0, err
		}
		rows.Close()
		if seen {
			all += weights[i]
		}
	}
	if total == 0 {
		return 0, nil
	}
	for i := range found {
		found[i].Coverage /= total
	}
	return all / total, nil
}

// maxTerms bounds how many words of a question are looked at.
const maxTerms = 24

// terms are the words of a question that are worth looking up, each quoted for
// FTS5, so that nothing in a question is taken for its query language.
func terms(text string) (out []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		quoted := `"` + w + `"`
		if stopWords[w] || len(w) > 64 || slices.Contains(out, quoted) {
			continue
		}
		if out = append(out, quoted); len(out) == maxTerms {
			break
		}
	}
	return out
}

// stopWords say nothing about a page's subject.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a an and are as at be been by can could did do does for from get had has have how i if in into is it
		its me my of on or our should so that the their them there these this to use used using was we were what when where which who why
		will with would you your about work works explain tell show give need want please s t`) {
		m[w] = true
	}
	return m
}()
