// Package grade holds the grader kinds: what a check of a suite can ask of an
// answer.
//
// One file is one kind: a struct that is the kind's configuration, its entry
// for [Kinds], and Grade. [DecodeCheck] reads a check from YAML: `type` chooses
// the kind, key, weight, severity, not and of are the same for all of them, and
// the rest are the kind's own fields. Everything that can be wrong with a check
// is found there, a pattern or a schema that does not compile included.
//
// What graders need from outside the attempt is in [Env]: the judges, the
// programs that check code, the environment of exec checks. The judge kinds ask
// models by way of package judge, which has the prompts, the delimiters around
// what is judged, and the reading of replies; the retrieval kinds use package
// retrieval. [Restore] gives the checks of a stored case their graders.
//
// Graders look at [eval.Response.Text], the answer with its envelope split off;
// confidence and sources are read from the parsed metadata. What a grader could
// not decide is an error, which the core turns into an unscored score; it is
// never a fail.
package grade
