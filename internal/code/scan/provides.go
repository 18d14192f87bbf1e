package scan

import "strings"

// Provides is the rule by which an import meets the demand for a package: the package itself or anything inside it,
// letter case counting. @langchain/core is provided by "@langchain/core/tools", "npm:@langchain/core@0.3" and
// "https://esm.sh/@langchain/core"; langchain is not by "@langchain/x" nor by "langchain-foo". In Python langchain_core
// is provided by from langchain_core.tools import x, and may be asked for by its distribution's name langchain-core.
//
// Names that are given to modules inside the program do not matter: what counts is where they come from.
func (i Import) Provides(pkg string) bool {
	pkg = strings.TrimSpace(pkg)
	if pkg == "" {
		return false
	}
	switch i.Lang {
	case "rust":
		return insideExact(i.Path, strings.ReplaceAll(strings.TrimPrefix(pkg, "::"), "-", "_"), "::")
	case "python":
		return i.providesPython(strings.ReplaceAll(pkg, "-", "_"))
	case "go", "solidity":
		return insideExact(i.Path, pkg, "/")
	}
	path := scriptPackage(i.Path)
	if insideExact(path, scriptPackage(pkg), "/") {
		return true
	}
	for _, extension := range [...]string{".js", ".mjs", ".cjs"} {
		if strings.TrimSuffix(path, extension) == pkg {
			return true
		}
	}
	return false
}

// providesPython also looks at the names taken out of a package, which may be packages themselves.
func (i Import) providesPython(pkg string) bool {
	if insideExact(i.Path, pkg, ".") {
		return true
	}
	parent, name := "", pkg
	if dot := strings.LastIndexByte(pkg, '.'); dot > 0 {
		parent, name = pkg[:dot], pkg[dot+1:]
	}
	if parent == "" || i.Path != parent {
		return false
	}
	for _, n := range i.Names {
		if n == name {
			return true
		}
	}
	return false
}

func insideExact(path, module, separator string) bool {
	rest, ok := strings.CutPrefix(path, module)
	return ok && (rest == "" || strings.HasPrefix(rest, separator))
}

// scriptPackage is what a module specifier names, without the ways runtimes and CDNs have to say where it is from:
// npm:x@1, jsr:x, node:fs, https://esm.sh/x@1/y.
func scriptPackage(specifier string) string {
	name := specifier
	for _, prefix := range [...]string{"npm:", "jsr:", "node:", "bun:"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if rest, ok := strings.CutPrefix(name, "https://"); ok {
		_, name, _ = strings.Cut(rest, "/")
		name = strings.TrimPrefix(name, "npm/")
		name, _, _ = strings.Cut(name, "?")
	} else if name == specifier {
		return name
	}
	return withoutVersion(strings.TrimPrefix(name, "/"))
}

// withoutVersion takes the version out of @scope/name@1.2/path.
func withoutVersion(name string) string {
	from := 0
	if strings.HasPrefix(name, "@") {
		from = 1
	}
	at := strings.IndexByte(name[from:], '@')
	if at < 0 {
		return name
	}
	at += from
	if slash := strings.IndexByte(name[at:], '/'); slash >= 0 {
		return name[:at] + name[at+slash:]
	}
	return name[:at]
}
