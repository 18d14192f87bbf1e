package grade

import (
	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// Kinds lists every grader kind by name.
var Kinds = kind.Catalog[eval.Grader]{
	accuracyKind,
	allKind,
	anyKind,
	atLeastKind,
	boundaryKind,
	citationValidKind,
	codeQualityKind,
	codeRequirementsKind,
	codeSyntaxKind,
	codeValidationKind,
	completenessKind,
	confidenceAboveKind,
	confidenceBelowKind,
	containsKind,
	containsAllKind,
	containsAnyKind,
	endsWithKind,
	equalsKind,
	execKind,
	factsKind,
	hasCitationKind,
	hasCodeBlockKind,
	hasImportKind,
	hitAtKKind,
	isErrorKind,
	isJSONKind,
	jsonPathKind,
	jsonSchemaKind,
	judgeKind,
	latencyBelowKind,
	matchesRegexKind,
	maxLengthKind,
	metaKind,
	minLengthKind,
	mrrKind,
	ndcgAtKKind,
	notEmptyKind,
	notErrorKind,
	pairwiseKind,
	panelKind,
	precisionAtKKind,
	recallAtKKind,
	skillStructureKind,
	sourcesCountKind,
	startsWithKind,
	weightedKind,
	wordCountKind,
}

// Info is what reports need to know of every kind, by name.
func Info() map[string]eval.KindInfo {
	out := make(map[string]eval.KindInfo, len(Kinds))
	for _, k := range Kinds {
		if k.Graded || k.Section != "" {
			out[k.Name] = eval.KindInfo{Graded: k.Graded, Section: k.Section, Order: k.Order}
		}
	}
	return out
}
