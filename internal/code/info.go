package code

import "strings"

// infoLanguage reads the language out of a fence's info string. Renderers have taught people many ways to write it:
//
//	ts   typescript title="a.ts"   ts{1,3}   rust,no_run   ts:src/a.ts   language-ts   {.ts .numberLines}   {python}   src/a.ts
func infoLanguage(info string) string {
	if inner, ok := strings.CutPrefix(info, "{"); ok {
		return bracedLanguage(inner)
	}
	word := firstWord(info)
	name := languageWord(word)
	if find(name) == nil {
		if l := find(extension(word)); l != nil {
			return l.name
		}
	}
	return Canonical(name)
}

// bracedLanguage reads the attribute form: Pandoc's "{#id .ts}", R Markdown's "{python echo=FALSE}" and the directives
// "{code-block} python", whose language follows the brace.
func bracedLanguage(inner string) string {
	inner, after, _ := strings.Cut(inner, "}")
	fields := strings.Fields(inner)
	for _, f := range fields {
		if class, ok := strings.CutPrefix(f, "."); ok {
			return Canonical(languageWord(class))
		}
	}
	if len(fields) == 0 || strings.ContainsAny(fields[0][:1], "#=") || strings.Contains(fields[0], "=") {
		return ""
	}
	if strings.HasPrefix(fields[0], "code") || fields[0] == "sourcecode" {
		return infoLanguage(strings.TrimLeft(firstWord(after), "{"))
	}
	return Canonical(languageWord(fields[0]))
}

// languageWord strips from the first word of an info string what is not the language's name.
func languageWord(word string) string {
	word = strings.ToLower(word)
	word = strings.TrimPrefix(word, ".")
	if i := strings.IndexAny(word, "{}[(<:,;=\"'|"); i >= 0 {
		word = word[:i]
	}
	for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
		word = strings.TrimPrefix(word, prefix)
	}
	return word
}

// extension is what follows the last dot of a file name, in lower case: some answers write the file's path where the
// language belongs.
func extension(word string) string {
	i := strings.LastIndexByte(word, '.')
	if i < 0 {
		return ""
	}
	return strings.ToLower(word[i+1:])
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		s = s[:i]
	}
	return s
}
