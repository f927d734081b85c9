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

	"github.com/isr-sim/isr-sim/internal/hooks/sim"
)

// DefaultMemory bounds what is remembered of a program, in bytes.
const DefaultMemory = 256 << 20

// memory holds the deeds of a program's lives, by what the lives were told. Between two requests a program is a
// function of what it has been told, in order: lines and answers, each with the node's own time. So its code runs once
// for each past.
//
// A known past costs no process. For a new past, a process is told everything that the life was told before, without
// store and scheduler. It has to do the same as the life did. If it does something else, the run has no verdict.
//
// A full memory is emptied, and the code runs again.
type memory struct {
	mu   sync.Mutex
	root *past
	size int // bytes, about
}

// past is the moment of a life after it was told a sequence of things.
type past struct {
	deed deed
	next map[pastKey]*past
}

// pastKey is a digest of what a life is told at one moment. The chance of two different things with one digest is
// 2^-128.
type pastKey [16]byte

// first is the past of a life that was told nothing. most bounds the memory, in bytes.
func (m *memory) first(most int) *past {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil || m.size > most {
		m.root, m.size = &past{}, 0 // lives under way keep their part of the memory
	}
	return m.root
}

// known returns the past that follows when a life is told something; nil if no life has been there.
func (m *memory) known(p *past, told pastKey) *past {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.next[told]
}

// note remembers what a life does. If another life did something there before, that must have been the same.
func (m *memory) note(p *past, told pastKey, d deed) (next *past, isNew bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if next := p.next[told]; next != nil {
		return next, false, next.deed.differs(d)
	}
	if p.next == nil {
		p.next = map[pastKey]*past{}
	}
	next = &past{deed: d}
	p.next[told] = next
	m.size += d.size()
	return next, true, nil
}

// size is about how many bytes a deed takes.
func (d deed) size() int {
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

// differs compares a program's deed with its earlier deed after it had been told the same; nil if they are the same.
func (d deed) differs(now deed) error {
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

// numberedAs says whether the process numbered its requests and timers as it did earlier, when it did the same.
func (d deed) numberedAs(now deed) bool {
	return slices.Equal(d.timers, now.timers) &&
		slices.EqualFunc(d.asked, now.asked, func(was, is *arrival) bool { return was.number == is.number })
}

// at returns the i-th request, nil if there are fewer.
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

// words is a request for people; "" is none.
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

// words is a line as it is compared; "" is none.
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

// input is one thing that a life is told: a line, or the answer to its request at a place. A nil answer says that there
// is none.
type input struct {
	line  *told
	place int
	to    *answer
}

// keyOf is the key of what a life is told at one moment.
func keyOf(inputs []input) (key pastKey) {
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
		if in.to == nil {
			part("none")
			continue
		}
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

// life is the program in one life of an actor: a process, or the memory of what one did.
type life struct {
	program *Program
	actor   string
	check   func(again func() error) // see sim.Memory
	past    *past                    // where it stands in the memory; nil without one
	left    <-chan struct{}          // see sim.Config.Left
	not     *process                 // which must not do it

	told []input // since it last did something
	// everything it was told before that, in order; kept as long as a process may have to be told it again
	moved []moment
	ear   ear     // the ear of its process
	count int     // requests so far
	news  bool    // it did something that no life did before it
	first pastKey // what it was told at first, if a life before it was told the same, and is remembered
}

// moment is one exchange of a life: what it was told, and what it did.
type moment struct {
	told []input
	did  deed
}

// newLife begins a life of the actor.
func (g *Program) newLife(actor string, m sim.Memory) *life {
	l := &life{program: g, actor: actor, check: m.Check}
	if !m.Afresh && !g.Forgetful {
		l.past = g.remembered.first(cmp.Or(g.Memory, DefaultMemory))
	}
	return l
}

// tell gives the life a line, and reply gives it the answer to its request of a place. Both reach the life when it is
// listened to.
func (l *life) tell(t told)                  { l.told = append(l.told, input{line: &t}) }
func (l *life) reply(a *arrival, to *answer) { l.told = append(l.told, input{place: a.place, to: to}) }

// listen returns the program's reaction to what it was told. Its requests are the caller's own.
func (l *life) listen(at string) (deed, error) {
	select {
	case <-l.left: // also where all that it does is remembered
		return deed{}, sim.ErrLeft
	default:
	}
	now := moment{told: l.told}
	l.told = nil
	var key pastKey
	if l.past != nil {
		key = keyOf(now.told)
		if l.ear.p == nil {
			if next := l.program.remembered.known(l.past, key); next != nil {
				l.past, now.did = next, next.deed
				l.moved = append(l.moved, now)
				return l.own(now.did), nil
			}
		}
	}
	if l.ear.p == nil {
		if err := l.bring(at); err != nil {
			return deed{}, err
		}
	}
	var err error
	if now.did, err = l.do(at, now.told, nil); err != nil {
		return deed{}, err
	}
	if l.past != nil {
		var isNew bool
		if l.past, isNew, err = l.program.remembered.note(l.past, key, now.did); err != nil {
			return deed{}, l.changed(at, err)
		}
		l.news = l.news || isNew
		l.moved = append(l.moved, now)
	}
	return l.own(now.did), nil
}

// own returns the deed with a copy of its requests for the caller: all lives share the requests of a memory.
func (l *life) own(d deed) deed {
	all := make([]*arrival, len(d.asked))
	for i, a := range d.asked {
		l.count++
		all[i] = &arrival{method: a.method, path: a.path, raw: a.raw, query: a.query, header: a.header, body: a.body,
			number: a.number, place: l.count}
	}
	d.asked = all
	return d
}

// bring starts a process, and tells it all that the life was told before.
func (l *life) bring(at string) error {
	if len(l.moved) > 0 && l.past != nil {
		l.first = keyOf(l.moved[0].told)
	}
	p, err := l.program.take(l.actor, l.left, l.first, l.not)
	if err != nil {
		return err
	}
	l.ear = ear{p: p}
	done := 0
	if b := p.begun; b != nil {
		l.ear, p.begun, done = b.ear, nil, 1
		if err := l.moved[0].did.differs(b.did); err != nil {
			return l.changed(at, err)
		}
	}
	if slices.Contains(p.can, canQueue) {
		var lines []told
		if lines, l.ear.queued = l.linesAfter(done); l.ear.queued {
			var telling sync.WaitGroup
			telling.Go(func() { p.tell(lines...) }) // while it is listened to: the pipes hold less than a long past
			defer telling.Wait()
		}
	}
	for _, m := range l.moved[done:] {
		did, err := l.do(at, m.told, &m.did)
		if err != nil {
			return err
		}
		if err := m.did.differs(did); err != nil {
			return l.changed(at, err)
		}
		if l.ear.queued && !m.did.numberedAs(did) {
			return l.ear.p.wrong(at,
				"it has other numbers for its requests and timers than an earlier life that was told the same",
				fmt.Sprintf("a node whose hello says that it can %q numbers them anew in each life", canQueue))
		}
	}
	l.ear.queued = false
	return nil
}

// linesAfter returns all lines that the life was told after its first moments. It returns false if it sent a request
// that is no line: that has another way to the simulator, on which it might overtake earlier lines.
func (l *life) linesAfter(first int) (lines []told, ok bool) {
	asked, timers := map[int]*arrival{}, []int(nil)
	for i, m := range l.moved {
		for _, in := range m.told {
			switch {
			case i < first:
			case in.line != nil:
				line := l.addressed(*in.line)
				if line.Timer > 0 {
					line.Timer = timers[line.Timer-1]
				}
				lines = append(lines, line)
			default:
				lines = append(lines, asked[in.place].line(in.to))
			}
		}
		for _, a := range m.did.asked {
			if a.answer != nil {
				return nil, false
			}
			asked[a.place] = a
		}
		timers = append(timers, m.did.timers...)
	}
	return lines, true
}

// addressed returns a line with the address of the life's process, if it is its first one.
func (l *life) addressed(line told) told {
	if line.initial != nil {
		init := *line.initial
		init.Endpoint = "http://" + l.ear.p.listener.Addr().String()
		line.initial = &init
	}
	return line
}

// do tells the process something, and returns its reaction.
func (l *life) do(at string, inputs []input, want *deed) (deed, error) {
	for _, in := range inputs {
		if in.line == nil {
			l.ear.reply(in.place, in.to)
			continue
		}
		l.ear.tell(l.addressed(*in.line))
	}
	return l.ear.listen(at, want)
}

// changed is the error for a program that did something else after it was told the same.
func (l *life) changed(at string, err error) error {
	return l.ear.p.wrong(at, "it is not deterministic: its "+err.Error(),
		"it listens to something that the simulator does not decide: look for a real clock, real randomness, files, "+
			"sockets of its own, and variables of a module, which a process keeps from one life to the next (unless "+
			"each has a new one: new_process, newProcess)")
}

// wrong is the error for a program that breaks the protocol. Its process, if it has one, is not used any more.
func (l *life) wrong(at, problem, hint string) *Error {
	if l.ear.p != nil {
		return l.ear.p.wrong(at, problem, hint)
	}
	return &Error{l.actor, at, problem, hint}
}

// end ends the life. within says that it ended in the middle of a command. If the life did something new, it is checked
// by a repetition in another process, if that is asked for: perhaps no other life will ever get there.
func (l *life) end(within bool, now int64) error {
	if l.ear.p == nil {
		return nil
	}
	own := l.ear.p
	if err := l.giveBack(within, now); err != nil {
		return err
	}
	if l.check != nil && l.news {
		l.check(func() error {
			again := &life{program: l.program, actor: l.actor, moved: l.moved, left: l.left, not: own}
			if err := again.bring(ending); err != nil {
				_ = again.giveBack(true, now) // the first error says what happened
				return err
			}
			return again.giveBack(within, now)
		})
	}
	return nil
}

// giveBack gives the process back, if it can have another life.
func (l *life) giveBack(within bool, now int64) error {
	p := l.ear.p
	if l.ear = (ear{}); p == nil {
		return nil
	}
	if err := p.forget(within, now); err != nil {
		return err
	}
	if p.reset {
		p.reset = false
		var next *begun
		if l.first != (pastKey{}) {
			next = &begun{actor: l.actor, told: l.first, first: l.moved[0], over: make(chan struct{})}
		}
		l.program.giveBack(p, next)
	}
	return nil
}

// begun is a life that begins before it is asked for. An actor's lives that began alike before will most likely begin
// so again. The beginning, in which a program makes its clients, is a third of a short life, and here it goes on beside
// the run.
type begun struct {
	actor string
	told  pastKey // the key of what it is told at first
	first moment

	over chan struct{} // closed when it has begun
	ear  ear
	did  deed
	err  error
}

// begin has the process begin its next life.
func (p *process) begin(b *begun) {
	p.begun = b
	go func() {
		defer close(b.over)
		next := &life{program: p.program, actor: b.actor, ear: ear{p: p}}
		b.did, b.err = next.do(starting, b.first.told, &b.first.did)
		b.ear = next.ear
	}()
}

// begins waits until the process can begin a life that is told this at first, or has begun it. It returns false if the
// process has ended instead: if that is the program's mistake, the life that makes it again says so.
func (p *process) begins(first pastKey) bool {
	b := p.begun
	if b == nil {
		return true
	}
	if <-b.over; b.err != nil {
		p.kill()
		return false
	}
	if b.told == first {
		return true
	}
	p.begun = nil
	inMiddle := b.did.line == nil // it waits for an answer
	if p.forget(inMiddle, b.first.told[0].line.Time) != nil || !p.reset {
		return false
	}
	p.reset = false
	return true
}
