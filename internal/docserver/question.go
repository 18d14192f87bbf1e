package docserver

import (
	"cmp"
	"slices"
	"strings"
)

// question is a text in the words of a project: what each of them weighs, and
// which of them a chunk has.
type question struct {
	terms []term
	stems []sought       // those that some chunk has
	known map[int32]bool // their numbers
	total float64        // weight of the terms that are no hints
}

// sought is a stem that FTS5 is asked for.
type sought struct {
	stem   string
	number int32
}

// term is one word of a question.
type term struct {
	raw    string
	number int32   // in the project's vocabulary, -1 when no chunk has it
	parts  []int32 // of an identifier
	names  int     // parts it has, those counted that say nothing
	weight float64
	hint   bool
}

const (
	maxTerms   = 40  // words of a question that are looked at
	weakWeight = 0.3 // of a word that is common in any subject
	hintWeight = 0.25
)

func (p *project) question(text, hint string) *question {
	asked := &question{known: map[int32]bool{}}
	seen := map[string]bool{}
	collect := func(text string, hint bool) {
		for raw := range tokens(text) {
			if len(asked.terms) == maxTerms {
				return
			}
			if w, ok := wordOf(raw); ok && !seen[w.stem] {
				seen[w.stem] = true
				asked.add(p, raw, w, hint)
			}
		}
	}
	collect(text, false)
	if len(asked.terms) > 0 {
		collect(hint, true)
	}
	return asked
}

// add weighs a word: by how rare it is in the project, less if it is common in
// any subject or a number that no page has, as messages are full of, and less if
// it is only a hint.
func (asked *question) add(p *project, raw string, w word, hint bool) {
	t := term{raw: raw, number: p.number(w.stem), names: w.names, hint: hint}
	t.weight = p.rarity(t.number)
	for _, stem := range w.parts {
		t.parts = append(t.parts, p.number(stem))
	}
	if weakWords()[w.stem] || t.number < 0 && w.stem[0] >= '0' && w.stem[0] <= '9' {
		t.weight *= weakWeight
	}
	if hint {
		t.weight *= hintWeight
	} else {
		asked.total += t.weight
		asked.look(w.stem, t.number)
		for i, stem := range w.parts {
			asked.look(stem, t.parts[i])
		}
	}
	asked.terms = append(asked.terms, t)
}

// look has a stem looked for, if there is any use in it.
func (asked *question) look(stem string, number int32) {
	if number >= 0 && !asked.known[number] {
		asked.known[number] = true
		asked.stems = append(asked.stems, sought{stem, number})
	}
}

// match is the question as FTS5 takes it: its rarest words, as many as are in so
// many places. FTS5 takes time for each of them, and a common word gives a chunk
// next to nothing; it still counts in the second ranking.
func (asked *question) match(p *project, maxPostings int) string {
	slices.SortStableFunc(asked.stems, func(a, b sought) int { return cmp.Compare(p.frequency[a.number], p.frequency[b.number]) })
	var quoted []string
	postings := 0
	for _, s := range asked.stems {
		if postings += int(p.frequency[s.number]); postings > maxPostings && len(quoted) > 0 {
			break
		}
		quoted = append(quoted, `"`+s.stem+`"`)
	}
	return strings.Join(quoted, " OR ")
}

// share is how much of a term is among some words. The parts of an identifier
// count half of it: "merkle" and "tree" are likely to be about MerkleTree,
// while "require" and "equals" need not be about getAndRequireEquals.
func (t *term) share(words []int32) float64 {
	if has(words, t.number) {
		return 1
	}
	n := 0
	for _, p := range t.parts {
		if has(words, p) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return 0.5 * float64(n) / float64(t.names)
}

func has(words []int32, number int32) bool {
	_, ok := slices.BinarySearch(words, number)
	return ok
}

// coverage is the share of a question that some words make up, each word of it
// counting by its weight.
func (asked *question) coverage(words []int32) float64 { return asked.sum(words, false) }

// hinted is what the words of the hint add to that.
func (asked *question) hinted(words []int32) float64 { return asked.sum(words, true) }

func (asked *question) sum(words []int32, hints bool) (sum float64) {
	for i := range asked.terms {
		if t := &asked.terms[i]; t.hint == hints {
			sum += t.weight * t.share(words)
		}
	}
	return sum / asked.total
}

// focus is the share of some words that the question has: a heading that says
// just what is asked is better than one that says it among other things.
func (asked *question) focus(p *project, words []int32) float64 {
	var all, common float64
	for _, n := range words {
		weight := p.rarity(n)
		all += weight
		if asked.known[n] {
			common += weight
		}
	}
	if all == 0 {
		return 0
	}
	return common / all
}

// judge works out how well the first few hits cover the question.
func (asked *question) judge(h *hits) {
	few := h.List[:min(first, len(h.List))]
	for _, hit := range few {
		h.Best = max(h.Best, hit.Coverage)
	}
	for i := range asked.terms {
		t := &asked.terms[i]
		most := 0.0
		for _, hit := range few {
			most = max(most, t.share(hit.all))
		}
		switch {
		case t.hint:
		case most == 0:
			h.Missing = append(h.Missing, t.raw)
		default:
			h.Together += most * t.weight / asked.total
		}
	}
}
