package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Decoder reads the lines of a run. It knows the order in which [Encoder]
// writes members, so that it reads a line once and without reflection; a line
// that is written any other way goes to encoding/json. What many lines share
// is made once: names, and the checks that cases have in common.
//
// The zero value is ready to use. It is not safe for concurrent use.
type Decoder struct {
	names  [256]string       // the last ones read, each at a place that follows from its bytes
	checks map[string]*Check // by their JSON up to the position
	text   []byte
	scores int // of the last result: the next one most likely has as many
}

// nameBytes bounds the names that a [Decoder] remembers.
const nameBytes = 80

// Identity reads which result a line is and how it ended, and no further.
func (d *Decoder) Identity(line []byte) (id Identity, status Status, err error) {
	p := d.parse(line)
	p.open('{')
	p.identity(&id)
	var target string
	optName(p, "target", &target)
	optName(p, "status", &status)
	if (p.at() == ',' || p.at() == '}') && id.Case != "" && id.Trial > 0 && status != "" {
		return id, status, nil
	}
	var j struct {
		Identity
		Status Status `json:"status"`
	}
	err = json.Unmarshal(line, &j)
	return j.Identity, j.Status, err
}

// Result reads the result of a case; without one, its case has only its id and
// suite. contextDigest is the key of the response's context, "" where the context
// is in the line.
func (d *Decoder) Result(line []byte, c *Case) (r *Result, contextDigest string, err error) {
	p := d.parse(line)
	r = &Result{Case: c}
	var id Identity
	if contextDigest = p.result(r, &id); !p.done() {
		var j resultJSON
		if err := json.Unmarshal(line, &j); err != nil {
			return nil, "", err
		}
		r, contextDigest = j.result()
		id, r.Case = Identity{Suite: j.Suite, Case: j.Case}, c
	}
	switch {
	case c == nil:
		r.Case = &Case{ID: id.Case, Suite: id.Suite}
	case c.ID != id.Case:
		return nil, "", fmt.Errorf("found a result of case %q, want one of %q", id.Case, c.ID)
	}
	return r, contextDigest, nil
}

// Case reads a case. Its checks have rules but no graders; cases may share
// them, so that their positions are in [Case.Places].
func (d *Decoder) Case(line []byte) (*Case, error) {
	p := d.parse(line)
	c := new(Case)
	if p.wholeCase(c); p.done() {
		return c, nil
	}
	type plain Case
	c = new(Case)
	err := json.Unmarshal(line, (*plain)(c))
	if err == nil && slices.Contains(c.Checks, nil) {
		err = errors.New("a check is null")
	}
	return c, err
}

// Verdicts reads the compact outcomes of cases.
func (d *Decoder) Verdicts(b []byte) (list []Verdicts, err error) {
	p := d.parse(b)
	if list = items(p, nil, (*parser).verdicts); !p.done() {
		list = nil
		err = json.Unmarshal(b, &list)
	}
	return list, err
}

func (d *Decoder) parse(line []byte) *parser {
	return &parser{Decoder: d, data: bytes.TrimRight(line, " \t\r\n")}
}

// name gives a string that many lines have.
func (d *Decoder) name(b []byte) string {
	if len(b) == 0 || len(b) > nameBytes {
		return string(b)
	}
	known := &d.names[byte(len(b))*7+b[0]*31+b[len(b)-1]*13+b[len(b)/2]]
	if *known != string(b) {
		*known = string(b)
	}
	return *known
}

// parser reads JSON in the one form that [Encoder] writes it in: no spaces, and
// members in the order in which they are asked for. Anything else sets bad, and
// its caller starts anew with encoding/json.
type parser struct {
	*Decoder
	data  []byte
	i     int
	first bool // nothing was read yet of the innermost object or list
	bad   bool
	depth int
}

// maxDepth bounds the recursion; deeper values are left to encoding/json.
const maxDepth = 200

func (p *parser) done() bool { return !p.bad && p.i == len(p.data) }

// at is the next byte, 0 at the end.
func (p *parser) at() byte {
	if p.bad || p.i >= len(p.data) {
		return 0
	}
	return p.data[p.i]
}

func (p *parser) expect(c byte) {
	if p.at() != c {
		p.bad = true
		return
	}
	p.i++
}

func (p *parser) open(c byte) {
	p.expect(c)
	p.first = true
}

func (p *parser) close(c byte) {
	p.expect(c)
	p.first = false
}

// has tells whether the next member is key, and goes to its value.
func (p *parser) has(key string) bool {
	i := p.i
	if p.bad {
		return false
	}
	if !p.first {
		if i >= len(p.data) || p.data[i] != ',' {
			return false
		}
		i++
	}
	end := i + len(key) + 3
	if end > len(p.data) || p.data[i] != '"' || string(p.data[i+1:end-2]) != key || p.data[end-2] != '"' || p.data[end-1] != ':' {
		return false
	}
	p.i, p.first = end, false
	return true
}

// more tells whether the list or object goes on, and goes to its next item.
func (p *parser) more(closing byte) bool {
	switch {
	case p.at() == closing, p.at() == 0:
		p.close(closing)
		return false
	case !p.first:
		p.expect(',')
	}
	p.first = false
	return !p.bad
}

// items reads a list into one that is empty.
func items[T any](p *parser, out []T, read func(*parser, *T)) []T {
	p.open('[')
	if out == nil {
		out = []T{}
	}
	for p.more(']') {
		out = append(out, *new(T))
		read(p, &out[len(out)-1])
	}
	return out
}

// bytes reads a string; what it returns is good until the next call.
func (p *parser) bytes() []byte {
	p.expect('"')
	if p.bad {
		return nil
	}
	from := p.i
	p.i += plainPrefix(p.data[p.i:])
	if p.at() == '"' {
		p.i++
		return p.data[from : p.i-1]
	}
	p.text = append(p.text[:0], p.data[from:p.i]...)
	for !p.bad {
		n := plainPrefix(p.data[p.i:])
		p.text = append(p.text, p.data[p.i:p.i+n]...)
		p.i += n
		switch c := p.at(); {
		case c == '"':
			p.i++
			return p.text
		case c == '\\':
			p.escape()
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(p.data[p.i:])
			p.bad = r == utf8.RuneError && size == 1
			p.text = append(p.text, p.data[p.i:p.i+size]...)
			p.i += size
		default:
			p.bad = true
		}
	}
	return nil
}

// escape reads an escape into p.text. Half a surrogate pair is bad.
func (p *parser) escape() {
	p.i++
	c := p.at()
	p.i++
	if k := strings.IndexByte(`"\/bfnrt`, c); k >= 0 && c != 0 {
		p.text = append(p.text, "\"\\/\b\f\n\r\t"[k])
		return
	}
	r := p.hex(c)
	if utf16.IsSurrogate(r) {
		p.expect('\\')
		c = p.at()
		p.i++
		r = utf16.DecodeRune(r, p.hex(c))
		p.bad = p.bad || r == utf8.RuneError
	}
	p.text = utf8.AppendRune(p.text, r)
}

// hex reads the four digits after the u of an escape.
func (p *parser) hex(u byte) rune {
	if u != 'u' || p.i+4 > len(p.data) {
		p.bad = true
		return 0
	}
	var r rune
	for range 4 {
		digit := strings.IndexByte(hexDigits, p.data[p.i]|0x20) // upper case too, and no digit becomes another
		p.bad = p.bad || digit < 0
		r = r<<4 | rune(digit&15)
		p.i++
	}
	return r
}

func (p *parser) string() string { return string(p.bytes()) }

func (p *parser) textItem(into *string) { *into = p.string() }

func (p *parser) nameItem(into *string) { *into = p.name(p.bytes()) }

func (p *parser) literal(s string) {
	if !bytes.HasPrefix(p.data[p.i:], []byte(s)) {
		p.bad = true
		return
	}
	p.i += len(s)
}

func (p *parser) bool() bool {
	if p.at() == 't' {
		p.literal("true")
		return true
	}
	p.literal("false")
	return false
}

// digits goes over digits and tells how many there were.
func (p *parser) digits() int {
	from := p.i
	for p.i < len(p.data) && p.data[p.i]-'0' <= 9 {
		p.i++
	}
	return p.i - from
}

// number reads a number. Short ones are exact without [strconv.ParseFloat]: the
// digits fit into a float64, and so does the power of ten they are divided by.
func (p *parser) number() float64 {
	from := p.i
	if p.at() == '-' {
		p.i++
	}
	whole := p.i
	if n := p.digits(); n == 0 || (n > 1 && p.data[whole] == '0') {
		p.bad = true
		return 0
	}
	point, fraction := p.i, 0
	if p.at() == '.' {
		p.i++
		if fraction = p.digits(); fraction == 0 {
			p.bad = true
			return 0
		}
	}
	end := p.i
	if c := p.at(); c == 'e' || c == 'E' || end-whole > 16 {
		return p.float(from)
	}
	var n uint64
	for i := whole; i < end; i++ {
		if i != point {
			n = n*10 + uint64(p.data[i]-'0')
		}
	}
	if n > 1<<53 {
		return p.float(from)
	}
	v := float64(n) / powers[fraction]
	if whole > from {
		v = -v
	}
	return v
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16}

// float reads the number that starts at from and has its exponent ahead.
func (p *parser) float(from int) float64 {
	if c := p.at(); c == 'e' || c == 'E' {
		p.i++
		if c := p.at(); c == '+' || c == '-' {
			p.i++
		}
		p.bad = p.digits() == 0
	}
	v, err := strconv.ParseFloat(string(p.data[from:p.i]), 64)
	p.bad = p.bad || err != nil
	return v
}

func (p *parser) int() int {
	from := p.i
	v := p.number()
	for _, c := range p.data[from:p.i] {
		p.bad = p.bad || c == '.' || c == 'e' || c == 'E'
	}
	p.bad = p.bad || math.Abs(v) > 1<<53
	return int(v)
}

// raw copies a value as it is.
func (p *parser) raw() json.RawMessage {
	from := p.i
	p.skip()
	if p.bad {
		return nil
	}
	return bytes.Clone(p.data[from:p.i])
}

// skip goes over a value.
func (p *parser) skip() {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
	}
	switch c := p.at(); c {
	case '"':
		p.skipString()
	case '{', '[':
		p.open(c)
		for p.more(c + 2) { // the closing one is two further in ASCII
			if c == '{' {
				p.skipString()
				p.expect(':')
			}
			p.skip()
		}
	case 't', 'f':
		p.bool()
	case 'n':
		p.literal("null")
	default:
		p.number()
	}
	p.depth--
}

// skipString goes over a string. Bytes that are not UTF-8 may be in it, as raw
// values keep them.
func (p *parser) skipString() {
	p.expect('"')
	for !p.bad {
		p.i += plainPrefix(p.data[min(p.i, len(p.data)):])
		switch c := p.at(); {
		case c == '"':
			p.i++
			return
		case c >= utf8.RuneSelf:
			p.i++
		case c == '\\':
			p.i++
			if c = p.at(); c == 'u' {
				p.i++
				p.hex(c)
				continue
			}
			p.bad = c == 0 || strings.IndexByte(`"\/bfnrt`, c) < 0
			p.i++
		default:
			p.bad = true
		}
	}
}

// any reads a value as encoding/json gives it.
func (p *parser) any() (v any) {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
	}
	switch p.at() {
	case '"':
		v = p.string()
	case '{':
		v = p.object()
	case '[':
		v = items(p, nil, func(p *parser, v *any) { *v = p.any() })
	case 't', 'f':
		v = p.bool()
	case 'n':
		p.literal("null")
	default:
		v = p.number()
	}
	p.depth--
	return v
}

func (p *parser) object() map[string]any {
	m := map[string]any{}
	p.open('{')
	for p.more('}') {
		key := p.name(p.bytes())
		p.expect(':')
		m[key] = p.any()
	}
	return m
}

// The members below may be missing.

func (p *parser) optString(key string, into *string) {
	if p.has(key) {
		*into = p.string()
	}
}

func optName[T ~string](p *parser, key string, into *T) {
	if p.has(key) {
		*into = T(p.name(p.bytes()))
	}
}

func (p *parser) optInt(key string, into *int) {
	if p.has(key) {
		*into = p.int()
	}
}

func (p *parser) optNumber(key string, into *float64) {
	if p.has(key) {
		*into = p.number()
	}
}

func (p *parser) optMillis(key string, into *time.Duration) {
	if p.has(key) {
		*into = fromMillis(p.number())
	}
}

func (p *parser) optBool(key string, into *bool) {
	if p.has(key) {
		*into = p.bool()
	}
}

func (p *parser) optRaw(key string, into *json.RawMessage) {
	if p.has(key) {
		*into = p.raw()
	}
}

func (p *parser) optMap(key string, into *map[string]any) {
	if p.has(key) {
		*into = p.object()
	}
}

func optItems[T any](p *parser, key string, into *[]T, read func(*parser, *T)) {
	if p.has(key) {
		*into = items(p, *into, read)
	}
}

func (p *parser) optPos(key string, pos *Pos) {
	if !p.has(key) {
		return
	}
	p.open('{')
	optName(p, "file", &pos.File)
	p.optInt("line", &pos.Line)
	p.optInt("col", &pos.Col)
	p.close('}')
}

func (p *parser) optUsage(into **Usage) {
	if !p.has("usage") {
		return
	}
	u := new(Usage)
	*into = u
	p.open('{')
	p.optInt("calls", &u.Calls)
	p.optInt("input", &u.Input)
	p.optInt("output", &u.Output)
	p.optInt("cache_read", &u.CacheRead)
	p.optInt("cache_write", &u.CacheWrite)
	if p.has("cost_usd") {
		u.Cost = Dollars(p.number())
	}
	p.optInt("unpriced_calls", &u.Unpriced)
	p.close('}')
}

func (p *parser) identity(id *Identity) {
	optName(p, "suite", &id.Suite)
	optName(p, "case", &id.Case)
	optName(p, "arm", &id.Arm)
	p.optInt("trial", &id.Trial)
}

func (p *parser) result(r *Result, id *Identity) (contextDigest string) {
	var latency time.Duration
	var times []Step
	p.open('{')
	p.identity(id)
	r.Arm, r.Trial = id.Arm, id.Trial
	optName(p, "target", &r.Target)
	optName(p, "status", &r.Status)
	p.optNumber("value", &r.Value)
	if p.has("started") {
		p.bad = p.bad || r.Started.UnmarshalText(p.bytes()) != nil
	}
	p.optMillis("duration_ms", &r.Duration)
	p.optMillis("latency_ms", &latency)
	if p.has("scores") {
		r.Scores = items(p, make([]Score, 0, p.scores), (*parser).score)
		p.scores = min(len(r.Scores), 64)
	}
	if p.has("error") {
		r.Fault = p.fault()
	}
	if p.has("response") {
		r.Response = new(Response)
		contextDigest = p.response(r.Response)
		r.Response.Latency = latency
	}
	optItems(p, "steps", &times, (*parser).step) // format 1: the times of the response's steps
	optItems(p, "events", &r.Events, (*parser).event)
	optItems(p, "notes", &r.Notes, (*parser).textItem)
	p.close('}')
	r.setTimes(times)
	return contextDigest
}

func (p *parser) fault() *Fault {
	f := new(Fault)
	p.open('{')
	optName(p, "class", &f.Class)
	p.optString("message", &f.Message)
	p.optUsage(&f.Usage)
	p.optInt("attempts", &f.Attempts)
	p.close('}')
	return f
}

func (p *parser) score(s *Score) {
	if p.depth++; p.depth > maxDepth {
		p.bad = true
	}
	p.open('{')
	optName(p, "key", &s.Key)
	optName(p, "kind", &s.Kind)
	optName(p, "status", &s.Status)
	p.optNumber("value", &s.Value)
	p.optNumber("weight", &s.Weight)
	optName(p, "severity", &s.Severity)
	p.optString("reason", &s.Reason)
	p.optMap("details", &s.Details)
	optItems(p, "findings", &s.Findings, (*parser).finding)
	optItems(p, "checks", &s.Checks, (*parser).score)
	p.optUsage(&s.Usage)
	p.optMillis("duration_ms", &s.Duration)
	optName(p, "mode", &s.Mode)
	p.optBool("implicit", &s.Implicit)
	p.optBool("negated", &s.Negated)
	p.optString("stop", &s.Stop)
	p.close('}')
	p.depth--
}

func (p *parser) finding(f *Finding) {
	p.open('{')
	p.optString("message", &f.Message)
	p.optPos("pos", &f.Pos)
	p.close('}')
}

func (p *parser) response(r *Response) (contextDigest string) {
	p.open('{')
	p.optString("text", &r.Text)
	p.optString("raw", &r.Raw)
	p.optRaw("structured", &r.Structured)
	p.optBool("is_error", &r.IsError)
	p.optMap("meta", &r.Meta)
	p.optString("meta_broken", &r.MetaBroken)
	optItems(p, "sources", &r.Sources, (*parser).source)
	optItems(p, "steps", &r.Steps, (*parser).step)
	p.optString("context", &r.Context)
	optItems(p, "artifacts", &r.Artifacts, (*parser).artifact)
	p.optUsage(&r.Usage)
	optName(p, "model", &r.Model)
	p.optInt("attempts", &r.Attempts)
	optItems(p, "retries", &r.Retries, (*parser).textItem)
	optItems(p, "notes", &r.Notes, (*parser).textItem)
	if p.has("exchange") {
		r.Exchange = p.exchange()
	}
	optName(p, "context_digest", &contextDigest)
	p.close('}')
	return contextDigest
}

func (p *parser) source(s *Source) {
	p.open('{')
	p.optInt("n", &s.N)
	p.optString("title", &s.Title)
	p.optString("url", &s.URL)
	p.close('}')
}

func (p *parser) artifact(a *Artifact) {
	p.open('{')
	p.optString("name", &a.Name)
	p.optString("digest", &a.Digest)
	p.optInt("size", &a.Size)
	p.close('}')
}

func (p *parser) exchange() *Exchange {
	x := new(Exchange)
	p.open('{')
	p.optRaw("request", &x.Request)
	p.optRaw("response", &x.Response)
	p.close('}')
	return x
}

func (p *parser) step(s *Step) {
	p.open('{')
	p.optString("id", &s.ID)
	optName(p, "kind", &s.Kind)
	optName(p, "name", &s.Name)
	p.optRaw("args", &s.Args)
	p.optString("text", &s.Text)
	p.optBool("error", &s.Error)
	p.optString("answers", &s.Answers)
	p.optMillis("start_ms", &s.Start)
	p.optMillis("duration_ms", &s.Duration)
	p.optUsage(&s.Usage)
	p.close('}')
}

func (p *parser) event(e *Event) {
	p.open('{')
	p.optInt("id", &e.ID)
	p.optInt("parent", &e.Parent)
	optName(p, "kind", &e.Kind)
	optName(p, "name", &e.Name)
	p.optMillis("start_ms", &e.Start)
	p.optMillis("duration_ms", &e.Duration)
	p.optUsage(&e.Usage)
	p.optString("error", &e.Error)
	p.close('}')
}

func (p *parser) wholeCase(c *Case) {
	p.open('{')
	optName(p, "id", &c.ID)
	optName(p, "name", &c.Name)
	p.optString("description", &c.Description)
	optName(p, "suite", &c.Suite)
	optName(p, "project", &c.Project)
	optName(p, "tool", &c.Tool)
	optName(p, "difficulty", &c.Difficulty)
	optItems(p, "tags", &c.Tags, (*parser).nameItem)
	p.optRaw("input", &c.Input)
	optName(p, "target", &c.Target)
	p.optInt("trials", &c.Trials)
	var places []Pos
	if p.has("checks") {
		p.open('[')
		for p.more(']') {
			check, pos := p.check()
			c.Checks, places = append(c.Checks, check), append(places, pos)
		}
	}
	p.optPos("pos", &c.Pos)
	p.close('}')
	c.place(places)
}

func (p *parser) verdicts(v *Verdicts) {
	p.open('{')
	optName(p, "suite", &v.Suite)
	p.optString("case", &v.Case)
	optName(p, "arm", &v.Arm)
	v.Trials = make([]Status, 0, 1)
	optItems(p, "trials", &v.Trials, func(p *parser, s *Status) { *s = Status(p.name(p.bytes())) })
	v.Values = make([]Number, 0, 1)
	optItems(p, "values", &v.Values, (*parser).optional)
	if p.has("scores") {
		v.Scores = map[string][]Number{}
		p.open('{')
		for p.more('}') {
			key := p.name(p.bytes())
			p.expect(':')
			v.Scores[key] = items(p, nil, (*parser).optional)
		}
	}
	p.close('}')
}

// optional reads a number, or null for one that is missing.
func (p *parser) optional(n *Number) {
	if p.at() == 'n' {
		p.literal("null")
		*n = NoNumber
		return
	}
	*n = Number(p.number())
}

// place gives the checks of a case their positions. One from another file gets
// a copy of the check, which has the whole position.
func (c *Case) place(positions []Pos) {
	for i, pos := range positions {
		place := Place{int32(pos.Line), int32(pos.Col)}
		switch same := (Pos{c.Pos.File, int(place.Line), int(place.Col)}); {
		case pos == Pos{} || pos == c.Checks[i].Pos:
		case pos == same && place != Place{}:
			if c.Places == nil {
				c.Places = make([]Place, len(positions))
			}
			c.Places[i] = place
		default:
			own := *c.Checks[i]
			own.Pos = pos
			c.Checks[i] = &own
		}
	}
}

// check reads a check and its position. One that was read before, at another
// position, is the same check.
func (p *parser) check() (c *Check, pos Pos) {
	from := p.i
	p.skip()
	if p.bad {
		return nil, pos
	}
	text := p.data[from:p.i]
	key := text[:len(text)-1]
	const member = `,"pos":`
	if i := bytes.LastIndexByte(text, '{') - len(member); i > 0 && string(text[i:i+len(member)]) == member {
		at := parser{Decoder: p.Decoder, data: text, i: i}
		at.optPos("pos", &pos)
		if at.expect('}'); at.done() {
			key = text[:i]
		} else {
			pos = Pos{}
		}
	}
	if c = p.checks[string(key)]; c != nil {
		return c, pos
	}
	c = new(Check)
	own := parser{Decoder: p.Decoder, data: append(key[:len(key):len(key)], '}')}
	if own.checkMembers(c); !own.done() {
		*c = Check{}
		p.bad = json.Unmarshal(own.data, c) != nil
	}
	if p.checks == nil {
		p.checks = map[string]*Check{}
	}
	if len(p.checks) < cachedChecks {
		p.checks[string(key)] = c
	}
	return c, pos
}

func (p *parser) checkMembers(c *Check) {
	p.open('{')
	optName(p, "key", &c.Key)
	optName(p, "kind", &c.Kind)
	p.optNumber("weight", &c.Weight)
	optName(p, "severity", &c.Severity)
	optName(p, "mode", &c.Mode)
	p.optBool("implicit", &c.Implicit)
	p.optString("skip", &c.Skip)
	p.optRaw("rule", &c.rule)
	p.close('}')
	if c.rule == nil || p.bad {
		return
	}
	rule := parser{Decoder: p.Decoder, data: c.rule}
	rule.open('{')
	var kind string
	optName(&rule, "type", &kind)
	rule.optBool("not", &c.Not)
	optName(&rule, "of", &c.Of)
	for rule.more('}') { // parameters of the kind, none of them called not or of
		key := string(rule.bytes())
		rule.expect(':')
		rule.skip()
		p.bad = p.bad || strings.EqualFold(key, "not") || strings.EqualFold(key, "of")
	}
	p.bad = p.bad || !rule.done()
}
