package suite

import (
	"fmt"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/skill/lint"
)

// Lint is what mettle.yaml says about the linting of skills.
type Lint struct {
	Profile  string
	Profiles []lint.Profile // own ones
	Rules    map[string]lint.Severity
	Suppress []lint.Suppression
	Baseline string // path, from the config's folder
	FailOn   lint.Severity
}

// lintFile is the lint part of mettle.yaml as people write it.
type lintFile struct {
	Profile  profileName   `yaml:"profile" jsonschema:"the rules that hold: spec, claude-code, langchain, strict, or a name under profiles" check:"default=spec"`
	Profiles profileMap    `yaml:"profiles" jsonschema:"own profiles, by name"`
	Rules    severities    `yaml:"rules" jsonschema:"error, warning, info or off for rules and families of rules, on top of the profile"`
	Suppress []suppression `yaml:"suppress" jsonschema:"findings that are not to be shown" check:"max=1000"`
	Baseline string        `yaml:"baseline" jsonschema:"file of old findings that are not shown, from this file's folder" check:"min=1"`
	FailOn   string        `yaml:"failOn" jsonschema:"the least severity that fails the command" check:"enum=error|warning|info,default=error"`
}

// profileFile is one own profile.
type profileFile struct {
	Description string      `yaml:"description" jsonschema:"what the profile is for"`
	Extends     profileName `yaml:"extends" jsonschema:"the profile it builds on" check:"default=spec"`
	Keys        []string    `yaml:"keys" jsonschema:"frontmatter keys that are allowed besides those of the profile it builds on" check:"max=1000"`
	Rules       severities  `yaml:"rules" jsonschema:"error, warning, info or off for rules and families of rules"`
}

// suppression silences a rule in some files.
type suppression struct {
	Rule   ruleName    `yaml:"rule" jsonschema:"a rule or a family of rules" check:"required"`
	Path   pathPattern `yaml:"path" jsonschema:"a file, a folder or a pattern for files, from this file's folder; all files if not given"`
	Reason reason      `yaml:"reason" jsonschema:"why this is no problem here" check:"required"`
}

// lint is the part for those who lint.
func (l *lintFile) lint() Lint {
	out := Lint{
		Profile: l.Profile.Value, Profiles: l.Profiles.list, Rules: l.Rules, Baseline: l.Baseline, FailOn: lint.Severity(l.FailOn),
	}
	for _, s := range l.Suppress {
		out.Suppress = append(out.Suppress, lint.Suppression{Rule: s.Rule.Value, Path: s.Path.Value, Reason: s.Reason.Value})
	}
	return out
}

// check finds names of profiles that are not there, and profiles that build on
// themselves.
func (l *lintFile) check(d *kind.Decoder) {
	names := lint.ProfileNames(l.Profiles.list)
	for _, p := range slices.Concat(l.Profiles.extends, []profileName{l.Profile}) {
		if p.Value != "" && !slices.Contains(names, p.Value) {
			d.Add(kind.Problem{
				Line: p.line, Col: p.col, Near: kind.Near(p.Value, names), Message: fmt.Sprintf("no profile is named %q", p.Value),
			})
		}
	}
	if len(d.Problems) > 0 {
		return
	}
	for i, p := range l.Profiles.list {
		if _, err := lint.NewLinter(lint.Options{Profile: p.Name, Profiles: l.Profiles.list}); err != nil {
			at := l.Profiles.extends[i]
			d.Add(kind.Problem{Line: at.line, Col: at.col, Message: fmt.Sprintf("profile %q extends itself", p.Name)})
		}
	}
}

// severityNames are the severities as people write them.
var severityNames = []string{string(lint.Error), string(lint.Warning), string(lint.Info), string(lint.Off)}

// profileName is the name of a profile.
type profileName struct{ text }

// DecodeNode reads the name; whether there is such a profile is known later.
func (p *profileName) DecodeNode(d *kind.Decoder, n *yaml.Node) { p.decode(d, n, "the profile") }

// profileMap holds own profiles in the order of the file.
type profileMap struct {
	list    []lint.Profile
	extends []profileName // of each, for its place
}

// DecodeNode reads every profile.
func (m *profileMap) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	members, ok := d.Members(n, "profiles")
	if !ok {
		return
	}
	for _, p := range members {
		if !isName(p.Key.Value) {
			d.Errorf(p.Key, "the profile's name is %q, want letters, digits, dots, dashes and underscores", p.Key.Value)
		}
		var f profileFile
		d.Decode(p.Value, &f, "profile "+p.Key.Value)
		if f.Extends.line == 0 {
			f.Extends.line, f.Extends.col = p.Key.Line, p.Key.Column
		}
		m.extends = append(m.extends, f.Extends)
		m.list = append(m.list, lint.Profile{
			Name: p.Key.Value, Doc: f.Description, Extends: f.Extends.Value, Keys: f.Keys, Rules: f.Rules,
		})
	}
}

// JSONSchema is that of a mapping of profiles.
func (profileMap) JSONSchema() kind.Schema {
	return kind.Schema{
		"type": "object", "propertyNames": kind.Schema{"pattern": namePattern},
		"additionalProperties": kind.SchemaOf(new(profileFile)),
	}
}

// severities maps rules and families of rules to what they weigh.
type severities map[string]lint.Severity

// DecodeNode reads the mapping and finds names that are not there.
func (s *severities) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	members, ok := d.Members(n, "rules")
	if !ok {
		return
	}
	*s = make(severities, len(members))
	for _, m := range members {
		if names := lint.RuleNames(); !slices.Contains(names, m.Key.Value) {
			d.Unknown(m.Key, "rule", m.Key.Value, names)
		}
		var value string
		before := len(d.Problems)
		if d.Decode(m.Value, &value, m.Key.Value); len(d.Problems) > before {
			continue
		}
		if !slices.Contains(severityNames, value) {
			d.Add(kind.Problem{
				Line: m.Value.Line, Col: m.Value.Column, Near: kind.Near(value, severityNames),
				Message: fmt.Sprintf("the severity of %s is %q, want error, warning, info or off", m.Key.Value, value),
			})
		}
		(*s)[m.Key.Value] = lint.Severity(value)
	}
}

// JSONSchema allows the names that there are.
func (severities) JSONSchema() kind.Schema {
	return kind.Schema{
		"type": "object", "propertyNames": kind.Schema{"enum": lint.RuleNames()},
		"additionalProperties": kind.Schema{"enum": severityNames},
	}
}

// ruleName is the name of a rule or of a family of rules.
type ruleName struct{ text }

// DecodeNode reads the name of one that is there.
func (r *ruleName) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	before := len(d.Problems)
	if r.decode(d, n, "the rule"); len(d.Problems) > before {
		return
	}
	if names := lint.RuleNames(); !slices.Contains(names, r.Value) {
		d.Unknown(n, "rule", r.Value, names)
	}
}

// JSONSchema allows the names that there are.
func (ruleName) JSONSchema() kind.Schema {
	return kind.Schema{"type": "string", "enum": lint.RuleNames()}
}

// pathPattern names files: one, those of a folder, or those a pattern matches.
type pathPattern struct{ text }

// DecodeNode reads the pattern and makes sure that it is one.
func (p *pathPattern) DecodeNode(d *kind.Decoder, n *yaml.Node) {
	p.decode(d, n, "the path")
	if _, err := path.Match(p.Value, ""); err != nil {
		d.Errorf(n, "the path %q is no pattern: %v", p.Value, err)
	}
	p.Value = path.Clean(p.Value)
}

// reason is why something is as it is.
type reason struct{ text }

// DecodeNode reads the reason. An empty one is none: a silence that nobody can
// explain hides the next fault.
func (r *reason) DecodeNode(d *kind.Decoder, n *yaml.Node) { r.decode(d, n, "the reason") }
