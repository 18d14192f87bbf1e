package store

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/mettle-eval/mettle/internal/eval"
	"github.com/mettle-eval/mettle/internal/fsx"
)

// listing says where the results of a run are. A run may have a million, so
// that nothing in it has a string of its own.
type listing struct {
	places []place // in suite order, once sorted
	cases  []caseLine
	arms   []string
	ids    []string // of the case of each place, until sorted
}

// place is where a result is.
type place struct {
	offset int64 // of its line in the results
	length int32
	order  int32 // of its case
	trial  int32
	arm    int32
}

// caseLine is where a case is.
type caseLine struct {
	id     string
	target string // read from the cases, not from the index; so are the trials
	trials int32  // 0: the run decides
	length int32
	offset int64
}

// add notes a result that was just written.
func (l *listing) add(id eval.Identity, offset int64, length int) {
	l.places = append(l.places, place{offset: offset, length: int32(length), trial: int32(id.Trial), arm: l.arm(id.Arm)})
	l.ids = append(l.ids, id.Case)
}

func (l *listing) arm(name string) int32 {
	i := slices.Index(l.arms, name)
	if i < 0 {
		i = len(l.arms)
		l.arms = append(l.arms, name)
	}
	return int32(i)
}

// sort puts what was added into suite order, arms and trials in order. Of a
// result that is there twice the later one counts; one of an unknown case is
// left out.
func (l *listing) sort() {
	if l.ids == nil {
		return // it is: a run can be finished twice
	}
	orders := make(map[string]int32, len(l.cases))
	for i := range l.cases {
		orders[l.cases[i].id] = int32(i)
	}
	for i := range l.places {
		order, ok := orders[l.ids[i]]
		if !ok {
			order = -1
		}
		l.places[i].order = order
	}
	l.ids = nil
	l.places = slices.DeleteFunc(l.places, func(p place) bool { return p.order < 0 })
	slices.SortFunc(l.places, func(a, b place) int {
		return cmp.Or(l.compare(a, b), cmp.Compare(b.offset, a.offset))
	})
	l.places = slices.CompactFunc(l.places, func(a, b place) bool { return l.compare(a, b) == 0 })
}

func (l *listing) compare(a, b place) int {
	if c := cmp.Compare(a.order, b.order); c != 0 {
		return c
	}
	if a.arm != b.arm {
		return cmp.Compare(l.arms[a.arm], l.arms[b.arm])
	}
	return cmp.Compare(a.trial, b.trial)
}

// find is where one result is.
func (l *listing) find(id eval.Identity) (p place, ok bool) {
	order := slices.IndexFunc(l.cases, func(c caseLine) bool { return c.id == id.Case })
	for _, p := range l.of(int32(order)) {
		if l.arms[p.arm] == id.Arm && int(p.trial) == id.Trial {
			return p, true
		}
	}
	return p, false
}

// of gives the results of one case.
func (l *listing) of(order int32) []place {
	from, ok := slices.BinarySearchFunc(l.places, order, func(p place, order int32) int { return cmp.Compare(p.order, order) })
	if !ok {
		return nil
	}
	to := from
	for to < len(l.places) && l.places[to].order == order {
		to++
	}
	return l.places[from:to]
}

// The index is a listing on disk, so that a run can be read in order, and one
// result of many opened, without reading through all. It is written when a run
// finishes. It names the sizes of the files it is of and the checksum of its own
// lines: one that does not fit is not used.
//
//	mettle-index 3 <bytes of results.jsonl> <bytes of cases.jsonl> <CRC-32 of the lines below>
//	<case offset> <case length> <offset> <length> <trial> <arm> <case>
const indexHead = "mettle-index 3 %019d %019d %08x\n"

// writeIndex replaces the index.
func (l *listing) writeIndex(dir string, resultsSize int64) error {
	cases, err := os.Stat(filepath.Join(dir, casesFile))
	if err != nil {
		return err
	}
	head := len(fmt.Sprintf(indexHead, 0, 0, 0))
	b := make([]byte, head, head+64*len(l.places))
	for _, p := range l.places {
		c := &l.cases[p.order]
		for _, n := range [...]int64{c.offset, int64(c.length), p.offset, int64(p.length), int64(p.trial)} {
			b = append(strconv.AppendInt(b, n, 10), '\t')
		}
		b = append(strconv.AppendQuote(b, l.arms[p.arm]), '\t')
		b = append(strconv.AppendQuote(b, c.id), '\n')
	}
	copy(b, fmt.Sprintf(indexHead, resultsSize, cases.Size(), crc32.ChecksumIEEE(b[head:])))
	return fsx.WriteSynced(filepath.Join(dir, indexFile), b)
}

var errNoIndex = errors.New("there is no index that fits the results")

// readIndex calls yield with each line of the index until that returns false.
// arm and id are quoted, and good until the next line.
func (f *folder) readIndex(yield func(p place, c caseLine, arm, id []byte) bool) error {
	file, err := os.Open(filepath.Join(f.dir, indexFile))
	if err != nil {
		return errNoIndex
	}
	defer file.Close()
	info, err := os.Stat(filepath.Join(f.dir, resultsFile))
	if err != nil {
		return errNoIndex
	}
	cases, err := os.Stat(filepath.Join(f.dir, casesFile))
	if err != nil {
		return errNoIndex
	}
	lines := bufio.NewReaderSize(file, 1<<16)
	head, _ := lines.ReadString('\n')
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, lines); err != nil || head != fmt.Sprintf(indexHead, info.Size(), cases.Size(), sum.Sum32()) {
		return errNoIndex
	}
	if _, err := file.Seek(int64(len(head)), io.SeekStart); err != nil {
		return err
	}
	scanner := bufio.NewScanner(file)
	scanner.Buffer(make([]byte, 1<<16), math.MaxInt32)
	for scanner.Scan() {
		p, c, arm, id, ok := parsePlace(scanner.Bytes())
		if !ok || p.offset+int64(p.length) > info.Size() || c.offset+int64(c.length) > cases.Size() {
			return errNoIndex
		}
		if !yield(p, c, arm, id) {
			return nil
		}
	}
	return scanner.Err()
}

func parsePlace(line []byte) (p place, c caseLine, arm, id []byte, ok bool) {
	var numbers [5]int64
	for i := range numbers {
		end := bytes.IndexByte(line, '\t')
		if end < 0 {
			return p, c, nil, nil, false
		}
		n, err := strconv.ParseInt(string(line[:end]), 10, 64)
		if err != nil || n < 0 || (i%2 == 1 || i == 4) && n > math.MaxInt32 {
			return p, c, nil, nil, false
		}
		numbers[i], line = n, line[end+1:]
	}
	c.offset, c.length = numbers[0], int32(numbers[1])
	p.offset, p.length, p.trial = numbers[2], int32(numbers[3]), int32(numbers[4])
	arm, id, ok = bytes.Cut(line, []byte{'\t'}) // a tab in either is quoted
	return p, c, arm, id, ok
}

// list reads where the results are: from the index, or by reading through the
// results where there is none that fits. Without ids, the cases have none.
func (f *folder) list(ids bool) (*listing, error) {
	l := new(listing)
	var last []byte // arm, as quoted
	err := f.readIndex(func(p place, c caseLine, arm, id []byte) bool {
		if n := len(l.cases); n == 0 || l.cases[n-1].offset != c.offset {
			if ids {
				c.id = unquoted(id)
			}
			l.cases = append(l.cases, c)
		}
		if last == nil || !bytes.Equal(last, arm) {
			last = bytes.Clone(arm)
			p.arm = l.arm(unquoted(arm))
		} else {
			p.arm = l.places[len(l.places)-1].arm
		}
		p.order = int32(len(l.cases) - 1)
		l.places = append(l.places, p)
		return true
	})
	if err == nil {
		return l, nil
	}
	l, _, err = f.scan()
	return l, err
}

func unquoted(b []byte) string {
	s, err := strconv.Unquote(string(b))
	if err != nil {
		return string(b) // of a checked index: it was quoted
	}
	return s
}

// find is where one result and its case are.
func (f *folder) find(id eval.Identity) (p place, c caseLine, ok bool, err error) {
	arm, name := strconv.AppendQuote(nil, id.Arm), strconv.AppendQuote(nil, id.Case)
	err = f.readIndex(func(at place, of caseLine, atArm, atCase []byte) bool {
		ok = int(at.trial) == id.Trial && bytes.Equal(atCase, name) && bytes.Equal(atArm, arm)
		p, c = at, of
		return !ok
	})
	if err == nil {
		return p, c, ok, nil
	}
	l, _, err := f.scan()
	if err != nil {
		return p, c, false, err
	}
	if p, ok = l.find(id); ok {
		c = l.cases[p.order]
	}
	return p, c, ok, nil
}
