package docserver

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the full-text engine behind database/sql
)

// Index ranks chunks. SQLite's FTS5 finds and scores them, with one table a
// project, so that how rare a word is counts within the project asked about;
// the text, and which words a chunk has, are held in memory. It is safe for
// concurrent use until it is closed.
type Index struct {
	db       *sql.DB
	chunks   []entry
	projects []*project // sorted by name
	stamp    uint64     // of the files it was made from, see walk
}

// entry is a chunk with its words, each as a number in the vocabulary of its
// project, sorted.
type entry struct {
	chunk
	all     []int32
	title   []int32 // of the page's title
	heading []int32 // of the headings it stands under
}

// newIndex indexes the chunks of pages, those of one page side by side.
func newIndex(ctx context.Context, chunks []chunk) (*Index, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("open the index: %w", err)
	}
	db.SetMaxOpenConns(1) // a second connection would see another, empty memory
	ix := &Index{db: db, chunks: make([]entry, len(chunks))}
	for i, c := range chunks {
		ix.chunks[i].chunk = c
	}
	if err := ix.fill(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("fill the index: %w", err)
	}
	return ix, nil
}

// fill makes a table for each project and puts the chunks into it.
func (ix *Index) fill(ctx context.Context) error {
	tx, err := ix.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	byName := map[string]*project{}
	for id := range ix.chunks {
		c := &ix.chunks[id]
		p := byName[c.Project]
		if p == nil {
			if p, err = newProject(ctx, tx, c.Project, len(ix.projects)); err != nil {
				return err
			}
			byName[c.Project] = p
			ix.projects = append(ix.projects, p)
		}
		var before *entry
		if id > 0 && ix.chunks[id-1].Path == c.Path {
			before = &ix.chunks[id-1]
		}
		if err := p.add(ctx, id, c, before); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	slices.SortFunc(ix.projects, func(a, b *project) int { return strings.Compare(a.name, b.name) })
	for _, p := range ix.projects {
		if err := p.ready(ctx, ix.db); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the index.
func (ix *Index) Close() error { return ix.db.Close() }

// Projects lists what there are pages about, sorted by name.
func (ix *Index) Projects() []Project {
	out := make([]Project, len(ix.projects))
	for i, p := range ix.projects {
		out[i] = Project{Name: p.name, Pages: p.pages, Passages: p.chunks}
	}
	return out
}

func (ix *Index) names() (names []string) {
	for _, p := range ix.projects {
		names = append(names, p.name)
	}
	return names
}

// Project is something there are pages about.
type Project struct {
	Name     string `json:"name"`
	Pages    int    `json:"pages"`
	Passages int    `json:"passages"` // what its pages were cut into
}

// project finds the project that a caller means, letter case aside, nil when
// there is none.
func (ix *Index) project(name string) *project {
	name = strings.TrimSpace(name)
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		if i := slices.IndexFunc(ix.projects, func(p *project) bool { return same(p.name, name) }); i >= 0 {
			return ix.projects[i]
		}
	}
	return nil
}

// project is what the index knows about the pages of one project.
type project struct {
	name          string
	table         string
	pages, chunks int
	vocabulary    map[string]int32 // stem to number
	frequency     []int32          // in how many chunks each word is
	rank          *sql.Stmt

	// While the index is filled.
	insert *sql.Stmt
	tokens map[string]*token
}

// token is a token that was met before: its words, and what FTS5 is given for it.
type token struct {
	numbers []int32
	text    string
}

func newProject(ctx context.Context, tx *sql.Tx, name string, n int) (*project, error) {
	p := &project{name: name, table: fmt.Sprintf("project%d", n), vocabulary: map[string]int32{}, tokens: map[string]*token{}}
	_, err := tx.ExecContext(ctx, `create virtual table `+p.table+` using fts5(title, heading, prose, code, content='', tokenize='ascii')`)
	if err != nil {
		return nil, err
	}
	p.insert, err = tx.PrepareContext(ctx, `insert into `+p.table+`(rowid, title, heading, prose, code) values (?, ?, ?, ?, ?)`)
	return p, err
}

// add takes a chunk in; before is the one before it on the same page, nil for
// the first. FTS5 is handed the words cut and stemmed, and has only to split
// them at blanks: its own tokenizer knows nothing of identifiers, and the words
// have to be the same here and there.
func (p *project) add(ctx context.Context, id int, c, before *entry) error {
	prose, source := c.split()
	title, titleText := p.words(c.Title)
	heading, headingText := p.words(c.Section + " " + c.Above)
	inProse, proseText := p.words(prose)
	inCode, codeText := p.words(source)
	c.all = set(slices.Concat(title, heading, inProse, inCode))
	c.heading = set(heading)
	if before != nil {
		c.title = before.title
	} else {
		c.title = set(title)
		p.pages++
	}
	p.chunks++
	for _, n := range c.all {
		p.frequency[n]++
	}
	_, err := p.insert.ExecContext(ctx, id, titleText, headingText, proseText, codeText)
	return err
}

// set is a sorted copy without repetitions, as small as can be.
func set(numbers []int32) []int32 {
	slices.Sort(numbers)
	return slices.Clone(slices.Compact(numbers))
}

// words gives the words of a text, as numbers and as FTS5 is given them.
func (p *project) words(text string) (numbers []int32, joined string) {
	var b strings.Builder
	b.Grow(len(text))
	for raw := range tokens(text) {
		t, known := p.tokens[raw]
		if !known {
			t = p.token(raw)
			p.tokens[raw] = t
		}
		numbers = append(numbers, t.numbers...)
		b.WriteString(t.text)
	}
	return numbers, b.String()
}

func (p *project) token(raw string) *token {
	t := new(token)
	w, ok := wordOf(raw)
	if !ok {
		return t
	}
	for _, stem := range append([]string{w.stem}, w.parts...) {
		n, known := p.vocabulary[stem]
		if !known {
			n = int32(len(p.frequency))
			p.vocabulary[stem] = n
			p.frequency = append(p.frequency, 0)
		}
		t.numbers = append(t.numbers, n)
		t.text += stem + " "
	}
	return t
}

// ready ends the filling.
func (p *project) ready(ctx context.Context, db *sql.DB) (err error) {
	p.insert, p.tokens = nil, nil
	p.rank, err = db.PrepareContext(ctx, fmt.Sprintf(
		`select rowid, -bm25(%[1]s, %[2]g, %[3]g, %[4]g, %[5]g) as score from %[1]s where %[1]s match ? order by score desc, rowid limit ?`,
		p.table, titleWeight, headingWeight, proseWeight, codeWeight))
	return err
}

// number looks a stem up, -1 when no chunk has it.
func (p *project) number(stem string) int32 {
	if n, ok := p.vocabulary[stem]; ok {
		return n
	}
	return -1
}

// rarity weighs a word by how few chunks have it. One that no page has weighs
// most: a question made of such words has no answer here.
func (p *project) rarity(number int32) float64 {
	const more = 20 // as if there were so many other chunks: of three pages, none says what is rare
	n, df := float64(p.chunks)+more, 0.0
	if number >= 0 {
		df = float64(p.frequency[number])
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}
