package lint

// rules is the table: a new rule is its variable in the file of its family and its line here. Families, and the rules in
// each, are in alphabetical order.
var rules = [...]*Rule{
	&codeSyntax, &codeUntagged,

	&descriptionBudget, &descriptionLength, &descriptionMarkup, &descriptionPerson, &descriptionPlaceholder, &descriptionRequired,
	&descriptionShort, &descriptionSimilar, &descriptionStuffing, &descriptionTrigger,

	&evalsFormat, &evalsMissing, &evalsNameSkill,

	&frontmatterAlias, &frontmatterArguments, &frontmatterBlank, &frontmatterBOM, &frontmatterClaude, &frontmatterCompatibility, &frontmatterCut,
	&frontmatterDuplicate, &frontmatterFenced, &frontmatterKey, &frontmatterLanguage, &frontmatterLicense,
	&frontmatterMap, &frontmatterMetadata, &frontmatterMissing, &frontmatterQuote, &frontmatterScalar, &frontmatterSecond, &frontmatterSmartQuotes,
	&frontmatterUnclosed, &frontmatterYAML,

	&languageMix,

	&linkAbsolute, &linkAnchor, &linkBackslash, &linkBroken, &linkChain, &linkDeep, &linkDirectory, &linkEscape, &linkHome,
	&linkMention, &linkSymbolic,

	&markdownControl, &markdownEmptySection, &markdownEncoding, &markdownFence, &markdownIrregular,
	&markdownLineEnds, &markdownMerge, &markdownTag, &markdownTitle,

	&nameASCII, &nameCharacters, &nameDuplicate, &nameFolder, &nameHyphen, &nameLength, &nameRequired, &nameReserved,
	&nameVague,

	&securityBidi, &securityBinary, &securityConcealment, &securityDestructive, &securityDownload, &securityExfiltration,
	&securityHiddenText, &securityHomoglyph, &securityInjection, &securityInsecureDownload, &securityObfuscation,
	&securityRemote, &securitySecret, &securityUnread, &securityZeroWidth,

	&sizeLines, &sizePackage, &sizeReference, &sizeSparse, &sizeTokens,

	&structureBody, &structureFileName, &structureOrphan, &structureSection,

	&suppressionReason, &suppressionUnknown, &suppressionUnused,

	&toolList, &toolUnknown, &toolUnscoped,
}

// Rules lists all rules, by family and id. The list must not be changed.
func Rules() []*Rule { return rules[:] }
