package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mettle-eval/mettle/internal/kind"
	"github.com/mettle-eval/mettle/internal/mcpclient"
	"github.com/mettle-eval/mettle/internal/probe"
	"github.com/mettle-eval/mettle/internal/process"
	"github.com/mettle-eval/mettle/internal/secret"
	"github.com/mettle-eval/mettle/internal/session"
	"github.com/mettle-eval/mettle/internal/suite"
	"github.com/mettle-eval/mettle/internal/target"
	"github.com/mettle-eval/mettle/internal/term"
	"github.com/mettle-eval/mettle/internal/version"
)

type probeOptions struct {
	url       string
	command   string
	words     []string // a command as it stood behind --
	headers   []string
	transport string
	protocol  string
	timeout   time.Duration
	json      bool
	strict    bool
	write     string
	force     bool
}

func newProbeCmd(w *World) *cobra.Command {
	o := new(probeOptions)
	cmd := &cobra.Command{
		Use:   "probe SERVER",
		Short: "Inspect an MCP server without calling tools",
		Long: "Connects to an MCP server, lists its tools and checks what clients are known to trip\n" +
			"over. SERVER is an address, a command line in quotes, or a command behind --. No tool\n" +
			"is called. Set METTLE_TOKEN to send a bearer token.\n\n" +
			"A check fails on what breaks the protocol; it warns of what the protocol allows but\n" +
			"clients refuse. Exit codes: 0 nothing failed, 1 a check failed (with --strict: or\n" +
			"warned), 2 wrong usage, 3 the server could not be reached.",
		Example: "  mettle probe http://localhost:3000\n" +
			"  mettle probe -- node server.js --stdio\n" +
			"  mettle probe 'npx -y some-mcp-server' --write suite.yaml\n" +
			"  mettle probe https://example.com/mcp --header 'X-Key: ${KEY}' --json | jq .checks",
		Args: oneServer,
	}
	f := cmd.Flags()
	f.StringVar(&o.url, "url", "", "address of the server, instead of SERVER (also MCP_URL)")
	f.StringVar(&o.command, "command", "", "command line of a stdio server, instead of SERVER")
	f.StringArrayVar(&o.headers, "header", nil, "HTTP header as 'Name: value'; take secrets from the environment with ${NAME}")
	f.StringVar(&o.transport, "transport", mcpclient.TransportAuto, "how to speak: auto, streamable, sse, stdio")
	f.StringVar(&o.protocol, "protocol", "", "protocol version to insist on (default: the newest both sides know)")
	f.DurationVar(&o.timeout, "timeout", session.DefaultTimeout, "limit of the whole look, starting the server included")
	f.BoolVar(&o.json, "json", false, "print the report as JSON")
	f.BoolVar(&o.strict, "strict", false, "let warnings fail too")
	f.StringVar(&o.write, "write", "", "write a suite to this file, with one commented-out case a tool")
	f.BoolVar(&o.force, "force", false, "let --write replace a file")
	withEnvironment(w, cmd, func(cmd *cobra.Command, args []string) error {
		if err := o.settle(args, cmd.ArgsLenAtDash() == 0); err != nil {
			return err
		}
		return runProbe(cmd.Context(), w, o)
	})
	return cmd
}

// oneServer refuses a server that is named twice. It runs before the
// environment fills flags, which an argument simply goes before.
func oneServer(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && (cmd.Flags().Changed("url") || cmd.Flags().Changed("command")) {
		return usagef("SERVER, --url and --command exclude each other")
	}
	return nil
}

// settle finds the server among the arguments. Behind -- they are a command,
// word by word.
func (o *probeOptions) settle(args []string, dashed bool) error {
	if len(args) > 0 {
		o.url, o.command = "", ""
	}
	switch {
	case o.timeout <= 0:
		return usagef("--timeout is %s, want more than 0", o.timeout)
	case len(args) == 0 && o.url == "" && o.command == "":
		return usagef("probe needs a server: an address, a command line in quotes, or a command behind --")
	case len(args) == 0 && o.url != "" && o.command != "":
		return usagef("--url and --command exclude each other")
	case len(args) == 0:
	case len(args) == 1 && strings.Contains(args[0], "://") && !strings.ContainsAny(args[0], " \t\n"):
		o.url = args[0]
	case dashed:
		o.words = args
	case len(args) > 1:
		return usagef("a command of several words goes behind --: mettle probe -- %s …", args[0])
	case regexp.MustCompile(`^[\w.-]+:\d+(/\S*)?$`).MatchString(args[0]):
		return usagef("%s is not an address (did you mean http://%s?)", args[0], args[0])
	default:
		o.command = args[0]
	}
	if len(o.headers) > 0 && o.url == "" {
		return usagef("--header is for servers at an address, not for commands")
	}
	return nil
}

// target is the server as it is connected to.
func (o *probeOptions) target(w *World) (*target.MCP, error) {
	m := &target.MCP{Command: o.words}
	supplies := target.Supplies{Name: "probe", Environ: w.Environ, Base: w.Dir, Version: version.Version}
	if o.words == nil {
		named := &session.Options{URL: o.url, Command: o.command, Headers: o.headers}
		var err error
		if m, err = named.Server(w.session()); err != nil {
			return nil, err
		}
		supplies.Env = w.LookupEnv
	}
	limit, tries := kind.Duration(o.timeout), 2
	m.Timeouts = target.Timeouts{Start: limit, Connect: limit, List: limit}
	m.Transport, m.Protocol, m.Retries = o.transport, o.protocol, &tries
	if err := m.Check(); err != nil {
		return nil, &usageError{Err: err}
	}
	return m, m.Use(supplies)
}

func runProbe(ctx context.Context, w *World, o *probeOptions) error {
	m, err := o.target(w)
	if err != nil {
		return err
	}
	if err := o.checkWrite(w); err != nil {
		return err
	}
	r, tools, err := look(ctx, m, o.timeout)
	if r == nil {
		return err
	}
	if printErr := o.print(w, r); printErr != nil {
		return fmt.Errorf("write the report: %w", printErr)
	}
	if err != nil {
		return err
	}
	if o.write != "" {
		if err := o.scaffold(w, r, tools); err != nil {
			return err
		}
	}
	if r.Failed(o.strict) {
		return &verdictError{ExitNotMet}
	}
	return nil
}

// look connects, lists the tools, and reports. An error means that the server
// could not be reached or was lost; the report says how far it came.
func look(ctx context.Context, m *target.MCP, limit time.Duration) (*probe.Report, []mcpclient.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	client, err := m.Dial(ctx)
	var broken *mcpclient.Error
	switch {
	case err == nil:
	case !errors.As(err, &broken):
		return nil, nil, &usageError{Err: err} // nothing was dialled: the settings are wrong
	case broken.Class == mcpclient.ClassAuth:
		err = fmt.Errorf("%w; set METTLE_TOKEN or give --header 'Authorization: …'", err)
		fallthrough
	default:
		return probe.Unreachable(shownTarget(m), err), nil, err
	}
	defer client.Close()
	tools, err := client.Tools(ctx)
	info := client.Info()
	hide(m, &info, tools)
	r := probe.Inspect(info, tools, err)
	if r.Verdict != probe.Error {
		err = nil // what is wrong is on the card
	}
	return r, tools, err
}

func shownTarget(m *target.MCP) string {
	if m.URL == "" {
		return filepath.Base(m.Command[0])
	}
	address, _ := secret.URL(m.URL)
	return address
}

// hide takes the secrets that the server was sent out of what it says. What
// the client itself reports has been through the same.
func hide(m *target.MCP, info *mcpclient.Info, tools []mcpclient.Tool) {
	r := secret.NewRedactor(secret.Least)
	r.Add(secret.Mark, m.Token)
	r.AddURL(m.URL)
	for _, v := range m.Headers {
		r.AddHeader(v)
	}
	clean := r.String
	info.Name, info.Version, info.Instructions = clean(info.Name), clean(info.Version), clean(info.Instructions)
	for i := range info.Findings {
		info.Findings[i] = clean(info.Findings[i])
	}
	for i := range tools {
		t := &tools[i]
		t.Name, t.Title, t.Description = clean(t.Name), clean(t.Title), clean(t.Description)
		for _, raw := range []*json.RawMessage{&t.Raw, &t.InputSchema, &t.OutputSchema} {
			*raw = json.RawMessage(clean(string(*raw)))
		}
	}
}

// checkWrite finds before anything is asked that a file must not be replaced.
func (o *probeOptions) checkWrite(w *World) error {
	if o.write == "" {
		return nil
	}
	info, err := os.Stat(w.abs(o.write))
	switch {
	case err == nil && !info.Mode().IsRegular():
		return usagef("--write %s: it is not a regular file", o.write)
	case err == nil && !o.force:
		return usagef("--write %s: the file exists; --force replaces it", o.write)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usagef("--write: %w", err)
	}
	return nil
}

// scaffold writes the suite.
func (o *probeOptions) scaffold(w *World, r *probe.Report, tools []mcpclient.Tool) error {
	if len(tools) == 0 {
		return fmt.Errorf("write %s: the server has no tools to make cases of", o.write)
	}
	s := &probe.Scaffold{Server: r.Server.Name, Tools: tools}
	s.Target, s.Notes = o.settings(w)
	path := w.abs(o.write)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of the suite: %w", err)
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if !o.force {
		flags |= os.O_EXCL // somebody may have made it since it was looked for
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}
	_, err = f.Write(s.YAML())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}
	w.printf("%s\n", term.Paint(w.color(w.ErrTTY)).Dim("suite: "+w.shown(path)))
	return nil
}

// settings is the target that the suite is written for. What may hold a
// secret is left out, with a note.
func (o *probeOptions) settings(w *World) (list []probe.Setting, notes []string) {
	list = []probe.Setting{{Name: "type", Value: "mcp"}}
	if o.transport != "" && o.transport != mcpclient.TransportAuto {
		list = append(list, probe.Setting{Name: "transport", Value: o.transport})
	}
	if o.protocol != "" {
		list = append(list, probe.Setting{Name: "protocol", Value: o.protocol})
	}
	if o.url == "" {
		words := o.words
		if words == nil {
			words, _ = process.Split(o.command)
		}
		if slices.ContainsFunc(words, o.secretWord) {
			return nil, []string{"The command is left out, because it may hold a secret: run with --command."}
		}
		list = append(list, probe.Setting{Name: "command", Value: words})
		if dir := commandDir(w); dir != "." {
			list = append(list, probe.Setting{Name: "dir", Value: dir})
		}
		return list, nil
	}
	if _, found := secret.URL(o.url); found {
		return nil, []string{"The address is left out, because it may hold a secret: run with --url."}
	}
	list = append(list, probe.Setting{Name: "url", Value: o.url})
	if w.Getenv("METTLE_TOKEN") != "" {
		list = append(list, probe.Setting{Name: "token", Value: "${METTLE_TOKEN}"})
	}
	var headers []probe.Setting
	for _, h := range o.headers {
		name, value, _ := strings.Cut(h, ":")
		if !strings.Contains(value, "${") {
			notes = append(notes, "The header "+strings.TrimSpace(name)+" is left out, because it may hold a secret: add it under target, as ${NAME}.")
			continue
		}
		headers = append(headers, probe.Setting{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	if headers != nil {
		list = append(list, probe.Setting{Name: "headers", Value: headers})
	}
	return list, notes
}

// commandDir is the folder the command was run in, from where a run will mean
// it.
func commandDir(w *World) string {
	config, err := suite.FindConfig(w.Dir)
	if err != nil || config == "" {
		return "."
	}
	dir, err := filepath.Rel(filepath.Dir(config), w.Dir)
	if err != nil {
		return "."
	}
	return filepath.ToSlash(dir)
}

// secretWord guesses whether a word of a command holds a secret. A reference
// to the environment does not, unless the word is meant literally.
func (o *probeOptions) secretWord(word string) bool {
	if strings.Contains(word, "${") {
		return o.words != nil
	}
	return secret.Word(word)
}

// print puts the report on standard output.
func (o *probeOptions) print(w *World, r *probe.Report) error {
	if !o.json {
		if len(r.Checks) == 1 { // nothing to show but that it could not be reached, which the error says
			return nil
		}
		card := probe.Card{Color: w.color(w.OutTTY), Strict: o.strict}
		return card.Write(w.Stdout, r)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	_, err := w.Stdout.Write(term.EscapeJSON(b.Bytes()))
	return err
}
