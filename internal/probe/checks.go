package probe

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mettle-eval/mettle/internal/mcpclient"
)

// checks is the card, in its order. Ids are for good: people will silence and
// search for them.
var checks = []struct {
	id  string
	run func(*subject) outcome
}{
	{"connect", checkConnect},
	{"protocol", checkProtocol},
	{"identity", checkIdentity},
	{"stdout", checkStdout},
	{"instructions", checkInstructions},
	{"tools-list", checkToolsList},
	{"capabilities", checkCapabilities},
	{"pagination", checkPagination},
	{"tool-count", checkCount},
	{"list-size", ofTools(checkSize)},
	{"tool-names", ofTools(checkNames)},
	{"unique-names", ofTools(checkUnique)},
	{"descriptions", ofTools(checkDescriptions)},
	{"parameters", ofTools(checkParameters)},
	{"input-schema", ofTools(checkInput)},
	{"output-schema", ofTools(checkOutput)},
	{"schema-dialect", ofTools(checkDialect)},
	{"annotations", ofTools(checkAnnotations)},
	{"hidden-text", checkHidden},
}

// outcome is a check in the making.
type outcome struct {
	summary  string
	findings []Finding
	skipped  bool
}

func (o *outcome) find(level Status, tool, format string, args ...any) {
	o.findings = append(o.findings, Finding{level, tool, fmt.Sprintf(format, args...)})
}

func (o *outcome) status() Status {
	worst := Pass
	if o.skipped {
		worst = Skip
	}
	for _, f := range o.findings {
		if worse(f.Level, worst) {
			worst = f.Level
		}
	}
	return worst
}

func passed(format string, args ...any) outcome {
	return outcome{summary: fmt.Sprintf(format, args...)}
}

func skipped(why string) outcome { return outcome{summary: why, skipped: true} }

// ofTools is for checks that look at tools, of which there have to be some.
func ofTools(run func(*subject) outcome) func(*subject) outcome {
	return func(s *subject) outcome {
		if len(s.tools) == 0 {
			return skipped("there are no tools to look at")
		}
		return run(s)
	}
}

// slow is how long a person waits for a server at every start of a client.
// Clients give up after 10 to 60 s.
const slow = 10 * time.Second

func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return d.Round(100 * time.Millisecond).String()
}

func checkConnect(s *subject) outcome {
	o := passed("connected in %s", took(s.info.Connect))
	if s.info.Connect > slow {
		o.find(Warn, "", "connecting took longer than %s, after which some clients give up", slow)
	}
	if n := s.info.Reconnects; n > 0 {
		o.find(Warn, "", "the connection was lost and made again (%d times)", n)
	}
	return o
}

func checkProtocol(s *subject) outcome {
	o := passed("%s (%s era) over %s", s.info.Protocol, s.info.Era, transportName(s.info.Transport))
	if s.info.Transport == mcpclient.TransportSSE {
		o.find(Warn, "", "HTTP+SSE was replaced by streamable HTTP in 2025-03-26, and clients drop it")
	}
	return o
}

func transportName(t string) string {
	switch t {
	case mcpclient.TransportStreamable:
		return "streamable HTTP"
	case mcpclient.TransportSSE:
		return "HTTP+SSE"
	}
	return t
}

func checkIdentity(s *subject) outcome {
	o := passed("the server names itself and its version")
	if strings.TrimSpace(s.info.Name) == "" {
		o.find(Warn, "", "the server does not say its name")
	}
	if strings.TrimSpace(s.info.Version) == "" {
		o.find(Warn, "", "the server does not say its version")
	}
	if len(o.findings) > 0 {
		o.summary = "the server does not say all that it is"
	}
	return o
}

func checkStdout(s *subject) outcome {
	if s.info.Transport != mcpclient.TransportStdio {
		return skipped("not for HTTP")
	}
	if s.info.Noise == 0 {
		return passed("nothing but messages on standard output")
	}
	o := passed("standard output is not kept for messages")
	o.find(Fail, "", "%d lines on standard output are no messages: clients end the session over them; log to standard error", s.info.Noise)
	return o
}

// maxInstructions is where clients are known to cut instructions off.
const maxInstructions = 2048

func checkInstructions(s *subject) outcome {
	n := utf8.RuneCountInString(s.info.Instructions)
	if n == 0 {
		return passed("none")
	}
	o := passed("%d characters", n)
	if n > maxInstructions {
		o.find(Warn, "", "they are longer than %d characters, where some clients cut them off", maxInstructions)
	}
	return o
}

// methodNotFound is the JSON-RPC code of a server that does not know tools.
const methodNotFound = -32601

func (s *subject) declares(capability string) bool {
	return slices.Contains(s.capabilities, capability)
}

// offersNoTools tells a server that is for something else.
func (s *subject) offersNoTools() bool {
	return !s.declares("tools") && s.count == 0 && s.broken == nil && (s.listErr == nil || rpcCode(s.listErr) == methodNotFound)
}

func checkToolsList(s *subject) outcome {
	switch {
	case s.offersNoTools():
		return skipped("the server offers no tools")
	case s.broken != nil || s.listErr != nil:
		return s.listFailed()
	}
	o := passed("%s listed in %s", count(s.count, "tool"), took(s.info.List))
	for _, f := range s.oddities("tools-list") {
		o.summary = "the list is not as the protocol says"
		o.find(Fail, "", "%s", f)
	}
	if s.info.List > slow {
		o.find(Warn, "", "listing the tools took longer than %s, after which some clients give up", slow)
	}
	return o
}

// listFailed tells a list that the server got wrong from one that was lost on
// the way, which says nothing about the server.
func (s *subject) listFailed() outcome {
	o := passed("the tools could not be listed")
	if s.listErr == nil {
		o.find(Error, "", "%v", s.broken)
		return o
	}
	level := Error
	switch s.listErr.Class {
	case mcpclient.ClassRPC, mcpclient.ClassProtocol, mcpclient.ClassTooLarge:
		level = Fail
	}
	o.find(level, "", "%v", s.listErr)
	return o
}

// oddityOf sorts what the client found odd about the list to the check it
// belongs to; "" is for what the checks see for themselves.
func oddityOf(finding string) string {
	switch {
	case strings.HasPrefix(finding, "tools/list repeats the cursor"):
		return "pagination"
	case strings.HasPrefix(finding, "the tool ") && strings.HasSuffix(finding, " is listed twice"):
		return "unique-names"
	case strings.HasPrefix(finding, "the inputSchema of "):
		return ""
	}
	return "tools-list"
}

// oddities lists what the client found odd that belongs to a check.
func (s *subject) oddities(check string) (list []string) {
	for _, f := range s.info.Findings {
		if oddityOf(f) == check {
			list = append(list, f)
		}
	}
	return list
}

func checkPagination(s *subject) outcome {
	if s.listErr != nil || s.broken != nil {
		return skipped("there is no list to page through")
	}
	o := passed("the list comes to an end")
	for _, f := range s.oddities("pagination") {
		o.find(Fail, "", "%s: clients that follow it never stop", f)
	}
	return o.concluded("the list does not come to an end")
}

func checkUnique(s *subject) outcome {
	if len(s.oddities("pagination")) > 0 {
		return skipped("the list repeats itself")
	}
	o := passed("no name is taken twice")
	for _, f := range s.oddities("unique-names") {
		o.find(Fail, "", "%s: model APIs refuse such a list", f)
	}
	return o.concluded("names are taken twice")
}

func checkCapabilities(s *subject) outcome {
	o := passed("%s", strings.Join(s.capabilities, ", "))
	if len(s.capabilities) == 0 {
		o.summary = "none declared"
	}
	switch {
	case s.count > 0 && !s.declares("tools"):
		o.find(Fail, "", "the server has tools but does not declare the tools capability, without which clients do not ask for them")
	case s.offersNoTools():
		o.find(Warn, "", "the server offers no tools")
	}
	return o
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
