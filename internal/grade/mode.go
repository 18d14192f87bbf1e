package grade

// Failure modes that more than one place speaks of. The others stand with
// their kinds.
const (
	missingKeyword = "missing keyword"
	contamination  = "cross-project contamination"
	errorAnswer    = "error answer"
	missingCode    = "missing code"
	lowScore       = "low score"
	missingResult  = "missing result"
	poorRanking    = "poor ranking"
)

// notMode is the failure mode of a check of a kind that is negated: what is
// wrong when the answer is what it must not be.
func notMode(name string) string {
	switch name {
	case "contains", "contains_any", "contains_all", "matches_regex", "equals", "starts_with", "ends_with":
		return "unwanted text"
	case "has_code_block":
		return "unwanted code"
	case "has_import":
		return "unwanted import"
	case "has_citation":
		return "unwanted citation"
	case "is_json":
		return "unwanted JSON"
	case "json_path", "json_schema":
		return "unwanted value"
	case "meta":
		return "unwanted metadata"
	case "confidence_above":
		return confidenceBelowKind.Mode
	case "confidence_below":
		return confidenceAboveKind.Mode
	case "min_length":
		return maxLengthKind.Mode
	case "max_length":
		return minLengthKind.Mode
	case "sources_count", "word_count":
		return "unwanted count"
	case "hit_at_k", "mrr", "ndcg_at_k", "precision_at_k", "recall_at_k":
		return "unwanted result"
	case "is_error":
		return errorAnswer
	case "not_error":
		return isErrorKind.Mode
	}
	return "not " + name
}
