package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/version"
)

// defaultURL is where a documentation server is looked for when nobody says.
const defaultURL = "http://localhost:3000/mcp"

// targets finds a target for every case: the one the command line or the
// environment asks for, else the case's own, else the config's, else the
// built-in server for built-in suites, else [defaultURL]. Cases get its name.
func targets(w *World, o *runOptions, l *loaded, ms *models) (map[string]eval.Target, error) {
	used := map[string]eval.Target{}
	var errs []error
	for _, s := range l.Suites {
		for _, c := range s.Cases {
			name := o.targetName(c, l)
			c.Target = name
			if _, done := used[name]; done {
				continue
			}
			t, err := o.target(w, name, l, s)
			if err == nil {
				t, err = ms.attach(name, t, s)
			}
			errs = append(errs, err)
			used[name] = t
		}
	}
	errs = append(errs, ms.judgeMade(l), o.unused(w, l, used))
	if err := inOneList(errs...); err != nil {
		return nil, errors.Join(err, closeTargets(used))
	}
	return used, nil
}

// Names of targets that no file names.
const (
	urlTarget     = "url"
	commandTarget = "command"
	defaultTarget = "default"
	builtinTarget = suite.BuiltinTarget
)

func (o *runOptions) targetName(c *eval.Case, l *loaded) string {
	switch {
	case c.Target != "" && !isMCP(l.named(c.Target)): // a server cannot be asked what is not for servers
		return c.Target
	case o.URL != "":
		return urlTarget
	case o.Command != "":
		return commandTarget
	case o.Target != "":
		return o.Target
	case c.Target != "":
		return c.Target
	case l.config.Target != "":
		return l.config.Target
	case l.builtin:
		return builtinTarget
	case len(l.config.Targets) == 1:
		for name := range l.config.Targets {
			return name
		}
	}
	return defaultTarget
}

// named is the target that a suite or mettle.yaml defines under a name, nil for
// none.
func (l *loaded) named(name string) eval.Target {
	if t := l.Targets[name]; t != nil {
		return t
	}
	return l.config.Targets[name]
}

// unused finds a server that was asked for, and that no case is for.
func (o *runOptions) unused(w *World, l *loaded, used map[string]eval.Target) error {
	var flag, name string
	switch { // in the order that targetName has
	case o.URL != "":
		flag, name = "--url", urlTarget
	case o.Command != "":
		flag, name = "--command", commandTarget
	case o.Target != "":
		flag, name = "--target", o.Target
	default:
		return nil
	}
	if _, found := used[name]; found {
		return nil
	}
	if o.Target == name && l.named(name) == nil && name != builtinTarget {
		return unknownTarget(name, l.config)
	}
	w.printf("note: no case of these suites is for a server: %s is not used\n", flag)
	return nil
}

// isMCP tells whether a target that is defined is a server. One that is not
// may be.
func isMCP(t eval.Target) bool {
	_, ok := t.(*target.MCP)
	return t == nil || ok
}

// target makes the target with a name ready to be prepared.
func (o *runOptions) target(w *World, name string, l *loaded, s *eval.Suite) (eval.Target, error) {
	var t eval.Target
	base := l.config.Dir // what the target's paths are meant from: the file that it stands in
	switch {
	case !isMCP(l.named(name)):
		t = l.named(name)
	case o.URL != "" || o.Command != "":
		m, err := o.adHoc()
		if err != nil {
			return nil, err
		}
		if o.URL != "" {
			m.Token = w.Getenv("METTLE_TOKEN")
		} else if len(o.Headers) > 0 {
			return nil, usagef("--header goes with --url")
		}
		t = m
	case l.Targets[name] != nil:
		t, base = l.Targets[name], filepath.Dir(w.abs(s.File))
	case l.config.Targets[name] != nil:
		t = l.config.Targets[name]
	case name == builtinTarget:
		return startBuiltin(o)
	case name == defaultTarget:
		t = &target.MCP{URL: defaultURL}
	default:
		return nil, unknownTarget(name, l.config)
	}
	if m, ok := t.(*target.MCP); ok {
		m.Base, m.Environ, m.Version = base, w.Environ, version.Version
		m.Connections = o.Concurrency
		m.Timeouts = m.Timeouts.Or(l.config.Timeouts.Timeouts)
		if o.ToolPrefix != "" {
			m.Tools.Prefix = o.ToolPrefix
		}
	}
	if r, ok := t.(target.SkillReader); ok {
		r.UseSkills(l.skills(s.File).Library)
	}
	if e, ok := t.(target.Expander); ok {
		if err := e.Expand(w.LookupEnv); err != nil {
			return nil, err
		}
	}
	if m, ok := t.(*target.MCP); ok && m.URL != "" {
		if _, err := target.Endpoint(m.URL); err != nil {
			return nil, usagef("target %s: %w", name, err)
		}
	}
	return t, nil
}

// adHoc is the target of --url or --command.
func (o *runOptions) adHoc() (*target.MCP, error) {
	m := &target.MCP{URL: o.URL, Headers: map[string]string{}}
	if o.Command != "" {
		words, err := process.Split(o.Command)
		if err != nil {
			return nil, usagef("--command: %w", err)
		}
		m.Command = words
	}
	for _, h := range o.Headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usagef("--header needs the form 'Name: value'")
		}
		m.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if err := m.Check(); err != nil {
		return nil, &usageError{err}
	}
	return m, nil
}

func unknownTarget(name string, cfg *suite.Config) error {
	var names []string
	for n := range cfg.Targets {
		names = append(names, n)
	}
	text := fmt.Sprintf("no target is named %q", name)
	if near := kind.Near(name, names); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	} else if len(names) == 0 {
		text += ": there is no mettle.yaml that names one"
	}
	return &usageError{errors.New(text)}
}

// closeTargets ends sessions and processes.
func closeTargets(ts map[string]eval.Target) error {
	var errs []error
	for _, t := range ts {
		if c, ok := t.(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
