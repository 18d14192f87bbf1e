package grade

import (
	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
)

// ExpectedKeyword is the check behind an entry of expectedKeywords.
func ExpectedKeyword(word string, pos eval.Pos) *eval.Check {
	return expanded(containsKind, "keyword:"+word, missingKeyword, &contains{Value: word}, pos)
}

// ForbiddenKeyword is the check behind an entry of forbiddenKeywords.
func ForbiddenKeyword(word string, pos eval.Pos) *eval.Check {
	c := expanded(containsKind, "forbidden:"+word, contamination, &contains{Value: word}, pos)
	c.Not = true
	return c
}

// ExpectedImport is the check behind an entry of expectedImports: a module, or
// part of an import statement.
func ExpectedImport(module string, pos eval.Pos) *eval.Check {
	return expanded(hasImportKind, "import:"+module, hasImportKind.Mode, &hasImport{Module: module, Partial: true}, pos)
}

// NotError is the check a case has without asking for it.
func NotError(pos eval.Pos) *eval.Check {
	c := expanded(notErrorKind, notErrorKind.Name, errorAnswer, new(notError), pos)
	c.Implicit = true
	return c
}

// Verify keeps what is wrong with a check made of a shorthand: a pattern that
// does not compile, an empty entry. The node is the mapping that the shorthand
// stands in, with the names of the kind's own fields, or any node to point at.
func Verify(d *kind.Decoder, n *yaml.Node, c *eval.Check) {
	if checker, ok := c.Grader.(kind.Checker); ok {
		report(d, n, checker.Check())
	}
	if composed, ok := c.Grader.(*weighted); ok {
		for _, inner := range composed.checks() {
			Verify(d, n, inner)
		}
	}
}

func expanded(k kind.Kind[eval.Grader], key, mode string, g eval.Grader, pos eval.Pos) *eval.Check {
	if checker, ok := g.(kind.Checker); ok {
		_ = checker.Check() // they make themselves ready; what is wrong is for [Verify]
	}
	return &eval.Check{Key: key, Kind: k.Name, Weight: 1, Severity: eval.ErrorSeverity, Mode: mode, Grader: g, Pos: pos}
}

// Quality is the check behind criteria with a question: accuracy, completeness
// and code quality, weighed 40, 30 and 30. Accuracy must pass by itself: a
// complete answer in good code that is wrong is wrong. compat is "" or the tool
// to score like.
func Quality(criteria, compat string, pos eval.Pos) *eval.Check {
	return quality(&codeQuality{Criteria: criteria, Compat: compat}, pos)
}

func quality(code *codeQuality, pos eval.Pos) *eval.Check {
	return expandedWeighted("composite_quality", code.Compat, []string{accuracyKind.Name}, pos,
		counting(0.4, expanded(accuracyKind, accuracyKind.Name, accuracyKind.Mode, &accuracy{Criteria: code.Criteria}, pos)),
		counting(0.3, expanded(completenessKind, completenessKind.Name, completenessKind.Mode, &completeness{Criteria: code.Criteria}, pos)),
		counting(0.3, expanded(codeQualityKind, codeQualityKind.Name, codeQualityKind.Mode, code, pos)),
	)
}

// Criteria is the check behind criteria of a case that is about no skill.
func Criteria(criteria string, pos eval.Pos) *eval.Check {
	return expanded(judgeKind, judgeKind.Name, judgeKind.Mode, &judgeCheck{Criteria: criteria}, pos)
}

// Coding is the check behind criteria with a challenge: what [Quality] judges
// and what can be measured in the code, half and half. Both must pass, and an
// answer without code has none to leave out.
func Coding(criteria string, requiredImports, requiredPatterns, forbiddenPatterns []string, compat string, pos eval.Pos) *eval.Check {
	judged := quality(&codeQuality{Criteria: criteria, Compat: compat, Required: compat == ""}, pos)
	measured := CodeValidation(requiredImports, requiredPatterns, forbiddenPatterns, compat, pos)
	return expandedWeighted("coding_composite", compat, []string{judged.Key, measured.Key}, pos, counting(0.5, judged), counting(0.5, measured))
}

// CodeValidation is the check behind requiredImports, requiredPatterns and
// forbiddenPatterns.
func CodeValidation(requiredImports, requiredPatterns, forbiddenPatterns []string, compat string, pos eval.Pos) *eval.Check {
	g := &codeValidation{RequiredImports: requiredImports, RequiredPatterns: requiredPatterns, ForbiddenPatterns: forbiddenPatterns}
	if compat != "" {
		half := compatThreshold
		g.Threshold = &half
	}
	return expanded(codeValidationKind, codeValidationKind.Name, codeValidationKind.Mode, g, pos)
}

// Boundary is the check behind criteria with expectRefusal.
func Boundary(criteria string, expectRefusal bool, pos eval.Pos) *eval.Check {
	g := &boundary{Criteria: criteria, ExpectRefusal: expectRefusal}
	return expanded(boundaryKind, "boundary_adherence", boundaryKind.Mode, g, pos)
}

// Facts is the check behind groundTruth.
func Facts(expectedFacts, forbiddenClaims, acceptableVariations []string, pos eval.Pos) *eval.Check {
	g := &facts{ExpectedFacts: expectedFacts, ForbiddenClaims: forbiddenClaims, AcceptableVariations: acceptableVariations}
	return expanded(factsKind, factsKind.Name, factsKind.Mode, g, pos)
}

// CodeRequirements is the check behind codeRequirements.
func CodeRequirements(mustInclude, mustNotInclude []string, expectedStructure string, pos eval.Pos) *eval.Check {
	g := &codeRequirements{MustInclude: mustInclude, MustNotInclude: mustNotInclude, ExpectedStructure: expectedStructure}
	return expanded(codeRequirementsKind, codeRequirementsKind.Name, codeRequirementsKind.Mode, g, pos)
}

// counting is a check that counts so much in a composite.
func counting(weight float64, c *eval.Check) child {
	c.Weight = weight
	return child{c}
}

// compatThreshold is where composites pass that are scored as another tool
// does, which has scores and no floors.
const compatThreshold = 0.5

func expandedWeighted(key, compat string, must []string, pos eval.Pos, parts ...child) *eval.Check {
	g := &weighted{Threshold: judgeThreshold, Must: must, children: children{parts}}
	if compat != "" {
		g.Threshold, g.Must = compatThreshold, nil
	}
	return expanded(weightedKind, key, weightedKind.Mode, g, pos)
}
