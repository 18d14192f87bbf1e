package grade

import (
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Kinds lists every grader kind by name.
var Kinds = kind.Catalog[eval.Grader]{
	allKind,
	anyKind,
	atLeastKind,
	citationValidKind,
	codeSyntaxKind,
	confidenceAboveKind,
	confidenceBelowKind,
	containsKind,
	containsAllKind,
	containsAnyKind,
	endsWithKind,
	equalsKind,
	execKind,
	hasCitationKind,
	hasCodeBlockKind,
	hasImportKind,
	isErrorKind,
	isJSONKind,
	jsonPathKind,
	jsonSchemaKind,
	latencyBelowKind,
	matchesRegexKind,
	maxLengthKind,
	metaKind,
	minLengthKind,
	notEmptyKind,
	notErrorKind,
	sourcesCountKind,
	startsWithKind,
	weightedKind,
	wordCountKind,
}
