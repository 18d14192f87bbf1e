package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Encoder appends JSON to a buffer without reflection: the bytes that
// [json.Encoder] writes with SetEscapeHTML(false), at a fraction of the time.
// A run writes each result once and a report writes it again.
//
// Every value is written with a comma behind it, which closing the list or
// object around it takes away. The first error is kept for [Encoder.Bytes].
type Encoder struct {
	buf    []byte
	err    error
	depth  int
	checks map[*Check][]byte // a check that cases share, up to its position
}

// cachedChecks bounds the checks that an [Encoder] or a [Decoder] remembers.
const cachedChecks = 4096

// Reset empties the buffer.
func (e *Encoder) Reset() { e.buf, e.err = e.buf[:0], nil }

// Cap is the size of the buffer.
func (e *Encoder) Cap() int { return cap(e.buf) }

// Bytes is what was written since [Encoder.Reset], good until the next one.
func (e *Encoder) Bytes() ([]byte, error) { return e.Since(0), e.err }

// Mark is how much was written, to be given to [Encoder.Since].
func (e *Encoder) Mark() int { return len(e.buf) }

// Since is what was written after a mark, good until more is written.
func (e *Encoder) Since(mark int) []byte { return bytes.TrimSuffix(e.buf[mark:], []byte(",")) }

// Verbatim writes a value that is JSON without spaces.
func (e *Encoder) Verbatim(b []byte) { e.buf = append(append(e.buf, b...), ',') }

// Open starts an object or a list: '{' or '['.
func (e *Encoder) Open(c byte) { e.buf = append(e.buf, c) }

// Close ends it: '}' or ']'.
func (e *Encoder) Close(c byte) {
	if n := len(e.buf) - 1; e.buf[n] == ',' {
		e.buf = e.buf[:n]
	}
	e.buf = append(e.buf, c, ',')
}

// Key starts a member whose name needs no escapes.
func (e *Encoder) Key(key string) {
	e.buf = append(append(append(e.buf, '"'), key...), '"', ':')
}

// Text writes a string.
func (e *Encoder) Text(s string) { e.buf = append(appendString(e.buf, s), ',') }

// Int writes a whole number.
func (e *Encoder) Int(n int) { e.buf = append(strconv.AppendInt(e.buf, int64(n), 10), ',') }

// Number writes a number, which must be finite.
func (e *Encoder) Number(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		e.fail(fmt.Errorf("%v is not a number in JSON", v))
		return
	}
	format := byte('f')
	if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	e.buf = strconv.AppendFloat(e.buf, v, format, -1, 64)
	if n := len(e.buf); format == 'e' && n >= 4 && string(e.buf[n-4:n-1]) == "e-0" { // e-09 is written e-9
		e.buf = append(e.buf[:n-2], e.buf[n-1])
	}
	e.buf = append(e.buf, ',')
}

// Bool writes true or false.
func (e *Encoder) Bool(v bool) { e.buf = append(strconv.AppendBool(e.buf, v), ',') }

// Raw writes JSON that is there already, without spaces.
func (e *Encoder) Raw(m json.RawMessage) {
	p := parser{data: m}
	if p.skip(); !p.bad && p.i == len(m) {
		e.buf = append(append(e.buf, m...), ',')
		return
	}
	var b bytes.Buffer
	if err := json.Compact(&b, m); err != nil {
		e.fail(err)
		return
	}
	e.buf = append(append(e.buf, b.Bytes()...), ',')
}

// Value writes anything; common types without reflection.
func (e *Encoder) Value(v any) {
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, "null,"...)
	case string:
		e.Text(v)
	case bool:
		e.Bool(v)
	case int:
		e.Int(v)
	case float64:
		e.Number(v)
	case []any:
		if v == nil || e.depth > maxDepth {
			e.reflected(v)
			return
		}
		e.depth++
		e.Open('[')
		for _, item := range v {
			e.Value(item)
		}
		e.Close(']')
		e.depth--
	case map[string]any:
		if v == nil || e.depth > maxDepth {
			e.reflected(v)
			return
		}
		e.depth++
		e.Open('{')
		for _, key := range sortedKeys(v) {
			e.buf = append(appendString(e.buf, key), ':')
			e.Value(v[key])
		}
		e.Close('}')
		e.depth--
	default:
		e.reflected(v)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// reflected leaves a value to encoding/json.
func (e *Encoder) reflected(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		e.fail(err)
		return
	}
	e.buf = append(append(e.buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), ',')
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
	e.buf = append(e.buf, "null,"...)
}

// The members below are left out where they say nothing.

// OptText writes a member unless it is empty.
func (e *Encoder) OptText(key, v string) {
	if v != "" {
		e.Key(key)
		e.Text(v)
	}
}

// OptInt writes a member unless it is 0.
func (e *Encoder) OptInt(key string, n int) {
	if n != 0 {
		e.Key(key)
		e.Int(n)
	}
}

// OptNumber writes a member unless it is 0.
func (e *Encoder) OptNumber(key string, v float64) {
	if v != 0 {
		e.Key(key)
		e.Number(v)
	}
}

// OptBool writes a member if it is true.
func (e *Encoder) OptBool(key string, v bool) {
	if v {
		e.Key(key)
		e.Bool(v)
	}
}

// OptRaw writes a member unless it is empty.
func (e *Encoder) OptRaw(key string, m json.RawMessage) {
	if len(m) > 0 {
		e.Key(key)
		e.Raw(m)
	}
}

// OptMap writes a member unless it is empty.
func (e *Encoder) OptMap(key string, m map[string]any) {
	if len(m) > 0 {
		e.Key(key)
		e.Value(m)
	}
}

// OptTexts writes a list unless it is empty.
func (e *Encoder) OptTexts(key string, list []string) {
	optList(e, key, list, func(e *Encoder, s *string) { e.Text(*s) })
}

func optList[T any](e *Encoder, key string, list []T, write func(*Encoder, *T)) {
	if len(list) == 0 {
		return
	}
	e.Key(key)
	e.Open('[')
	for i := range list {
		write(e, &list[i])
	}
	e.Close(']')
}

// OptPos writes a position unless it is not known.
func (e *Encoder) OptPos(key string, p Pos) {
	if p == (Pos{}) {
		return
	}
	e.Key(key)
	e.Open('{')
	e.OptText("file", p.File)
	e.OptInt("line", p.Line)
	e.OptInt("col", p.Col)
	e.Close('}')
}

// OptUsage writes what calls consumed, if there were any.
func (e *Encoder) OptUsage(key string, u *Usage) {
	if u == nil {
		return
	}
	e.Key(key)
	e.Open('{')
	e.Key("calls")
	e.Int(u.Calls)
	e.Key("input")
	e.Int(u.Input)
	e.Key("output")
	e.Int(u.Output)
	e.OptInt("cache_read", u.CacheRead)
	e.OptInt("cache_write", u.CacheWrite)
	e.Key("cost_usd")
	e.buf = append(strconv.AppendFloat(e.buf, u.Cost.Float(), 'f', -1, 64), ',')
	e.OptInt("unpriced_calls", u.Unpriced)
	e.Close('}')
}

// OptFault writes why there is no verdict, where there is none.
func (e *Encoder) OptFault(key string, f *Fault) {
	if f == nil {
		return
	}
	e.Key(key)
	e.Open('{')
	e.Key("class")
	e.Text(f.Class)
	e.Key("message")
	e.Text(f.Message)
	e.OptUsage("usage", f.Usage)
	e.OptInt("attempts", f.Attempts)
	e.Close('}')
}

// OptFindings writes a list unless it is empty.
func (e *Encoder) OptFindings(key string, list []Finding) {
	optList(e, key, list, func(e *Encoder, f *Finding) {
		e.Open('{')
		e.Key("message")
		e.Text(f.Message)
		e.OptPos("pos", f.Pos)
		e.Close('}')
	})
}

// OptScores writes a list unless it is empty.
func (e *Encoder) OptScores(key string, list []Score) { optList(e, key, list, (*Encoder).Score) }

// Score writes a score; one that does not count has no value.
func (e *Encoder) Score(s *Score) {
	e.Open('{')
	e.Key("key")
	e.Text(s.Key)
	e.Key("kind")
	e.Text(s.Kind)
	e.Key("status")
	e.Text(string(s.Status))
	if s.Counts() {
		e.Key("value")
		e.Number(s.Value)
	}
	e.OptNumber("weight", s.Weight)
	e.OptText("severity", string(s.Severity))
	e.OptText("reason", s.Reason)
	e.OptMap("details", s.Details)
	e.OptFindings("findings", s.Findings)
	e.OptScores("checks", s.Checks)
	e.OptUsage("usage", s.Usage)
	e.OptNumber("duration_ms", Millis(s.Duration))
	e.OptText("mode", s.Mode)
	e.OptBool("implicit", s.Implicit)
	e.OptBool("negated", s.Negated)
	e.OptText("stop", s.Stop)
	e.Close('}')
}

// Result writes a result: the identity first, so that a reader who wants no
// more need not read on. A run keeps the context of a response under a digest
// instead; it is "" where the context is to be written.
func (e *Encoder) Result(r *Result, contextDigest string) {
	e.Open('{')
	id := Identity{Arm: r.Arm, Trial: r.Trial}
	if r.Case != nil {
		id.Case, id.Suite = r.Case.ID, r.Case.Suite
	}
	e.OptText("suite", id.Suite)
	e.Key("case")
	e.Text(id.Case)
	e.OptText("arm", id.Arm)
	e.Key("trial")
	e.Int(id.Trial)
	e.OptText("target", r.Target)
	e.Key("status")
	e.Text(string(r.Status))
	e.Key("value")
	e.Number(r.Value)
	e.Key("started")
	e.time(r.Started)
	e.Key("duration_ms")
	e.Number(Millis(r.Duration))
	if r.Response != nil {
		e.OptNumber("latency_ms", Millis(r.Response.Latency))
	}
	e.OptScores("scores", r.Scores)
	e.OptFault("error", r.Fault)
	if r.Response != nil {
		e.Key("response")
		e.response(r.Response, contextDigest)
	}
	optList(e, "events", r.Events, (*Encoder).event)
	e.OptTexts("notes", r.Notes)
	e.Close('}')
}

func (e *Encoder) time(t time.Time) {
	b, err := t.AppendText(append(e.buf, '"'))
	if err != nil {
		e.fail(err)
		return
	}
	e.buf = append(b, '"', ',')
}

func (e *Encoder) response(r *Response, contextDigest string) {
	e.Open('{')
	e.Key("text")
	e.Text(r.Text)
	e.OptText("raw", r.Raw)
	e.OptRaw("structured", r.Structured)
	e.OptBool("is_error", r.IsError)
	e.OptMap("meta", r.Meta)
	e.OptText("meta_broken", r.MetaBroken)
	optList(e, "sources", r.Sources, func(e *Encoder, s *Source) {
		e.Open('{')
		e.OptInt("n", s.N)
		e.OptText("title", s.Title)
		e.OptText("url", s.URL)
		e.Close('}')
	})
	optList(e, "steps", r.Steps, (*Encoder).step)
	if contextDigest == "" {
		e.OptText("context", r.Context)
	}
	optList(e, "artifacts", r.Artifacts, func(e *Encoder, a *Artifact) {
		e.Open('{')
		e.Key("name")
		e.Text(a.Name)
		e.Key("digest")
		e.Text(a.Digest)
		e.Key("size")
		e.Int(a.Size)
		e.Close('}')
	})
	e.OptUsage("usage", r.Usage)
	e.OptText("model", r.Model)
	e.OptInt("attempts", r.Attempts)
	e.OptTexts("retries", r.Retries)
	e.OptTexts("notes", r.Notes)
	if x := r.Exchange; x != nil {
		e.Key("exchange")
		e.Open('{')
		e.OptRaw("request", x.Request)
		e.OptRaw("response", x.Response)
		e.Close('}')
	}
	e.OptText("context_digest", contextDigest)
	e.Close('}')
}

func (e *Encoder) step(s *Step) {
	e.Open('{')
	e.OptText("id", s.ID)
	e.Key("kind")
	e.Text(string(s.Kind))
	e.OptText("name", s.Name)
	e.OptRaw("args", s.Args)
	e.OptText("text", s.Text)
	e.OptBool("error", s.Error)
	e.OptText("answers", s.Answers)
	e.Key("start_ms")
	e.Number(Millis(s.Start))
	e.Key("duration_ms")
	e.Number(Millis(s.Duration))
	e.OptUsage("usage", s.Usage)
	e.Close('}')
}

func (e *Encoder) event(v *Event) {
	e.Open('{')
	e.Key("id")
	e.Int(v.ID)
	e.OptInt("parent", v.Parent)
	e.Key("kind")
	e.Text(string(v.Kind))
	e.OptText("name", v.Name)
	e.Key("start_ms")
	e.Number(Millis(v.Start))
	e.Key("duration_ms")
	e.Number(Millis(v.Duration))
	e.OptUsage("usage", v.Usage)
	e.OptText("error", v.Error)
	e.Close('}')
}

// Case writes a case, each check with its position in it.
func (e *Encoder) Case(c *Case) {
	e.Open('{')
	e.Key("id")
	e.Text(c.ID)
	e.OptText("name", c.Name)
	e.OptText("description", c.Description)
	e.OptText("suite", c.Suite)
	e.OptText("project", c.Project)
	e.OptText("tool", c.Tool)
	e.OptText("difficulty", string(c.Difficulty))
	e.OptTexts("tags", c.Tags)
	e.OptRaw("input", c.Input)
	e.OptText("target", c.Target)
	e.OptInt("trials", c.Trials)
	if len(c.Checks) > 0 {
		e.Key("checks")
		e.Open('[')
		for i, check := range c.Checks {
			e.check(check, c.CheckPos(i))
		}
		e.Close(']')
	}
	e.OptPos("pos", c.Pos)
	e.Close('}')
}

// check writes a check. Spelling its rule out costs much more than the rest of
// a case, so what was written of a check is kept for the next case that has it.
func (e *Encoder) check(c *Check, pos Pos) {
	if b, ok := e.checks[c]; ok {
		e.buf = append(e.buf, b...)
	} else {
		from := len(e.buf)
		e.Open('{')
		e.Key("key")
		e.Text(c.Key)
		e.Key("kind")
		e.Text(c.Kind)
		e.OptNumber("weight", c.Weight)
		e.OptText("severity", string(c.Severity))
		e.OptText("mode", c.Mode)
		e.OptBool("implicit", c.Implicit)
		e.OptText("skip", c.Skip)
		e.OptRaw("rule", c.Rule())
		if e.checks == nil {
			e.checks = map[*Check][]byte{}
		}
		if len(e.checks) < cachedChecks && e.err == nil {
			e.checks[c] = bytes.Clone(e.buf[from:])
		}
	}
	e.OptPos("pos", pos)
	e.Close('}')
}

// Verdicts writes the compact outcomes of cases.
func (e *Encoder) Verdicts(list []Verdicts) {
	e.Open('[')
	for i := range list {
		v := &list[i]
		e.Open('{')
		e.OptText("suite", v.Suite)
		e.Key("case")
		e.Text(v.Case)
		e.OptText("arm", v.Arm)
		e.Key("trials")
		e.Open('[')
		for _, status := range v.Trials {
			e.Text(string(status))
		}
		e.Close(']')
		optList(e, "values", v.Values, (*Encoder).optional)
		if len(v.Scores) > 0 {
			e.Key("scores")
			e.Open('{')
			for _, key := range sortedKeys(v.Scores) {
				e.buf = append(appendString(e.buf, key), ':', '[')
				for i := range v.Scores[key] {
					e.optional(&v.Scores[key][i])
				}
				e.Close(']')
			}
			e.Close('}')
		}
		e.Close('}')
	}
	e.Close(']')
}

func (e *Encoder) optional(n *Number) {
	if math.IsNaN(float64(*n)) {
		e.Value(nil)
		return
	}
	e.Number(float64(*n))
}

// marshal is what the MarshalJSON methods return.
func marshal(write func(*Encoder)) ([]byte, error) {
	var e Encoder
	write(&e)
	return e.Bytes()
}

const hexDigits = "0123456789abcdef"

// appendString quotes a string as encoding/json does: bytes that are not UTF-8
// become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(s)
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			return append(dst, '"')
		}
		r, size := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s)
		}
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\r':
			dst = append(dst, '\\', 'r')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r == '\b':
			dst = append(dst, '\\', 'b')
		case r == '\f':
			dst = append(dst, '\\', 'f')
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		case r == utf8.RuneError && size == 1:
			dst = append(dst, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
}

// plainPrefix is how many bytes at the start of s stand for themselves in JSON:
// ASCII but controls, quotes and backslashes. It looks at eight at a time.
func plainPrefix[T string | []byte](s T) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// The first byte that is special gets its high bit set; a borrow can
		// only reach those after it.
		special := (w | (w - ' '*ones) | ((w ^ '"'*ones) - ones) | ((w ^ '\\'*ones) - ones)) & high
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}
