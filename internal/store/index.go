package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// The index lists where each result is, in suite order, so that one result of
// many can be opened without reading through all. It is written when a run
// finishes and names the size of the results it is of: one that does not fit
// is not used.
//
//	mettle-index 2 <bytes of results.jsonl>
//	<order> <case offset> <case length> <offset> <length> <trial> <arm> <suite> <case>
const indexHead = "mettle-index 2 "

// writeIndex replaces the index.
func (f *folder) writeIndex() error {
	info, err := os.Stat(filepath.Join(f.dir, resultsFile))
	if err != nil {
		return err
	}
	places, err := f.scan()
	if err != nil {
		return err
	}
	b := fmt.Appendf(nil, "%s%d\n", indexHead, info.Size())
	for i := range places {
		p := &places[i]
		for _, n := range []int{p.order, p.caseOffset, p.caseLength, p.offset, p.length, p.Trial} {
			b = append(strconv.AppendInt(b, int64(n), 10), '\t')
		}
		b = append(strconv.AppendQuote(b, p.Arm), '\t')
		b = append(strconv.AppendQuote(b, p.Suite), '\t')
		b = append(strconv.AppendQuote(b, p.Case), '\n')
	}
	return fsx.WriteSynced(filepath.Join(f.dir, indexFile), b)
}

var errNoIndex = errors.New("there is no index that fits the results")

// readIndex calls yield with each place of the index until that returns false.
func (f *folder) readIndex(yield func(place) bool) error {
	file, err := os.Open(filepath.Join(f.dir, indexFile))
	if err != nil {
		return errNoIndex
	}
	defer file.Close()
	info, err := os.Stat(filepath.Join(f.dir, resultsFile))
	if err != nil {
		return errNoIndex
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	if !lines.Scan() || lines.Text() != indexHead+strconv.FormatInt(info.Size(), 10) {
		return errNoIndex
	}
	for lines.Scan() {
		p, ok := parsePlace(lines.Bytes())
		if !ok || p.offset+p.length > int(info.Size()) {
			return errNoIndex
		}
		if !yield(p) {
			return nil
		}
	}
	return lines.Err()
}

func parsePlace(line []byte) (p place, ok bool) {
	for _, into := range []*int{&p.order, &p.caseOffset, &p.caseLength, &p.offset, &p.length, &p.Trial} {
		number, rest, found := bytes.Cut(line, []byte("\t"))
		n, err := strconv.Atoi(string(number))
		if !found || err != nil || n < 0 {
			return p, false
		}
		*into, line = n, rest
	}
	texts := strings.SplitN(string(line), "\t", 3) // a tab in a text is quoted
	if len(texts) != 3 {
		return p, false
	}
	for i, into := range []*string{&p.Arm, &p.Suite, &p.Case} {
		text, err := strconv.Unquote(texts[i])
		if err != nil {
			return p, false
		}
		*into = text
	}
	return p, true
}

// find is where one result is, nil when the run does not have it.
func (f *folder) find(id eval.Identity) (found *place, err error) {
	same := func(p *place) bool {
		return p.Case == id.Case && p.Arm == id.Arm && p.Trial == id.Trial && (id.Suite == "" || p.Suite == "" || p.Suite == id.Suite)
	}
	err = f.readIndex(func(p place) bool {
		if same(&p) {
			found = &p
		}
		return found == nil
	})
	if err == nil {
		return found, nil
	}
	places, err := f.scan()
	for i := range places {
		if same(&places[i]) {
			return &places[i], nil
		}
	}
	return nil, err
}
