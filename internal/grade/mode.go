package grade

// Failure modes that several kinds share.
const (
	missingKeyword = "missing keyword"
	contamination  = "cross-project contamination"
	errorAnswer    = "error answer"
	missingCode    = "missing code"
	lowScore       = "low score"
	missingResult  = "missing result"
	poorRanking    = "poor ranking"
	unwantedText   = "unwanted text"
	unwantedValue  = "unwanted value"
	unwantedCount  = "unwanted count"
	unwantedResult = "unwanted result"
	lowConfidence  = "low confidence"
	highConfidence = "high confidence"
	tooShort       = "too short"
	tooLong        = "too long"
	missingError   = "missing error"
)
