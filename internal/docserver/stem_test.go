package docserver

import (
	"database/sql"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode"
)

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"": "", "a": "a", "is": "is", "caresses": "caress", "ponies": "poni", "cats": "cat", "agreed": "agre", "feed": "feed",
		"plastered": "plaster", "motoring": "motor", "sing": "sing", "conflated": "conflat", "hopping": "hop", "falling": "fall",
		"filing": "file", "happy": "happi", "sky": "sky", "relational": "relat", "digitizer": "digit", "hopefulness": "hope",
		"adoption": "adopt", "controlling": "control", "rate": "rate", "cease": "ceas", "rolling": "roll",
		"transactions": "transact", "deployment": "deploy", "0x1": "0x1", "o1js": "o1js", "größe": "größe",
	} {
		if got := stem(word); got != want {
			t.Errorf("stem(%q) = %q, want %q", word, got, want)
		}
	}
}

// TestStemAsTheEngineDoes holds the stemmer against the one of SQLite, over
// every English word of the built-in pages.
func TestStemAsTheEngineDoes(t *testing.T) {
	var words []string
	seen := map[string]bool{}
	pages := os.DirFS("../../builtin/docs")
	err := fs.WalkDir(pages, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(pages, name)
		for _, w := range strings.FieldsFunc(strings.ToLower(string(b)), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if !seen[w] && len(w) < 40 {
				seen[w] = true
				words = append(words, w)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{
		`create virtual table words using fts5(word, tokenize='porter unicode61 remove_diacritics 0')`,
		`create virtual table stems using fts5vocab(words, instance)`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	// One row holds them all: the engine's offsets count words.
	if _, err := db.Exec(`insert into words(rowid, word) values (1, ?)`, strings.Join(words, " ")); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(`select term, offset from stems`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var want string
		var at int
		if err := rows.Scan(&want, &at); err != nil {
			t.Fatal(err)
		}
		if got := stem(words[at]); got != want {
			t.Errorf("stem(%q) = %q, the engine says %q", words[at], got, want)
		}
		n++
	}
	if err := rows.Err(); err != nil || n != len(words) {
		t.Errorf("compared %d of %d words: %v", n, len(words), err)
	}
	t.Logf("%d words", n)
}
