package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Script makes answers of a text, for tests that are files in an archive (whose own marks are dashes):
//
//	== TensorFlow ==
//	The skill does not say anything about that.
//	== rate this answer ==
//	@times 1
//	@status 429
//	@retry-after 0.5
//	== rate this answer ==
//	{"reasoning": "…", "score": 0.8}
//	== * ==
//	I do not know.
//
// A call gets the first block whose words are in its system text or messages;
// * fits every call. Lines at the head of a block that begin with @ set the rest
// of the [Answer]: status, message, finish, refused, retry-after, delay, model,
// call (a name and its input), drop, cut, stall; times says for how many calls
// the block is good. A call without a block gets an error of status 400, which is not asked again.
func Script(text string) (func(Call) Answer, error) {
	blocks, err := readScript(text)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	return func(c Call) Answer {
		mu.Lock()
		defer mu.Unlock()
		for i := range blocks {
			b := &blocks[i]
			if b.times == 0 || b.words != "*" && !c.Has(b.words) {
				continue
			}
			b.times-- // one that began below zero never gets there
			return b.answer
		}
		return Answer{Status: http.StatusBadRequest, Message: fmt.Sprintf("the script has no answer to %q", c.Last())}
	}, nil
}

type block struct {
	words  string
	times  int
	answer Answer
}

func readScript(text string) ([]block, error) {
	var blocks []block
	head := false // of a block, where the @ lines are
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if words, ok := blockHead(line); ok {
			blocks = append(blocks, block{words: words, times: -1})
			head = true
			continue
		}
		if len(blocks) == 0 {
			if strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf("line %d of the script is in no block", n+1)
		}
		b := &blocks[len(blocks)-1]
		if head = head && strings.HasPrefix(line, "@"); head {
			if err := b.set(line[1:]); err != nil {
				return nil, fmt.Errorf("line %d of the script: %w", n+1, err)
			}
			continue
		}
		if b.answer.Text != "" {
			b.answer.Text += "\n"
		}
		b.answer.Text += line
	}
	return blocks, nil
}

func blockHead(line string) (string, bool) {
	inner, ok := strings.CutPrefix(line, "== ")
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, " ==")
	inner = strings.TrimSpace(inner)
	return inner, ok && inner != ""
}

func (b *block) set(line string) (err error) {
	name, value, _ := strings.Cut(line, " ")
	a := &b.answer
	switch name {
	case "times":
		b.times, err = strconv.Atoi(value)
	case "status":
		a.Status, err = strconv.Atoi(value)
		if err == nil && (a.Status < 200 || a.Status > 599) {
			err = fmt.Errorf("%d is no status", a.Status)
		}
	case "message":
		a.Message = value
	case "finish":
		a.Finish = value
	case "refused":
		a.Refused = value
	case "retry-after":
		a.Header = http.Header{"Retry-After": {value}}
	case "delay":
		a.Delay, err = time.ParseDuration(value)
	case "model":
		a.Model = value
	case "call":
		tool, input, _ := strings.Cut(value, " ")
		if !json.Valid([]byte(input)) {
			return fmt.Errorf("the input of %s is no JSON", tool)
		}
		a.Calls = append(a.Calls, ToolCall{ID: fmt.Sprintf("call_%d", len(a.Calls)+1), Name: tool, Input: json.RawMessage(input)})
	case "drop":
		a.Drop = true
	case "cut":
		a.Cut = true
	case "stall":
		a.Stall = true
	default:
		err = fmt.Errorf("there is no @%s", name)
	}
	return err
}
