package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNameWords(t *testing.T) {
	for name, want := range map[string][]string{
		"delete_note":             {"delete", "note"},
		"notes.delete-all":        {"notes", "delete", "all"},
		"createPullRequest":       {"create", "pull", "request"},
		"getURL":                  {"get", "url"},
		"v2Search":                {"v2", "search"},
		"":                        nil,
		"--":                      nil,
		"größeÄndern":             {"größe", "ändern"},
		"solidity-erc20":          {"solidity", "erc20"},
		"\x00weird\u2028name\xff": {"weird", "name"},
	} {
		if diff := cmp.Diff(want, nameWords(name)); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestSoundsLikeWrite(t *testing.T) {
	for _, name := range []string{"delete_note", "notes.delete", "createIssue", "send-mail", "github_update_issue", "set_config"} {
		if !soundsLikeWrite(name) {
			t.Errorf("%s does not", name)
		}
	}
	for _, name := range []string{"get_post", "list_updates", "search", "read_file", "find_and_count", "get_working_example", "antd_demo", "updates"} {
		if soundsLikeWrite(name) {
			t.Errorf("%s does", name)
		}
	}
}

func TestNameProblem(t *testing.T) {
	for _, test := range []struct {
		name string
		want Status
	}{
		{"a", Pass},
		{"Get_it-2", Pass},
		{strings.Repeat("a", 64), Pass},
		{"a.b", Warn},
		{strings.Repeat("a", 65), Warn},
		{strings.Repeat("a", 128), Warn},
		{"", Fail},
		{"a b", Fail},
		{"a/b", Fail},
		{"ä", Fail},
		{"a\n", Fail},
		{strings.Repeat("a", 129), Fail},
	} {
		if got, text := nameProblem(test.name); got != test.want || (text == "") != (got == Pass) {
			t.Errorf("%q: %s (%s), want %s", test.name, got, text, test.want)
		}
	}
}
