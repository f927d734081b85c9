package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Remembered is implemented by a Request of code whose outputs are remembered. See Memory.Search.
type Remembered interface {
	Request
	// Asks returns everything about the request that its sender decides.
	Asks() string
	// Answer returns the answer, for Tell. Later effects of the request must not change it.
	Answer() any
	// Tell copies an answer to an equal request. It returns false if the code that got the answer has since modified
	// it.
	Tell(answer any) bool
}

// Hidden is implemented by a Remembered request whose answer may hold a hidden value: one that the code is assumed not
// to inspect, so that a search need not stop time at it (see UnreadDeadlines). When code first gets such an answer, it
// also runs with other values in its place. If its output then differs, a *TakenError breaks the run.
type Hidden interface {
	Remembered
	// Hidden returns copies of the answer with other hidden values, always the same number, or nil without hidden
	// values. The answer arrives now, and at a local time by the node's clock.
	Hidden(answer any, now, local time.Time) []any
}

// Search is the search through all schedules that a run is part of: see package exhaustive.
type Search interface {
	// Histories are what the search remembers of the code of nodes.
	Histories() *Histories
	// Rewind puts the latest run back to where the next run begins to differ from it, and returns its Sim, whose Run
	// goes on from there; nil if a run from the beginning is needed. The actors and the world are in their state at
	// that point: see Config.Keep.
	Rewind() *Sim
}

// Histories is a tree of the actors' outputs, keyed by history. Between two parks an actor's code is a function of its
// inputs so far (answers, and the times at which it was resumed), so it runs once per history. A known
// history is replayed from memory, and no code runs. For a new one, the code is started and its history replayed to it,
// without world and scheduler. It must then send the same requests as before.
//
// The times count even if the code reads no clock, so that an output may hold them.
type Histories struct {
	// Most bounds how many histories are remembered, at less than two kilobytes each; 0 means 131,072, or 8,192 in all
	// for a team.
	Most         int
	roots        map[incarnationOf]*history
	next         map[inputAt]*history
	incarnations map[incarnationOf]*incarnation
	later        map[*Proc]*Proc             // by the incarnation before
	same         map[fingerprint.Hash]output // by history.since
	team         *team                       // nil without
	// inputs of code that does not inspect hidden values, after the state it depends on
	unread  map[fingerprint.Hash]bool
	strange uint64 // answers without a fingerprint, so far
	runs    int    // of code, from one park to the next
}

// MostHistories is the default of Histories.Most. A full memory is emptied.
const MostHistories = 1 << 17

// incarnationOf names an incarnation: a Proc serves the actors at one place of a run, and of the visit after it.
type incarnationOf struct {
	proc *Proc
	name string
}

// history is a node of the tree: the last input of a history, and the output that follows.
type history struct {
	before *history
	input  input

	does   []func()         // what the code does to the world, besides its request
	says   string           // what the code said (Proc.Says) since Proc.Forget, until depends has noted it
	said   fingerprint.Hash // see incarnation.said
	hidden bool             // code with other hidden values goes on from here: see incarnation.hidden
	// since hashes every input after Proc.Forget; 0 means the whole history counts.
	since fingerprint.Hash

	state   procState // calling, sleeping, or ended
	request Remembered
	sleep   time.Duration
}

// inputAt is the fingerprint of an input after a history.
type inputAt struct {
	history *history
	input   fingerprint.Hash
}

// input resumes an actor's code.
type input struct {
	true, local time.Time
	place       int // see Proc.Place
	answer      any // to its request, if it sent one
}

// Remembers says that the calling code runs for the memory: it must learn of the world only by its inputs, and change
// it only by requests and Tell.
func (p *Proc) Remembers() bool { return p.running != nil }

// Tell lets the actor's code change the world besides its requests: f runs at once and, if the output is remembered,
// each time that the output is used again.
func (p *Proc) Tell(f func()) {
	if l := p.running; l != nil {
		l.doing.does = append(l.doing.does, f)
		return
	}
	f()
}

// Says adds to what the code tells the world besides its requests. A search may take two histories for one if the code
// does the same after both: then it must say the same after both, too.
func (p *Proc) Says(text string) {
	if l := p.running; l != nil {
		l.doing.says += text + "\n"
		l.said = l.said.Text(text)
	}
}

// Wrong panics with an error that ends the run, even if the calling code recovers and goes on. Only code that runs for
// the memory may call it.
func (p *Proc) Wrong(err *TakenError) {
	p.running.err = err
	panic(err)
}

// True returns true time for what a search compares anyway: see Now.
func (p *Proc) True() time.Time {
	if l := p.running; l != nil {
		return l.input.true
	}
	return p.sim.now()
}

// Place returns the number that the actor's code has set last, in this incarnation or an earlier one; 0 at first.
func (p *Proc) Place() int {
	if l := p.running; l != nil {
		return l.place
	}
	return p.actor.place
}

// SetPlace sets the number that Place returns. It survives a crash.
func (p *Proc) SetPlace(n int) {
	if l := p.running; l != nil {
		l.place, l.said = n, l.said.Number(2).Number(uint64(n))
	}
	p.Tell(func() { p.actor.place = n })
}

// recall resumes the actor's code, or repeats the remembered output after the same history.
func (p *Proc) recall() {
	m, a := p.sim.histories, p.actor
	now := input{true: p.sim.now(), local: a.node.Now(), place: a.place}
	if p.state == notStarted {
		p.history = m.root(p)
	}
	when := fingerprint.Hash(now.true.UnixNano()).Number(uint64(now.local.UnixNano())).Number(uint64(now.place))
	key := when
	if p.request != nil {
		key = key.Number(p.answer)
	}
	at := inputAt{p.history, key}
	next := m.next[at]
	fresh := next == nil
	var since fingerprint.Hash // all that new code may depend on
	if fresh {
		if p.history.since != 0 {
			since = p.history.since.Number(uint64(key))
		}
		var err error
		if next, err = m.live(p, now, since); err != nil {
			p.sim.fail(err)
			return
		}
		m.next[at] = next
	}
	p.history, a.forgot = next, 0
	for _, do := range next.does {
		do()
	}
	if fresh {
		if next.since = since; a.forgot != 0 {
			next.since = a.forgot.Text(p.name).Number(uint64(when))
		}
		if err := m.depends(p, next); err != nil {
			p.sim.fail(err)
			return
		}
	}
	if p.state, p.request = next.state, nil; next.request != nil {
		p.request = next.request
	}
	if p.state == sleeping {
		p.wake = p.after(next.sleep)
	}
}

// depends notes the output of the code after a history, and returns an error if the code had another output before in
// what Proc.Forget called the same state.
func (m *Histories) depends(p *Proc, at *history) error {
	says := at.says
	if at.says = ""; at.since == 0 {
		return nil
	}
	if m.same == nil {
		m.same = map[fingerprint.Hash]output{}
	}
	was, is := m.same[at.since], output{p.name, says + at.asks(), p.sim.result.Steps}
	m.same[at.since] = is
	return was.differs(is)
}

// output is the output of code after a history, in words.
type output struct {
	name, is string
	step     int
}

// differs returns an error if the output differs now, after a history that is equal as far as the code depends on it.
func (was output) differs(now output) error {
	if was == (output{}) || was.is == now.is {
		return nil
	}
	return &DivergedError{Step: now.step,
		Differs: fmt.Sprintf("%s asked for %q and for %q after two pasts of which it depends on neither, as it "+
			"says (Forget)",
			now.name, was.is, now.is)}
}

// root returns the empty history.
func (m *Histories) root(p *Proc) *history {
	if m.roots == nil {
		m.roots, m.next = map[incarnationOf]*history{}, map[inputAt]*history{}
		m.incarnations, m.unread = map[incarnationOf]*incarnation{}, map[fingerprint.Hash]bool{}
	}
	of := incarnationOf{p, p.name}
	if m.roots[of] == nil {
		m.roots[of] = &history{}
	}
	return m.roots[of]
}

// after returns the Proc of the incarnation that follows p. If outputs are remembered, it is always the same one.
func (m *Histories) after(p *Proc) *Proc {
	if m == nil {
		return new(Proc)
	}
	if m.later == nil {
		m.later = map[*Proc]*Proc{}
	}
	if m.later[p] == nil {
		m.later[p] = new(Proc)
	}
	return m.later[p]
}

// Close forgets everything, and unwinds the code.
func (m *Histories) Close() {
	//isrsim:unordered each by itself
	for _, l := range m.incarnations {
		l.end()
	}
	clear(m.incarnations)
	clear(m.next) // the histories of incarnations under way stay
	clear(m.same)
	clear(m.unread)
}

// live runs the code from the actor's history on, with an input that is new there.
func (m *Histories) live(p *Proc, now input, since fingerprint.Hash) (next *history, err error) {
	m.Alone(func() { next, err = m.alone(p, now, since) })
	return next, err
}

// alone is live, while no other code runs.
func (m *Histories) alone(p *Proc, now input, since fingerprint.Hash) (*history, error) {
	if r := p.history.request; r != nil {
		now.answer = r.Answer()
	}
	if len(m.next) >= cmp.Or(m.Most, MostHistories) {
		m.Close()
	}
	l := m.incarnations[incarnationOf{p, p.name}]
	if l == nil || l.at != p.history {
		var err error
		if l, err = m.bring(p, now); err != nil {
			return nil, err
		}
	}
	output, err := l.tell(now, since)
	if err != nil {
		return nil, err
	}
	output.before, output.input, output.hidden = p.history, now, l.hidden != nil
	l.at = output
	m.runs++
	return output, nil
}

// bring starts the code, and replays the actor's history to it.
func (m *Histories) bring(p *Proc, now input) (*incarnation, error) {
	of := incarnationOf{p, p.name}
	if l := m.incarnations[of]; l != nil {
		l.end()
	}
	l := unstarted(p)
	m.incarnations[of] = l
	way := p.history.way()
	l.at, l.place = p.history, now.place
	resume := l.resumed
	if p.history.hidden {
		resume = func(now input) (*history, error) { return l.tell(now, 0) }
	}
	for n, at := range way {
		if n == 0 {
			l.at, l.place = at.before, at.input.place
		}
		output, err := resume(at.input)
		if err != nil {
			return nil, err
		}
		if at.printed() != output.printed() {
			return nil, p.diverged(n+1, at, output)
		}
		if at.said != output.said {
			return nil, &DivergedError{Step: p.sim.result.Steps,
				Differs: fmt.Sprintf("%s was told again what it had been told, and answered its client otherwise "+
					"than before, before request %d, which was %q", p.name, n+1, output.printed())}
		}
		l.at = at
	}
	return l, nil
}

// way returns the histories that lead here, in order.
func (at *history) way() (way []*history) {
	for ; at.before != nil; at = at.before {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// printed prints the output of the code.
func (at *history) printed() string {
	return fmt.Sprintf("%s, after %d events", at.asks(), len(at.does))
}

// asks prints the request of the code.
func (at *history) asks() string {
	switch {
	case at.state == sleeping:
		return fmt.Sprintf("a sleep of %v", at.sleep)
	case at.request == nil: // the code is over, perhaps long before: it need not be deterministic
		return "none"
	default:
		return at.request.Asks()
	}
}
