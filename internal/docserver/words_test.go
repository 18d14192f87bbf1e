package docserver

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"  ,.;\n":                        nil,
		"Deploy the zkApp.":              {"Deploy", "the", "zkApp"},
		"signer's key, doesn’t x'y":      {"signer", "key", "doesn", "x", "y"},
		"custom program error: 0x1":      {"custom", "program", "error", "0x1"},
		"create_mint(SystemProgram::ID)": {"create_mint", "SystemProgram", "ID"},
		"größe naïve":                    {"größe", "naïve"},
		"區塊鏈 is 鏈":                       {"區塊", "塊鏈", "is", "鏈"},
		"o1js-v2.1":                      {"o1js", "v2", "1"},
		"a\xffb":                         {"a", "b"},
	} {
		if diff := cmp.Diff(want, slices.Collect(tokens(text))); diff != "" {
			t.Errorf("tokens(%q) (-want +got)\n%s", text, diff)
		}
	}
}

func TestWordOf(t *testing.T) {
	for token, want := range map[string]string{
		"Merkle":                  "merkl",
		"MerkleTree":              "merkletre merkl tree",
		"createMint":              "createmint creat mint",
		"create_mint":             "createmint creat mint",
		"CREATE_MINT":             "createmint creat mint",
		"HTTPServer":              "httpserver http server",
		"UInt64":                  "uint64 int64",
		"getAndRequireEquals":     "getandrequireequ requir equal",
		"zkApps":                  "zkapp zk app",
		"__init__":                "init",
		"0x1":                     "0x1",
		"7":                       "7",
		"x":                       "",
		"_":                       "",
		"how":                     "",
		"Transactions":            "transact",
		"ÜberGröße":               "übergröße über größe",
		strings.Repeat("a", 65):   "",
		"SIGN_MODE_DIRECT":        "signmodedirect sign mode direct",
		"findProgramAddressSync2": "findprogramaddresssync2 find program address sync2",
	} {
		w, _ := wordOf(token)
		if got := strings.Join(append([]string{w.stem}, w.parts...), " "); got != want {
			t.Errorf("wordOf(%q) = %q, want %q", token, got, want)
		}
	}
}
