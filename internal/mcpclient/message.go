package mcpclient

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A message is a JSON-RPC message cut into its members without copying: the
// slices point into the bytes it was read from. An absent member is nil.
type message struct {
	jsonrpc, id, method, params, result, err []byte
}

// parseMessage reads a message. It reports false when b is no JSON object.
func parseMessage(b []byte) (message, bool) {
	var m message
	if !valid(b) {
		return m, false
	}
	ok := fields(b, func(key string, value []byte) {
		switch key {
		case "jsonrpc":
			m.jsonrpc = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	})
	return m, ok
}

// isResponse reports whether m answers something, well formed or not.
func (m *message) isResponse() bool {
	return m.method == nil && (m.result != nil || m.err != nil || m.id != nil && m.jsonrpc != nil)
}

// hasVersion reports whether m says that it is JSON-RPC 2.0.
func (m *message) hasVersion() bool { return string(m.jsonrpc) == `"2.0"` }

// number gives the id as an integer; 7.0 counts, as some languages know no
// other numbers.
func (m *message) number() (int64, bool) {
	if n, err := strconv.ParseInt(string(m.id), 10, 64); err == nil {
		return n, true
	}
	if len(m.id) == 0 || m.id[0] == '"' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(m.id), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// quotedNumber gives the id of a server that echoes 7 as "7".
func (m *message) quotedNumber() (int64, bool) {
	if len(m.id) < 3 || m.id[0] != '"' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(m.id[1:len(m.id)-1]), 10, 64)
	return n, err == nil
}

// anonymous reports whether the id is absent or null, as in the error that
// answers a message the server could not read.
func (m *message) anonymous() bool { return m.id == nil || string(m.id) == "null" }

// answer judges a response that is known to belong to a request: its result,
// or what is wrong with it.
func (m *message) answer() ([]byte, *fault) {
	if !m.hasVersion() {
		return nil, protocolFault(`the answer does not say "jsonrpc":"2.0"`)
	}
	if m.err != nil && string(m.err) != "null" {
		return nil, errorFault(m.err)
	}
	if m.result == nil {
		return nil, protocolFault("the answer has neither result nor error")
	}
	return m.result, nil
}

// errorFault reads the error member of a response. One that is not shaped as
// JSON-RPC asks is a protocol fault: nothing can be decided by its code.
func errorFault(raw []byte) *fault {
	var e struct {
		Code    *int64          `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &e); err != nil || e.Code == nil {
		return &fault{class: ClassProtocol, text: "the answer is a malformed JSON-RPC error", body: string(raw)}
	}
	return &fault{class: ClassRPC, rpc: &RPCError{Code: *e.Code, Message: e.Message, Data: e.Data}}
}

// excerptSize is how much of a foreign text an error quotes.
const excerptSize = 200

// fields calls yield with every member of a JSON object, in order. The value
// points into b. b must be valid JSON; false means that it is no object.
//
// Together with elements it replaces decoding into json.RawMessage, which
// scans a big answer anew on every level and copies it each time.
func fields(b []byte, yield func(key string, value []byte)) bool {
	i := skipBlank(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	i = skipBlank(b, i+1)
	for i < len(b) && b[i] != '}' {
		end := skipValue(b, i)
		key := unquote(b[i:end])
		i = skipBlank(b, end)
		i = skipBlank(b, i+1) // the colon
		end = skipValue(b, i)
		yield(key, b[i:end:end])
		i = skipBlank(b, end)
		if i < len(b) && b[i] == ',' {
			i = skipBlank(b, i+1)
		}
	}
	return true
}

// elements is fields for the elements of a JSON array.
func elements(b []byte, yield func(value []byte)) bool {
	i := skipBlank(b, 0)
	if i >= len(b) || b[i] != '[' {
		return false
	}
	i = skipBlank(b, i+1)
	for i < len(b) && b[i] != ']' {
		end := skipValue(b, i)
		yield(b[i:end:end])
		i = skipBlank(b, end)
		if i < len(b) && b[i] == ',' {
			i = skipBlank(b, i+1)
		}
	}
	return true
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue gives the index behind the value that starts at b[i].
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && strings.IndexByte(",]} \t\n\r", b[i]) < 0 {
		i++
	}
	return i
}

// skipString looks for the closing quote with IndexByte, which is many times
// faster over a long text than looking at every byte.
func skipString(b []byte, i int) int {
	for j := i + 1; j < len(b); {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			break
		}
		end := j + n
		slashes := 0
		for end-slashes > j && b[end-slashes-1] == '\\' {
			slashes++
		}
		j = end + 1
		if slashes%2 == 0 {
			return j
		}
	}
	return len(b)
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// unquote gives the text of a JSON string, or "" if b is none.
func unquote(b []byte) string {
	if len(b) < 2 || b[0] != '"' {
		return ""
	}
	if text, ok := unescape(b[1 : len(b)-1]); ok {
		return text
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return ""
	}
	return s
}

// unescape resolves the escapes of a JSON string. It leaves surrogates and
// what is not UTF-8 to encoding/json.
func unescape(b []byte) (string, bool) {
	if !utf8.Valid(b) {
		return "", false
	}
	var text strings.Builder
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 && text.Len() == 0 {
			return string(b), true
		}
		if n < 0 {
			text.Write(b)
			return text.String(), true
		}
		if n+1 == len(b) || escapes[b[n+1]] == 0 {
			return "", false
		}
		if text.Len() == 0 {
			text.Grow(len(b))
		}
		text.Write(b[:n])
		if b[n+1] != 'u' {
			text.WriteByte(escapes[b[n+1]])
			b = b[n+2:]
			continue
		}
		r, ok := hexDigits(b, n+2)
		if !ok || utf16.IsSurrogate(r) {
			return "", false
		}
		text.WriteRune(r)
		b = b[n+6:]
	}
}
