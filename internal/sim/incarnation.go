package sim

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// incarnation is the code of an incarnation of a node, parked at the end of some history.
type incarnation struct {
	proc    *Proc
	at      *history
	input   input
	doing   *history // what the code does, while it runs
	request Remembered
	place   int
	err     error
	hidden  []*incarnation   // the same code, with other hidden values as its input
	said    fingerprint.Hash // of all that the code has told the world since it was resumed, besides its request
	forgot  string           // "=" and the last state given to Proc.Forget since then; "" if none

	times  uint64 // how often it was resumed
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// reads notes that the code reads a clock.
func (l *incarnation) reads() {
	l.said = l.said.Number(1)
	l.proc.Tell(func() { l.proc.actor.readClock() })
}

// unstarted returns an incarnation whose code has not begun.
func unstarted(p *Proc) *incarnation {
	l := &incarnation{proc: p}
	l.resume, l.stop = iter.Pull(func(yield func(struct{}) bool) {
		l.yield = yield
		p.guard(func() { p.actor.Run(p) }, func(err error) { l.err = cmp.Or(l.err, err) })
		l.doing.state = ended
	})
	return l
}

// tell resumes the code, and returns its output until it parks. After a hidden value, the code must have the same
// output with other values in its place, until it has forgotten them all. An input already checked after the same state
// is not checked again; state 0 means that the code may depend on everything.
func (l *incarnation) tell(now input, checked fingerprint.Hash) (*history, error) {
	m := l.proc.sim.histories
	var hidden []any
	if of, can := l.request.(Hidden); can && !m.unread[checked] {
		hidden = of.Hidden(now.answer, now.true, now.local)
	}
	for len(l.hidden) < len(hidden) {
		other, _, err := replayed(l.proc, l.at.way())
		l.hidden = append(l.hidden, other)
		if err != nil {
			return nil, err
		}
	}
	actual := now
	output, err := l.resumed(now)
	if err != nil {
		return nil, err
	}
	forgot := l.forgot != ""
	for i, other := range l.hidden {
		if hidden != nil {
			now.answer = hidden[i]
		}
		again, err := other.resumed(now)
		if err != nil || other.said != l.said || again.printed() != output.printed() {
			if err := l.repeats(actual, output); err != nil {
				return nil, err
			}
			return nil, &TakenError{UnreadDeadlines,
				l.proc.name + " looks at a deadline that it was taken not to look at"}
		}
		forgot = forgot && other.forgot == l.forgot
	}
	if forgot && l.hidden != nil {
		l.dropHidden()
		m.unread[checked] = checked != 0
	}
	return output, nil
}

// repeats checks that a replay of the history gives the same output. If it does not, the code is not deterministic: a
// hidden value is not the cause.
func (l *incarnation) repeats(now input, output *history) error {
	all := append(l.at.way(), &history{input: now})
	other, again, err := replayed(l.proc, all)
	defer other.end()
	if err == nil && (again.printed() != output.printed() || other.said != l.said) {
		err = l.proc.diverged(len(all), output, again)
	}
	return err
}

// replayed replays a history to new code, and returns its incarnation and its last output.
func replayed(p *Proc, way []*history) (l *incarnation, output *history, err error) {
	l = unstarted(p)
	l.place = way[0].input.place
	for _, at := range way {
		if output, err = l.resumed(at.input); err != nil {
			break
		}
	}
	return l, output, err
}

// diverged is the error for code with another output after the same history.
func (p *Proc) diverged(request int, was, is *history) error {
	return &DivergedError{Step: p.sim.result.Steps,
		Differs: fmt.Sprintf("%s was told again what it had been told, and request %d was %q, and is now %q",
			p.name, request, was.printed(), is.printed())}
}

// dropHidden ends the code that had other hidden values as its input.
func (l *incarnation) dropHidden() {
	for _, other := range l.hidden {
		other.end()
	}
	l.hidden = nil
}

// resumed resumes the code of this incarnation alone.
func (l *incarnation) resumed(now input) (*history, error) {
	if l.request != nil && !l.request.Tell(now.answer) {
		return nil, fmt.Errorf(
			"the code of %s changed the answer to %q, which is remembered; a search without memory runs all code",
			l.proc.name, l.request.Asks(),
		)
	}
	output := &history{}
	l.input, l.doing, l.said, l.forgot = now, output, 0, ""
	l.times++
	l.proc.seed(l.times)
	l.proc.running = l
	l.resume()
	l.proc.running = nil
	l.request, output.said = output.request, l.said
	if drew := l.proc.sim.cfg.Memory.Drew; l.err == nil && drew != nil && drew() {
		l.err = &TakenError{NoRandomness, l.proc.name + " draws random bytes"}
	}
	return output, l.err
}

// seed seeds the random bytes of the code for the nth resumption of its incarnation.
func (p *Proc) seed(nth uint64) {
	if seed := p.sim.cfg.Memory.Seed; seed != nil {
		seed(uint64(fingerprint.Hash(p.sim.cfg.Seed).Text(p.name).Number(nth)))
	}
}

// end unwinds the code.
func (l *incarnation) end() {
	l.dropHidden()
	l.doing, l.proc.running = &history{}, l // what it does now is lost
	l.stop()
	l.proc.running = nil
}

// park parks the code, which asks for something.
func (l *incarnation) park(s procState) {
	l.doing.state = s
	if !l.yield(struct{}{}) {
		panic(crashSignal{})
	}
}
