package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Profile says which rules hold and how much they weigh. Own profiles build on a built-in one.
type Profile struct {
	Name    string              `json:"name" yaml:"name"`
	Doc     string              `json:"doc,omitempty" yaml:"doc"`
	Extends string              `json:"extends,omitempty" yaml:"extends"` // "spec" when empty
	Keys    []string            `json:"keys,omitempty" yaml:"keys"`       // frontmatter keys allowed besides those of Extends
	Rules   map[string]Severity `json:"rules,omitempty" yaml:"rules"`     // severities by rule id or family
}

// Names of the built-in profiles.
const (
	// Spec agrees with the reference validator (skills-ref) on what is an error, except where that is plainly wrong:
	//
	//   - YAML in flow style ([a, b], {a: b}) is read; skills-ref rejects a quarter of real skills for it alone.
	//   - Frontmatter ends at a line ---; in skills-ref a --- inside of a value ends it.
	//   - Numbers, booleans and dates where text belongs are warnings; to skills-ref everything is text.
	//   - In a <skill>/<lang>/SKILL.md layout the name may be that of the folder above.
	//   - An empty compatibility is an error, as the specification has it (1 to 500 characters).
	//
	// Errors of the families markdown and security, of which skills-ref knows nothing, come on top.
	Spec       = "spec"
	ClaudeCode = "claude-code"
	LangChain  = "langchain"
	Strict     = "strict"
)

// Profiles lists the built-in profiles.
func Profiles() []Profile {
	return []Profile{
		{
			Name: ClaudeCode, Extends: Spec,
			Doc:  "The specification and what Claude Code adds to it: more frontmatter keys, tools, reserved names.",
			Keys: claudeKeys,
		},
		{
			Name: LangChain, Extends: Spec,
			Doc:  "The specification and what the LangChain skills have: a language, fixed sections, code in that language.",
			Keys: []string{"language"},
		},
		{
			Name: Spec, Keys: specKeys,
			Doc: "The Agent Skills specification. An error here is what the reference validator rejects.",
		},
		{
			Name: Strict, Extends: Spec,
			Doc: "Every rule of taste and care besides the specification, for skills that are to be published.",
			Rules: map[string]Severity{
				"link-broken": Error, "link-mention": Error, "markdown-fence": Error, "security-download": Warning,
				"frontmatter-metadata": Error,
			},
		},
	}
}

var (
	specKeys   = []string{"allowed-tools", "compatibility", "description", "license", "metadata", "name"}
	claudeKeys = []string{
		"agent", "argument-hint", "arguments", "context", "disable-model-invocation", "effort", "hooks", "model", "paths",
		"shell", "user-invocable", "when_to_use",
	}
)

// resolved is a profile with everything it builds on and the overrides of the options.
type resolved struct {
	base  string // the built-in profile it comes down to
	keys  []string
	rules map[string]Severity
}

// severity is the weight of a rule: by its id, else by its family, else its own where the profile has it.
func (r *resolved) severity(rule *Rule) Severity {
	if s, ok := r.rules[rule.ID]; ok {
		return s
	}
	if s, ok := r.rules[rule.Family]; ok && (s == Off || r.has(rule)) {
		return s
	}
	if !r.has(rule) {
		return Off
	}
	return rule.Severity
}

func (r *resolved) has(rule *Rule) bool {
	return rule.Profiles == nil || slices.Contains(rule.Profiles, r.base)
}

// resolve checks the options, all of them at once, and works out the profile.
func (o *Options) resolve() (resolved, error) {
	var errs []error
	name := o.Profile
	if name == "" {
		name = Spec
	}
	var r resolved
	if err := r.inherit(name, o.Profiles, 0); err != nil {
		errs = append(errs, err)
	}
	r.override(o.Rules)
	for id, s := range r.rules {
		if !known(id) {
			errs = append(errs, fmt.Errorf("unknown rule %q%s", id, didYouMean(id, ruleNames())))
		}
		if !slices.Contains([]Severity{Error, Warning, Info, Off}, s) {
			errs = append(errs, fmt.Errorf("severity %q of %s: want error, warning, info or off", s, id))
		}
	}
	for i, s := range o.Suppress {
		if err := s.check(); err != nil {
			errs = append(errs, fmt.Errorf("suppression %d: %w", i+1, err))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return r, errors.Join(errs...)
}

// inherit applies a profile on top of what it extends.
func (r *resolved) inherit(name string, own []Profile, depth int) error {
	all := slices.Concat(own, Profiles())
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		var names []string
		for _, p := range all {
			names = append(names, p.Name)
		}
		return fmt.Errorf("unknown profile %q%s", name, didYouMean(name, names))
	}
	p := all[i]
	isOwn := i < len(own)
	if isOwn && p.Extends == "" {
		p.Extends = Spec
	}
	if depth > len(all) {
		return fmt.Errorf("profile %q extends itself", name)
	}
	if p.Extends == name {
		own = slices.Delete(slices.Clone(own), i, i+1) // an own profile that builds on the built-in one it is named after
	}
	if p.Extends != "" {
		if err := r.inherit(p.Extends, own, depth+1); err != nil {
			return err
		}
	}
	if !isOwn {
		r.base = p.Name
	}
	r.keys = append(r.keys, p.Keys...)
	r.override(p.Rules)
	return nil
}

func (r *resolved) override(rules map[string]Severity) {
	if r.rules == nil {
		r.rules = map[string]Severity{}
	}
	for id, s := range rules {
		r.rules[id] = s
	}
}

// known reports whether a name is that of a rule or of a family.
func known(id string) bool {
	return slices.ContainsFunc(Rules(), func(r *Rule) bool { return r.ID == id || r.Family == id })
}

// RuleNames lists what severities and suppressions can be given for: rules and families of rules.
func RuleNames() (names []string) {
	for _, r := range Rules() {
		if !slices.Contains(names, r.Family) {
			names = append(names, r.Family)
		}
		names = append(names, r.ID)
	}
	return names
}

// ProfileNames lists the profiles that can be chosen, own and built-in.
func ProfileNames(own []Profile) (names []string) {
	for _, p := range slices.Concat(own, Profiles()) {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func ruleNames() []string {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.ID)
	}
	return names
}

// didYouMean names the nearest of some names, if one is near.
func didYouMean(word string, names []string) string {
	best, least := "", 3+len(word)/8
	for _, n := range names {
		if d := distance(word, n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// distance is the number of letters to change, add or drop to make one word of the other.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left, diagonal := i+1, i
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j+1], left) + 1
			}
			diagonal, row[j], left = row[j+1], left, cost
		}
		row[len(b)] = left
	}
	return row[len(b)]
}
