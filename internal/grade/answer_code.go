package grade

import (
	"cmp"
	"slices"

	"github.com/mettle-eval/mettle/internal/code"
	"github.com/mettle-eval/mettle/internal/eval"
)

// answerCode is the code of an answer whatever its language: its blocks that
// are neither blank nor plain text, or what looks like code in an answer
// without any block.
func answerCode(r *eval.Response) []code.Block {
	a := code.ReadAnswer(r.Text, likelyLanguage(r))
	blocks := slices.DeleteFunc(slices.Concat(a.Blocks, a.Other), func(b code.Block) bool {
		return trim(b.Text) == "" || slices.Contains([]string{"text", "markdown", "mdx"}, b.Lang)
	})
	slices.SortStableFunc(blocks, func(a, b code.Block) int { return cmp.Compare(a.Line, b.Line) })
	return blocks
}

// likelyLanguage is the language an answer's program is most likely in: the
// skill's, else that of the first block that can be parsed.
func likelyLanguage(r *eval.Response) string {
	meta, _ := r.Meta["language"].(string)
	lang := code.Canonical(meta)
	for _, b := range code.Blocks(r.Text) {
		if parsed(lang) {
			break
		}
		lang = b.Lang
	}
	if lang == "javascript" || !parsed(lang) {
		return "typescript" // of which JavaScript is a part
	}
	return lang
}
