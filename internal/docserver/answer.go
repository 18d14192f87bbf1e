package docserver

import (
	"context"
	"math"
	"strings"
	"time"
)

// answer is what a documentation tool says: for people as text ([answer.render])
// and for programs as structured content, of which answer.schema.json is the schema.
type answer struct {
	Text             string       `json:"text"`
	Confidence       int          `json:"confidence"`
	RetrievalQuality string       `json:"retrievalQuality"`
	SourcesUsed      int          `json:"sourcesUsed"`
	QueryType        string       `json:"queryType"`
	Suggestions      []suggestion `json:"suggestions"`
	ProcessingTimeMs float64      `json:"processingTimeMs"`
	Coverage         coverage     `json:"coverage"`
	Sources          []source     `json:"sources"`
}

// coverage is what the confidence was computed from; see [confidence].
type coverage struct {
	Best     float64  `json:"best"`
	Together float64  `json:"together"`
	Missing  []string `json:"missing"`
}

// suggestion is a call that may help further.
type suggestion struct {
	Action string            `json:"action"` // name of a tool
	Reason string            `json:"reason"`
	Params map[string]string `json:"params,omitempty"`
}

// source is where a passage comes from.
type source struct {
	N        int     `json:"n"` // number it is cited by
	Title    string  `json:"title"`
	Section  string  `json:"section,omitempty"`
	URL      string  `json:"url"`
	Path     string  `json:"path"`
	Type     string  `json:"type"`
	Score    float64 `json:"score"`    // what sources are ordered by
	Coverage float64 `json:"coverage"` // share of the question that the passage has
}

// floor is the coverage below which no passage is an answer: it shares some
// common words with the question and misses the telling ones. Of the labelled
// questions in testdata, 5 of 227 with an answer stay under it, and 1 of 90
// without an answer comes over it.
const floor = 0.48

// confidence says how sure it is that the answer is in what was found, 0 to 100.
//
// Each word of the question weighs log(1 + (N-n+0.5)/(n+0.5)), where n passages
// of the project have it and N is 20 more than it has; 0.3 of that if the word is
// common in any subject, or a number that is nowhere. The coverage of a passage
// is the share of that weight that its words make up. With best, the highest
// coverage of one of the first five passages, and together, that of the five
// taken as one, the confidence is 100 × (0.7 × best + 0.3 × together), or 0 when
// best is under the floor of 0.48.
//
// It measures retrieval and not truth, and does not look at the answer's form.
func confidence(h *hits) int {
	if h.Best < floor {
		return 0
	}
	return int(math.Round(100 * (0.7*h.Best + 0.3*h.Together)))
}

// quality is the confidence in words.
func quality(confidence int) string {
	switch {
	case confidence >= 80:
		return "high"
	case confidence >= 60:
		return "medium"
	case confidence > 0:
		return "low"
	}
	return "none"
}

// answerer puts what the index finds into the words of each tool.
type answerer struct {
	index  *Index
	prefix string // of the tools' names
	now    func() time.Time
}

// How many passages an answer is made of at most.
const (
	maxPassages = 6
	maxExamples = 4
	maxCauses   = 4
)

// Factors on the rank of passages that are not quite what a tool is for.
const (
	troubleFactor = 0.8 // explains an error when none was asked about
	generalFactor = 0.6 // does not explain an error when one was
	commandFactor = 0.7 // has commands to type instead of code
)

// ask answers a question with the best passages.
func (a *answerer) ask(ctx context.Context, question, project string, maxTokens int) (*answer, error) {
	q := query{Project: project, Text: question, Limit: maxPassages, Prefer: prefers(question)}
	return a.answer(ctx, q, questionType(question), func(w *writer) { w.passages(maxTokens * charsPerToken) })
}

// prefers ranks sections on errors lower, unless one is asked about.
func prefers(question string) func(*chunk) float64 {
	if isAboutError(question) {
		return nil
	}
	return func(c *chunk) float64 {
		if c.Trouble {
			return troubleFactor
		}
		return 1
	}
}

// example answers with the code blocks of the best sections that have any.
func (a *answerer) example(ctx context.Context, task, project string, maxTokens int) (*answer, error) {
	q := query{Project: project, Text: task, Limit: maxExamples, Keep: hasExample, Prefer: func(c *chunk) float64 {
		factor := 1.0
		if c.Trouble {
			factor *= troubleFactor
		}
		if !hasProgram(c) {
			factor *= commandFactor
		}
		return factor
	}}
	return a.answer(ctx, q, "code_lookup", func(w *writer) { w.examples(maxTokens * charsPerToken) })
}

// explain answers an error with the troubleshooting sections that fit it, and
// where there are none with what the pages say about its words.
func (a *answerer) explain(ctx context.Context, message, hint, project string, maxTokens int) (*answer, error) {
	q := query{Project: project, Text: message, Hint: hint, Limit: maxCauses, Prefer: func(c *chunk) float64 {
		if c.Trouble {
			return 1
		}
		return generalFactor
	}}
	return a.answer(ctx, q, "error", func(w *writer) { w.passages(maxTokens * charsPerToken) })
}

// search lists matching passages, best first.
func (a *answerer) search(ctx context.Context, text, project string, limit int, contentType string) (*answer, error) {
	q := query{Project: project, Text: text, Limit: limit, Prefer: prefers(text)}
	kind := questionType(text)
	if contentType != "" {
		q.Keep = func(c *chunk) bool { return c.Type == contentType }
	}
	if contentType == typeReference {
		kind = "api_reference"
	}
	return a.answer(ctx, q, kind, func(w *writer) { w.results(text, project) })
}

// answer looks for passages and has them written down, or says that there are none.
func (a *answerer) answer(ctx context.Context, q query, kind string, write func(*writer)) (*answer, error) {
	start := a.now()
	h, err := a.index.search(ctx, q)
	if err != nil {
		return nil, err
	}
	ans := &answer{Confidence: confidence(h), QueryType: kind, Sources: []source{}}
	ans.RetrievalQuality = quality(ans.Confidence)
	ans.Suggestions = a.suggestions(ans.RetrievalQuality, q.Project)
	ans.Coverage = coverage{Best: round(h.Best), Together: round(h.Together), Missing: append([]string{}, h.Missing...)}
	w := &writer{hits: h.List, best: h.Best, answer: ans}
	if ans.Confidence == 0 {
		w.nothing(q.Project)
	} else {
		write(w)
	}
	ans.Text = harmless(strings.TrimSpace(w.String()))
	ans.SourcesUsed = len(ans.Sources)
	ans.ProcessingTimeMs = round(a.now().Sub(start).Seconds() * 1000)
	return ans, nil
}

// suggestions names calls that help where an answer does not.
func (a *answerer) suggestions(quality, project string) []suggestion {
	out := []suggestion{}
	if quality == "none" || quality == "low" {
		out = append(out, suggestion{
			Action: a.prefix + "search_docs", Reason: "look for a single term instead of a whole question",
			Params: map[string]string{"project": project},
		})
	}
	if quality == "none" {
		out = append(out, suggestion{Action: a.prefix + "list_projects", Reason: "see what there is documentation for"})
	}
	return out
}

// round keeps three decimals: more would be noise.
func round(x float64) float64 { return math.Round(x*1000) / 1000 }

// questionType says in a word what a question is after.
func questionType(question string) string {
	text := strings.ToLower(strings.TrimSpace(question))
	starts := func(words ...string) bool {
		for _, w := range words {
			if strings.HasPrefix(text, w+" ") || strings.HasPrefix(text, w+"'") {
				return true
			}
		}
		return false
	}
	switch {
	case isAboutError(text):
		return "error"
	case starts("how", "where do", "where can", "can i", "steps"):
		return "howto"
	case starts("what", "why", "which", "who", "when", "is", "are", "does", "do", "explain", "difference"):
		return "concept"
	case strings.Contains(text, "example") || strings.Contains(text, "code"):
		return "code_lookup"
	}
	return "general"
}

// isAboutError tells whether a text is an error message, or asks about one.
func isAboutError(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{
		"error", "exception", "fail", "cannot", "can't", "could not", "unable", "not found", "not defined", "undefined", "invalid",
		"missing", "mismatch", "violat", "unsatisfied", "not permitted", "exceeded", "panic", "crash", "0x",
	} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
