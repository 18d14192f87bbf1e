package docserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func testIndex(t testing.TB, pages map[string]string) *Index {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range pages {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	ix, skipped, err := Load(context.Background(), fsys)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	t.Cleanup(func() { _ = ix.Close() })
	return ix
}

// found lists the paths of the pages that a query finds, best first.
func found(t testing.TB, ix *Index, q query) (paths []string) {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 10
	}
	h, err := ix.search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range h.List {
		paths = append(paths, strings.TrimSuffix(strings.TrimPrefix(hit.Path, q.Project+"/"), ".md"))
	}
	return paths
}

// TestFoundBy says by which words a page has to be found, and be the first.
func TestFoundBy(t *testing.T) {
	ix := testIndex(t, map[string]string{
		"p/tree.md":    "# Trees\n\nKeep data in a `MerkleTree` and prove a leaf.\n",
		"p/mint.md":    "# Tokens\n\n```ts\nawait createMint(connection, payer);\n```\n",
		"p/snake.md":   "# Seeds\n\nCall find_program_address with seeds.\n",
		"p/code1.md":   "# Errors\n\ncustom program error: 0x1 means that funds are missing.\n",
		"p/code2.md":   "# More errors\n\ncustom program error: 0x10 means that the account is frozen.\n",
		"p/number.md":  "# Limits\n\nA transaction has 1232 bytes.\n",
		"p/often.md":   "# Leaves\n\nleaf leaf leaf leaf leaf leaf leaf leaf leaf\n",
		"p/plural.md":  "# Deploying contracts\n\nContracts are deployed by wallets.\n",
		"p/deep.md":    "# Accounts\n\n## Vesting\n\n### Cliff\n\nUntil then nothing is released.\n",
		"p/chinese.md": "# 區塊鏈\n\n智能合約在區塊鏈上運行。\n",
	})
	for _, tc := range []struct{ text, want string }{
		{"merkle tree", "tree"},
		{"MerkleTree", "tree"},
		{"merkletree", "tree"},
		{"merkle_tree", "tree"},
		{"create mint", "mint"},
		{"createMint", "mint"},
		{"how do I create a mint?", "mint"},
		{"findProgramAddress", "snake"},
		{"program address", "snake"},
		{"custom program error: 0x1", "code1"},
		{"custom program error: 0x10", "code2"},
		{"0x10", "code2"},
		{"1232", "number"},
		{"prove a leaf", "tree"},
		{"deploy contract", "plural"},
		{"deployment of a contract", "plural"},
		{"vesting cliff", "deep"},
		{"智能合約", "chinese"},
		{`"quoted" OR (merkle NEAR tree) * ^ -`, "tree"},
		{"MERKLE tree AND NOT", "tree"},
	} {
		if got := found(t, ix, query{Project: "p", Text: tc.text}); len(got) == 0 || got[0] != tc.want {
			t.Errorf("%q finds %v, want %s first", tc.text, got, tc.want)
		}
	}
	for _, text := range []string{"", "how is it", "!!!", "zebra", "\x00", strings.Repeat("a", 5000), "\xff\xfe"} {
		if got := found(t, ix, query{Project: "p", Text: text}); got != nil {
			t.Errorf("%q finds %v, want nothing", text, got)
		}
	}
}

func TestProjectsAreApart(t *testing.T) {
	ix := testIndex(t, map[string]string{
		"a/x.md": "# Anvils\n\nAn anvil.\n",
		"b/x.md": "# Anvils\n\nAnother anvil.\n",
		"c.md":   "---\nproject: A\n---\n# Other anvils\n\nA third anvil.\n",
	})
	want := []Project{{"A", 1, 1}, {"a", 1, 1}, {"b", 1, 1}}
	if diff := cmp.Diff(want, ix.Projects()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{"a": "a/x.md", "b": "b/x.md", "A": "c.md", " B ": "b/x.md"} {
		h, err := ix.search(context.Background(), query{Project: name, Text: "anvil", Limit: 10})
		if err != nil || len(h.List) != 1 || h.List[0].Path != want {
			t.Errorf("project %q: %+v, %v", name, h, err)
		}
	}
	if h, err := ix.search(context.Background(), query{Project: "d", Text: "anvil", Limit: 10}); err != nil || len(h.List) > 0 {
		t.Errorf("a project that is not there: %+v, %v", h, err)
	}
}

func TestNoPages(t *testing.T) {
	ix := testIndex(t, map[string]string{"empty.md": "", "title.md": "# Only a title\n"})
	if got := ix.Projects(); len(got) > 0 {
		t.Errorf("projects %v", got)
	}
}

// TestSearchTogether asks from many sides at once, some of which give up.
func TestSearchTogether(t *testing.T) {
	pages := map[string]string{}
	for i := range 200 {
		pages[fmt.Sprintf("p/%d.md", i)] = fmt.Sprintf("# Page %d\n\nAnvil number %d is made of iron and coal.\n", i, i)
	}
	ix := testIndex(t, pages)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 4 {
				ctx, cancel := context.WithCancel(context.Background())
				if j%3 == 0 {
					cancel()
				}
				n := i*3 + j%3
				h, err := ix.search(ctx, query{Project: "p", Text: fmt.Sprintf("anvil number %d", n), Limit: 3})
				switch {
				case j%3 == 0 && !errors.Is(err, context.Canceled):
					t.Errorf("cancelled, and yet %v", err)
				case j%3 != 0 && (err != nil || len(h.List) == 0 || h.List[0].Title != fmt.Sprintf("Page %d", n)):
					t.Errorf("page %d: %v", n, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}
