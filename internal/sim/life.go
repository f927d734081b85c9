package sim

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// life is the code of an incarnation, parked at some past.
type life struct {
	proc    *Proc
	at      *past
	told    told
	doing   *past // what the code does, while it runs
	request Remembered
	place   int
	err     error
	veiled  []*life          // the same code, which is told other values in place of such as it is taken not to look at
	said    fingerprint.Hash // of all that the code has told the world since it was resumed, besides its request
	forgot  string           // the last state given to Proc.Forget since then, behind a sign; or ""

	times  uint64 // that it was resumed
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// reads notes that the code reads a clock.
func (l *life) reads() {
	l.said = l.said.Number(1)
	l.proc.Tell(func() { l.proc.actor.readClock() })
}

// newLife returns a life that has not begun.
func newLife(p *Proc) *life {
	l := &life{proc: p}
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
func (l *life) tell(now told, checked fingerprint.Hash) (*past, error) {
	m := l.proc.sim.pasts
	var veiled []any
	if of, can := l.request.(Veiled); can && !m.unread[checked] {
		veiled = of.Veiled(now.answer, now.true, now.local)
	}
	for len(l.veiled) < len(veiled) {
		other, _, err := retold(l.proc, l.at.way())
		l.veiled = append(l.veiled, other)
		if err != nil {
			return nil, err
		}
	}
	actual := now
	did, err := l.resumed(now)
	if err != nil {
		return nil, err
	}
	forgot := l.forgot != ""
	for i, other := range l.veiled {
		if veiled != nil {
			now.answer = veiled[i]
		}
		again, err := other.resumed(now)
		if err != nil || other.said != l.said || again.deed() != did.deed() {
			if err := l.repeats(actual, did); err != nil {
				return nil, err
			}
			return nil, &TakenError{UnreadDeadlines,
				l.proc.name + " looks at a deadline that it was taken not to look at"}
		}
		forgot = forgot && other.forgot == l.forgot
	}
	if forgot && l.veiled != nil {
		l.unveil()
		m.unread[checked] = checked != 0
	}
	return did, nil
}

// repeats checks that a replay of the history gives the same output. If it does not, the code is not deterministic: a
// hidden value is not the cause.
func (l *life) repeats(now told, did *past) error {
	all := append(l.at.way(), &past{told: now})
	other, again, err := retold(l.proc, all)
	defer other.end()
	if err == nil && (again.deed() != did.deed() || other.said != l.said) {
		err = l.proc.diverged(len(all), did, again)
	}
	return err
}

// retold replays a history to new code, and returns its life and its last output.
func retold(p *Proc, way []*past) (l *life, did *past, err error) {
	l = newLife(p)
	l.place = way[0].told.place
	for _, at := range way {
		if did, err = l.resumed(at.told); err != nil {
			break
		}
	}
	return l, did, err
}

// diverged is the error for code that did something else when it was told the same again.
func (p *Proc) diverged(request int, was, is *past) error {
	return &DivergedError{Step: p.sim.result.Steps,
		Differs: fmt.Sprintf("%s was told again what it had been told, and request %d was %q, and is now %q",
			p.name, request, was.deed(), is.deed())}
}

// unveil ends the code that was told other values.
func (l *life) unveil() {
	for _, other := range l.veiled {
		other.end()
	}
	l.veiled = nil
}

// resumed resumes the code of this life alone.
func (l *life) resumed(now told) (*past, error) {
	if l.request != nil && !l.request.Tell(now.answer) {
		return nil, fmt.Errorf(
			"the code of %s changed the answer to %q, which is remembered; a search without memory runs all code",
			l.proc.name, l.request.Asks(),
		)
	}
	did := &past{}
	l.told, l.doing, l.said, l.forgot = now, did, 0, ""
	l.times++
	l.proc.seed(l.times)
	l.proc.running = l
	l.resume()
	l.proc.running = nil
	l.request, did.said = did.request, l.said
	if drew := l.proc.sim.cfg.Memory.Drew; l.err == nil && drew != nil && drew() {
		l.err = &TakenError{NoRandomness, l.proc.name + " draws random bytes"}
	}
	return did, l.err
}

// seed seeds the random bytes of the code for the nth resumption of its life.
func (p *Proc) seed(nth uint64) {
	if seed := p.sim.cfg.Memory.Seed; seed != nil {
		seed(uint64(fingerprint.Hash(p.sim.cfg.Seed).Text(p.name).Number(nth)))
	}
}

// end unwinds the code.
func (l *life) end() {
	l.unveil()
	l.doing, l.proc.running = &past{}, l // what it does now is lost
	l.stop()
	l.proc.running = nil
}

// park parks the code, which asks for something.
func (l *life) park(s procState) {
	l.doing.state = s
	if !l.yield(struct{}{}) {
		panic(crashSignal{})
	}
}
