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
	codeValidationKind,
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
	hitAtKKind,
	isErrorKind,
	isJSONKind,
	jsonPathKind,
	jsonSchemaKind,
	latencyBelowKind,
	matchesRegexKind,
	maxLengthKind,
	metaKind,
	minLengthKind,
	mrrKind,
	ndcgAtKKind,
	notEmptyKind,
	notErrorKind,
	precisionAtKKind,
	recallAtKKind,
	skillStructureKind,
	sourcesCountKind,
	startsWithKind,
	weightedKind,
	wordCountKind,
}
