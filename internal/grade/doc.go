// Package grade holds the grader kinds: what a check of a suite can ask of an
// answer.
//
// One file is one kind: a struct that is the kind's configuration, its entry
// for [Kinds], and Grade. [DecodeCheck] reads a check from YAML: `type` chooses
// the kind, key, weight, severity, not and of are the same for all of them, and
// the rest are the kind's own fields. Everything that can be wrong with a check
// is found there, a pattern or a schema that does not compile included.
//
// The judge kinds ask a model, which [WithJudges] names. What they have in
// common is in the files judge_*.go: prompts, the delimiters around what is
// judged, and the reading of replies.
//
// Graders look at [eval.Response.Text], the answer with its envelope split off;
// confidence and sources are read from the parsed metadata. What a grader could
// not decide is an error, which the core turns into an unscored score; it is
// never a fail.
package grade
