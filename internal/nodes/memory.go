package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// DefaultMemory bounds what is remembered of a program, in bytes.
const DefaultMemory = 256 << 20

// memory is a tree of a program's outputs, keyed by history. Between two requests a program is a function of its inputs
// so far (lines and answers, each with the node's own time), so its code runs once per history.
//
// A known history costs no process. A new one is replayed to a process, without store and scheduler, and the process
// must repeat the recorded outputs. Otherwise the run has no verdict.
//
// A full memory is emptied, and the code runs again.
type memory struct {
	mu   sync.Mutex
	root *history
	size int // bytes, about
}

// history is a node of the tree: the output after a sequence of inputs.
type history struct {
	output output
	next   map[inputKey]*history
}

// inputKey is a digest of the inputs of one moment. The chance of a collision is 2^-128.
type inputKey [16]byte

// first is the empty history. most bounds the memory, in bytes.
func (m *memory) first(most int) *history {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil || m.size > most {
		m.root, m.size = &history{}, 0 // incarnations under way keep their part of the memory
	}
	return m.root
}

// known returns the history that follows p with an input, or nil if it is new.
func (m *memory) known(p *history, key inputKey) *history {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.next[key]
}

// note remembers an output, which must equal an output already remembered there.
func (m *memory) note(p *history, key inputKey, d output) (next *history, isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if next := p.next[key]; next != nil {
		return next, false, next.output.differs(d)
	}
	if p.next == nil {
		p.next = map[inputKey]*history{}
	}
	next = &history{output: d}
	p.next[key] = next
	m.size += d.size()
	return next, true, nil
}

// size returns roughly how many bytes an output takes.
func (d output) size() int {
	const each, header = 300, 60
	size := each
	if d.line != nil {
		size += each + len(d.line.Body)
	}
	for _, a := range d.asked {
		size += each + header*len(a.header) + len(a.path) + len(a.query) + len(a.body)
	}
	return size
}

// differs compares a program's output with its earlier output after the same history.
func (d output) differs(now output) error {
	for i := range max(len(d.asked), len(now.asked)) {
		was, is := at(d.asked, i), at(now.asked, i)
		if was != nil && is != nil && was.method == is.method && was.asks(is) == 0 {
			continue
		}
		before, after := apart(was.words(), is.words())
		return fmt.Errorf("request %d was %q when it was told the same before, and is now %q",
			cmp.Or(was, is).place, before, after)
	}
	if !slices.Equal(d.left, now.left) {
		return fmt.Errorf(
			"requests %v were the ones that it waited for no longer when it was told the same before, and are now %v",
			d.left, now.left,
		)
	}
	if !slices.Equal(d.late, now.late) {
		return fmt.Errorf("requests %v were over their time limits when it was told the same before, and are now %v",
			d.late, now.late)
	}
	if was, is := d.line.words()+d.quiet.words(), now.line.words()+now.quiet.words(); was != is {
		was, is = apart(was, is)
		return fmt.Errorf("answer was %q when it was told the same before, and is now %q", was, is)
	}
	return nil
}

// numberedAs reports whether a process numbered its requests and timers as in an earlier, equal output.
func (d output) numberedAs(now output) bool {
	return slices.Equal(d.timers, now.timers) &&
		slices.EqualFunc(d.asked, now.asked, func(was, is *arrival) bool { return was.number == is.number })
}

// at returns the i-th request; nil if there are fewer.
func at(asked []*arrival, i int) *arrival {
	if i < len(asked) {
		return asked[i]
	}
	return nil
}

// apart cuts two texts down to the place where they differ.
func apart(a, b string) (ofA, ofB string) {
	const before, most = 60, 160
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	cut := func(text string) string {
		word, _, _ := strings.Cut(text, " ")
		from := same - before
		if from <= len(word) {
			word, from = "", 0
		} else {
			word += " ..."
		}
		if to := from + most; to < len(text) {
			return word + text[from:to] + "..."
		}
		return word + text[from:]
	}
	return cut(a), cut(b)
}

// words prints a request for people; "" without one.
func (a *arrival) words() string {
	if a == nil {
		return ""
	}
	text := a.String()
	if query := a.params(); query != "" {
		text += "?" + query
	}
	if headers := a.deciding(); headers != "" {
		text += " (" + headers + ")"
	}
	if body := a.content(); body != "" {
		text += " " + body
	}
	return text
}

// words prints a line as it is compared; "" without one.
func (s *said) words() string {
	if s == nil {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// input is a line, or the answer to the request at a place; a nil answer says that none will come.
type input struct {
	line  *toldLine
	place int
	to    *answer
}

// time is the node's own at the input.
func (in input) time() int64 {
	if in.line != nil {
		return in.line.Time
	}
	return in.to.time
}

// keyOf is the key of the inputs of one moment.
func keyOf(inputs []input) (key inputKey) {
	h := fnv.New128a()
	part := func(text string) {
		_, _ = io.WriteString(h, strconv.Itoa(len(text))+":") // a hash takes everything
		_, _ = io.WriteString(h, text)
	}
	for _, in := range inputs {
		if in.line != nil {
			text, err := json.Marshal(in.line)
			if err != nil {
				panic(fmt.Errorf("nodes: a line that is no JSON: %w", err))
			}
			part("line")
			part(string(text))
			continue
		}
		part(strconv.Itoa(in.place))
		part(strconv.Itoa(in.to.status))
		part(strconv.FormatInt(in.to.time, 10))
		for _, name := range slices.Sorted(maps.Keys(in.to.header)) {
			part(name + "=" + strings.Join(in.to.header[name], ","))
		}
		part(string(in.to.body))
	}
	h.Sum(key[:0])
	return key
}
