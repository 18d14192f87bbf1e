package code

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/google/go-cmp/cmp"
)

// TestCallsAgreeWithGo compares with the syntax trees of this package's own files.
func TestCallsAgreeWithGo(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range Calls("go", string(src)) {
			names := callNames(c.Name)
			got = append(got, fmt.Sprintf("%d %s", c.Line, names[len(names)-1]))
		}
		want := goCallsOf(t, file, src)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-tree +ours)\n%s", file, diff)
		}
	}
}

// goCallsOf lists the calls of a file whose function has a name.
func goCallsOf(t *testing.T, file string, src []byte) (calls []string) {
	t.Helper()
	fset := gotoken.NewFileSet()
	tree, err := parser.ParseFile(fset, file, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f := call.Fun
		if index, ok := f.(*ast.IndexExpr); ok {
			f = index.X
		}
		switch f := f.(type) {
		case *ast.Ident:
			calls = append(calls, fmt.Sprintf("%d %s", fset.Position(f.Pos()).Line, f.Name))
		case *ast.SelectorExpr:
			calls = append(calls, fmt.Sprintf("%d %s", fset.Position(f.Sel.Pos()).Line, f.Sel.Name))
		}
		return true
	})
	return calls
}

// TestImportsAgreeWithEsbuild compares with the modules that esbuild would resolve, in the TypeScript of the built-in
// skills.
func TestImportsAgreeWithEsbuild(t *testing.T) {
	files, err := filepath.Glob("../../builtin/skills/*/*/SKILL.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range Blocks(string(text)) {
			if b.Lang != "typescript" || !parses(b.Lang, b.Text) {
				continue
			}
			want, ok := resolved(b.Text)
			if !ok {
				continue // a fragment, which is no module
			}
			var got []string
			for _, i := range Imports(b.Lang, b.Text) {
				if !strings.HasPrefix(i.Text, "import type ") { // esbuild drops them before it resolves
					got = append(got, i.Path)
				}
			}
			compared += len(want)
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(slices.Compact(want), slices.Compact(got)); diff != "" {
				t.Errorf("%s:%d (-esbuild +ours)\n%s", file, b.Line, diff)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d imports were compared", compared)
	}
}

// resolved lists the modules a source asks for; false when it is no module.
func resolved(src string) (modules []string, ok bool) {
	result := api.Build(api.BuildOptions{
		Stdin:       &api.StdinOptions{Contents: src, Loader: api.LoaderTS},
		Bundle:      true,
		Write:       false,
		Format:      api.FormatESModule,
		Target:      api.ESNext,
		LogLevel:    api.LogLevelSilent,
		TsconfigRaw: `{"compilerOptions":{"verbatimModuleSyntax":true,"experimentalDecorators":true}}`,
		Plugins: []api.Plugin{{Name: "collect", Setup: func(build api.PluginBuild) {
			build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				if args.Kind != api.ResolveEntryPoint {
					modules = append(modules, args.Path)
				}
				return api.OnResolveResult{Path: args.Path, External: true}, nil
			})
		}}},
	})
	return modules, len(result.Errors) == 0
}
