package code

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"ts": "typescript", "TypeScript": "typescript", " mts ": "typescript", "tsx": "tsx", "js": "javascript",
		"node": "javascript", "mjs": "javascript", "jsx": "jsx", "golang": "go", "rs": "rust", "py": "python",
		"python3": "python", "sh": "bash", "zsh": "bash", "shell": "bash", "console": "console", "yml": "yaml",
		"sol": "solidity", "c++": "cpp", "C#": "csharp", "jsonc": "jsonc", "md": "markdown", "txt": "text",
		"": "", "Brainfuck": "brainfuck", "ts js": "ts js",
	} {
		if got := Canonical(name); got != want {
			t.Errorf("Canonical(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestSameLanguage(t *testing.T) {
	tests := []struct {
		want, have string
		same       bool
	}{
		{"typescript", "ts", true},
		{"ts", "TypeScript", true},
		{"typescript", "tsx", true},
		{"tsx", "typescript", false},
		{"javascript", "jsx", true},
		{"javascript", "typescript", false},
		{"js", "json", false},
		{"java", "javascript", false},
		{"json", "jsonc", true},
		{"sh", "console", true},
		{"shell", "bash", true},
		{"brainfuck", "Brainfuck", true},
		{"go", "", false},
		{"", "go", false},
		{"", "", true},
	}
	for _, test := range tests {
		if got := SameLanguage(test.want, test.have); got != test.same {
			t.Errorf("SameLanguage(%q, %q) = %t, want %t", test.want, test.have, got, test.same)
		}
	}
}

func TestLanguages(t *testing.T) {
	want := []string{
		"typescript", "tsx", "javascript", "jsx", "go", "rust", "python", "solidity", "json", "jsonc", "yaml", "bash", "console",
		"toml",
	}
	if diff := cmp.Diff(want, Languages()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestTable holds the table together: no name twice, and every broader language is in it.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, l := range languages {
		for _, name := range append(strings.Fields(l.aliases), l.name) {
			if other, ok := seen[name]; ok {
				t.Errorf("%q names both %s and %s", name, other, l.name)
			}
			seen[name] = l.name
			if name != strings.ToLower(name) {
				t.Errorf("%q is not in lower case", name)
			}
		}
		if l.is != "" && find(l.is) == nil {
			t.Errorf("%s counts as %s, which is not in the table", l.name, l.is)
		}
	}
}

func TestInfoLanguage(t *testing.T) {
	for info, want := range map[string]string{
		"":                                "",
		"ts":                              "typescript",
		"TS":                              "typescript",
		"typescript title=\"a.ts\"":       "typescript",
		"ts{1,3}":                         "typescript",
		"ts {1,3} showLineNumbers":        "typescript",
		"ts:src/app.ts":                   "typescript",
		"ts[app.ts]":                      "typescript",
		"rust,no_run":                     "rust",
		"rust, ignore":                    "rust",
		"language-ts":                     "typescript",
		"lang-go":                         "go",
		"{.ts}":                           "typescript",
		"{.ts .numberLines}":              "typescript",
		"{#id .python startFrom=\"1\"}":   "python",
		"{python}":                        "python",
		"{r echo=FALSE}":                  "r",
		"{python, echo=FALSE}":            "python",
		"{code-block} python":             "python",
		"{code-cell} ipython3":            "python",
		"{=html}":                         "",
		"{#id}":                           "",
		"{}":                              "",
		"{":                               "",
		".ts":                             "typescript",
		"src/app.tsx":                     "tsx",
		"12:20:src/lib.rs":                "rust",
		"Cargo.toml":                      "toml",
		"c++":                             "cpp",
		"c#":                              "csharp",
		"objective-c":                     "objective-c",
		"title=\"x\"":                     "title",
		"sh\tfoo":                         "bash",
		"unknown-thing":                   "unknown-thing",
		"{code-block} {code-block} {code": "code-block",
	} {
		if got := infoLanguage(info); got != want {
			t.Errorf("infoLanguage(%q) = %q, want %q", info, got, want)
		}
	}
}
