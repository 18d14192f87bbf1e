package session

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/version"
)

// defaultURL is where a documentation server is looked for when no target is
// configured.
const defaultURL = "http://localhost:3000/mcp"

// Names of targets that no file names.
const (
	urlTarget     = "url"
	commandTarget = "command"
	defaultTarget = "default"
	replayTarget  = "replay"
	BuiltinTarget = suite.BuiltinTarget
)

// targetName is the target of a case: the server that the options ask for, else
// the case's own, else the config's, else the built-in server for built-in
// suites, else a server at [defaultURL]. A case that is not for servers keeps
// its own.
func (o *Options) targetName(c *eval.Case, l *Loaded) string {
	switch {
	case c.Target != "" && !l.server(c.Target):
		return c.Target
	case o.URL != "":
		return urlTarget
	case o.Command != "":
		return commandTarget
	case o.Target != "":
		return o.Target
	case c.Target != "":
		return c.Target
	case l.Config.Target != "":
		return l.Config.Target
	case l.builtin:
		return BuiltinTarget
	case len(l.Config.Targets) == 1:
		for name := range l.Config.Targets {
			return name
		}
	}
	return defaultTarget
}

// targets makes the target of every case, and gives cases its name.
func (p *Plan) targets() error {
	p.env.Targets = map[string]eval.Target{}
	var errs []error
	for _, s := range p.loaded.Suites {
		for _, c := range s.Cases {
			c.Target = p.opts.targetName(c, p.loaded)
			if _, done := p.env.Targets[c.Target]; done {
				continue
			}
			t, err := p.target(c.Target, s)
			errs = append(errs, err)
			p.env.Targets[c.Target] = t
		}
	}
	errs = append(errs, p.unusedServer())
	return joinMissing(errs...)
}

// unusedServer finds a server that was asked for, and that no case is for.
func (p *Plan) unusedServer() error {
	var flag, name string
	switch o := p.opts; { // in the order of targetName
	case o.URL != "":
		flag, name = "--url", urlTarget
	case o.Command != "":
		flag, name = "--command", commandTarget
	case o.Target != "":
		flag, name = "--target", o.Target
	default:
		return nil
	}
	if _, used := p.env.Targets[name]; used {
		return nil
	}
	if p.opts.Target == name && p.loaded.named(name) == nil && name != BuiltinTarget {
		return unknownTarget(name, p.loaded.Config)
	}
	p.Notes = append(p.Notes, fmt.Sprintf("no case of these suites is for a server: %s is not used", flag))
	return nil
}

// target makes the target with a name, as the suite uses it, and hands it what
// it needs.
func (p *Plan) target(name string, s *eval.Suite) (target.Target, error) {
	t, base, err := p.chosen(name, s)
	if err != nil {
		return nil, err
	}
	supplies := target.Supplies{
		Name: name, Base: base, Env: p.world.LookupEnv, Environ: p.world.Environ, Version: version.Version,
		Connections: p.opts.Concurrency, Timeouts: p.loaded.Config.Timeouts.Timeouts, Tape: p.models.tape, Secrets: p.models.secrets,
	}
	needs := t.Needs()
	if needs.Server {
		supplies.ToolPrefix = p.opts.ToolPrefix
	}
	if needs.Skills {
		supplies.Skills = p.loaded.skills(s.File).Library
	}
	if needs.Model {
		if err := p.models.supply(&supplies, needs, s); err != nil {
			return nil, err
		}
	}
	if err := t.Use(supplies); err != nil {
		var missing *eval.Missing
		if errors.As(err, &missing) {
			return nil, err
		}
		return nil, &UsageError{err}
	}
	return t, nil
}

// chosen finds the target with a name, and the folder its paths are relative
// to: that of the file it is in.
func (p *Plan) chosen(name string, s *eval.Suite) (t target.Target, base string, err error) {
	o, l := p.opts, p.loaded
	base = l.Config.Dir
	switch {
	case !l.server(name):
		t = l.named(name)
	case o.URL != "" || o.Command != "":
		t, err = o.Server(p.world)
		base = p.world.Dir
	case l.Targets[name] != nil:
		t, base = l.Targets[name], filepath.Dir(p.world.Abs(s.File))
	case l.Config.Targets[name] != nil:
		t = l.Config.Targets[name]
	case name == BuiltinTarget:
		t, err = startBuiltin(p.world.Now)
	case name == defaultTarget:
		t = &target.MCP{URL: defaultURL}
	default:
		err = unknownTarget(name, l.Config)
	}
	return t, base, err
}

// Server is the server that --url or --command name.
func (o *Options) Server(w *World) (*target.MCP, error) {
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
		return nil, &UsageError{err}
	}
	switch {
	case o.URL != "":
		m.Token = w.Getenv("METTLE_TOKEN")
	case len(o.Headers) > 0:
		return nil, usagef("--header goes with --url")
	}
	return m, nil
}

func unknownTarget(name string, cfg *suite.Config) error {
	text := fmt.Sprintf("no target is named %q", name)
	if near := kind.Near(name, slices.Sorted(maps.Keys(cfg.Targets))); near != "" {
		text += fmt.Sprintf(" (did you mean %q?)", near)
	} else if len(cfg.Targets) == 0 {
		text += ": there is no mettle.yaml that names one"
	}
	return usagef("%s", text)
}

// closeTargets ends sessions and processes.
func closeTargets[T eval.Target](ts map[string]T) error {
	var errs []error
	for _, t := range ts {
		if c, ok := any(t).(interface{ Close() error }); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// defaultTarget is the name of the target of tests, given the name they use, as
// far as it is known when suites are loaded.
func (o *Options) defaultTarget(name string, cfg *suite.Config) string {
	switch {
	case name != "":
		return name
	case o.URL != "" || o.Command != "":
		return ""
	}
	return cmp.Or(o.Target, cfg.Target)
}
