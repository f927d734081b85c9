package sim

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
	"github.com/isr-sim/isr-sim/internal/base/inside"
)

// Remembered is implemented by a Request of code whose deeds are remembered. See Memory.Search.
type Remembered interface {
	Request
	// Asks returns everything about the request that its sender decides.
	Asks() string
	// Answer returns the answer, for Tell. Later effects of the request must not change it.
	Answer() any
	// Tell gives an answer to another request that asks the same. It returns false if the answer is no longer what it
	// was, because the code that got it has changed it.
	Tell(answer any) bool
}

// Veiled is implemented by a Remembered request whose answer may hold a value that code is taken not to look at, so
// that a search need not stop time where the value says: see UnreadDeadlines. Wherever such an answer is told to code
// for the first time, the code also runs with other values in its place. If it then does anything else, a *TakenError
// breaks the run.
type Veiled interface {
	Remembered
	// Veiled returns answers with other values in the place of such ones, always as many; none if no such value is in
	// the answer. It arrives now, and at a local time by the node's clock.
	Veiled(answer any, now, local time.Time) []any
}

// pasts is what the code of actors did, by what it had been told. Between two parks an actor's code is a function of
// what it was told, in order: answers, and the times at which it was resumed. So it runs once for each past. Where a
// past is known, its deeds are done again, and no code runs. Where it is new, the code is brought there: it is started,
// and told everything that was told before, without world and scheduler. It must then ask for what it asked for before.
//
// The times count even if the code reads no clock, so that a deed may hold them.
type pasts struct {
	roots map[lifeOf]*past
	next  map[toldAt]*past
	lives map[lifeOf]*life
	later map[*Proc]*Proc          // by the incarnation before
	same  map[fingerprint.Hash]did // by past.since
	team  *team                    // nil without
	most  int                      // the bound of next; 0 is mostPasts
	// what code was told, after what it depends on, if it does not look at veiled values
	unread  map[fingerprint.Hash]bool
	strange uint64 // answers without a fingerprint, so far
	runs    int    // of code, from one park to the next
}

// mostPasts bounds how many pasts are remembered, at less than two kilobytes each. A full memory is emptied.
const mostPasts = 1 << 17

// lifeOf names a life: a Proc serves the actors at one place of a run, and of the visit after it.
type lifeOf struct {
	proc *Proc
	name string
}

// past is a moment of a life: what it was told last, and what its code does then.
type past struct {
	before *past
	told   told

	does   []func()         // to the world, besides the request
	says   string           // what it tells the world by that, since Proc.Forget, until depends has noted it
	said   fingerprint.Hash // see life.said
	veiled bool             // code that was told other values goes on from here: see life.veiled
	// since is all that what the code does here may depend on, since Proc.Forget; 0 if it may depend on all of its
	// past.
	since fingerprint.Hash

	state   procState // calling, sleeping, or ended
	request Remembered
	sleep   time.Duration
}

// toldAt is what a life is told at a past, by its fingerprint.
type toldAt struct {
	past *past
	told fingerprint.Hash
}

// told is what resumes an actor's code.
type told struct {
	true, local time.Time
	place       int // see Proc.Place
	answer      any // to its request, if it sent one
}

// life is the code of an actor's life, parked at some past.
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
	forgot  string           // what Proc.Forget was told last since then, behind a sign; "" without

	times  uint64 // that it was resumed
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
}

// Remembers says that the code that calls it runs for the memory. It must not look at the world, but only at what it is
// told, and must change the world by requests and by Tell alone.
func (p *Proc) Remembers() bool { return p.running != nil }

// Tell lets the actor's code change the world besides its requests: f runs at once, or, if the deed is remembered, each
// time that it is done.
func (p *Proc) Tell(f func()) {
	if l := p.running; l != nil {
		l.doing.does = append(l.doing.does, f)
		return
	}
	f()
}

// Says adds to what the code tells the world besides its requests. A search may take two pasts for one if the code does
// the same after both: then it must say the same after both, too.
func (p *Proc) Says(text string) {
	if l := p.running; l != nil {
		l.doing.says += text + "\n"
		l.said = l.said.Text(text)
	}
}

// Wrong ends the run with an error, in which the code that calls it panics. The run ends even if the code goes on. It
// must be code that runs for the memory.
func (p *Proc) Wrong(err *TakenError) {
	p.running.err = err
	panic(err)
}

// reads notes that the code reads a clock.
func (l *life) reads() {
	l.said = l.said.Number(1)
	l.proc.Tell(func() { l.proc.actor.readClock() })
}

// True returns true time for what a search compares anyway: see Now.
func (p *Proc) True() time.Time {
	if l := p.running; l != nil {
		return l.told.true
	}
	return p.sim.now()
}

// Place returns the number that the actor's code has set last, in this life or an earlier one; 0 at first.
func (p *Proc) Place() int {
	if l := p.running; l != nil {
		return l.place
	}
	return p.actor.place
}

// SetPlace sets the number, which a crash does not take away.
func (p *Proc) SetPlace(n int) {
	if l := p.running; l != nil {
		l.place, l.said = n, l.said.Number(2).Number(uint64(n))
	}
	p.Tell(func() { p.actor.place = n })
}

// recall resumes the actor's code, or does again what it did when it was told the same before.
func (p *Proc) recall() {
	m, a := p.sim.pasts, p.actor
	now := told{true: p.sim.now(), local: a.node.Now(), place: a.place}
	if p.state == notStarted {
		p.past = m.root(p)
	}
	when := fingerprint.Hash(now.true.UnixNano()).Number(uint64(now.local.UnixNano())).Number(uint64(now.place))
	key := when
	if p.request != nil {
		key = key.Number(p.answer)
	}
	at := toldAt{p.past, key}
	next := m.next[at]
	fresh := next == nil
	var since fingerprint.Hash // all that new code may depend on
	if fresh {
		if p.past.since != 0 {
			since = p.past.since.Number(uint64(key))
		}
		var err error
		if next, err = m.live(p, now, since); err != nil {
			p.sim.fail(err)
			return
		}
		m.next[at] = next
	}
	p.past, a.forgot = next, 0
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

// depends notes what the code says and asks for at a past, and returns an error if it was something else where
// Proc.Forget said that all it depends on was the same.
func (m *pasts) depends(p *Proc, at *past) error {
	says := at.says
	if at.says = ""; at.since == 0 {
		return nil
	}
	if m.same == nil {
		m.same = map[fingerprint.Hash]did{}
	}
	was, is := m.same[at.since], did{p.name, says + at.asks(), p.sim.result.Steps}
	m.same[at.since] = is
	return was.differs(is)
}

// did is what code said and asked for at a past.
type did struct {
	name, is string
	step     int
}

// differs returns an error if it is something else now, after a past of which the code depends on as little.
func (was did) differs(now did) error {
	if was == (did{}) || was.is == now.is {
		return nil
	}
	return &DivergedError{step: now.step,
		differs: fmt.Sprintf("%s asked for %q and for %q after two pasts of which it depends on neither, as it "+
			"says (Forget)",
			now.name, was.is, now.is)}
}

// root returns the past of a life that was told nothing.
func (m *pasts) root(p *Proc) *past {
	if m.roots == nil {
		m.roots, m.next, m.lives, m.unread = map[lifeOf]*past{}, map[toldAt]*past{}, map[lifeOf]*life{},
			map[fingerprint.Hash]bool{}
	}
	of := lifeOf{p, p.name}
	if m.roots[of] == nil {
		m.roots[of] = &past{}
	}
	return m.roots[of]
}

// after returns the Proc of the incarnation after another one. If deeds are remembered, it is always the same one.
func (m *pasts) after(p *Proc) *Proc {
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

// close forgets everything, and unwinds the code.
func (m *pasts) close() {
	//isrsim:unordered each by itself
	for _, l := range m.lives {
		l.end()
	}
	clear(m.lives)
	clear(m.next) // the pasts of lives under way stay
	clear(m.same)
	clear(m.unread)
}

// live runs the code from the actor's past on. What it is told now is new there.
func (m *pasts) live(p *Proc, now told, since fingerprint.Hash) (*past, error) {
	if m.team != nil {
		m.team.code.Lock()
		defer m.team.code.Unlock()
	}
	if r := p.past.request; r != nil {
		now.answer = r.Answer()
	}
	if len(m.next) >= cmp.Or(m.most, mostPasts) {
		m.close()
	}
	l := m.lives[lifeOf{p, p.name}]
	if l == nil || l.at != p.past {
		var err error
		if l, err = m.bring(p, now); err != nil {
			return nil, err
		}
	}
	did, err := l.tell(now, since)
	if err != nil {
		return nil, err
	}
	did.before, did.told, did.veiled = p.past, now, l.veiled != nil
	l.at = did
	m.runs++
	return did, nil
}

// bring starts the code, and tells it all that was told to the life until the actor's past.
func (m *pasts) bring(p *Proc, now told) (*life, error) {
	of := lifeOf{p, p.name}
	if l := m.lives[of]; l != nil {
		l.end()
	}
	l := newLife(p)
	m.lives[of] = l
	way := p.past.way()
	l.at, l.place = p.past, now.place
	resume := l.resumed
	if p.past.veiled {
		resume = func(now told) (*past, error) { return l.tell(now, 0) }
	}
	for n, at := range way {
		if n == 0 {
			l.at, l.place = at.before, at.told.place
		}
		did, err := resume(at.told)
		if err != nil {
			return nil, err
		}
		if at.deed() != did.deed() {
			return nil, p.diverged(n+1, at, did)
		}
		if at.said != did.said {
			return nil, &DivergedError{step: p.sim.result.Steps,
				differs: fmt.Sprintf("%s was told again what it had been told, and answered its client otherwise "+
					"than before, before request %d, which was %q", p.name, n+1, did.deed())}
		}
		l.at = at
	}
	return l, nil
}

// way returns the pasts that lead here, in order.
func (at *past) way() (way []*past) {
	for ; at.before != nil; at = at.before {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// deed is what the code does, in words.
func (at *past) deed() string { return fmt.Sprintf("%s, after %d events", at.asks(), len(at.does)) }

// asks is what the code asks for, in words.
func (at *past) asks() string {
	switch {
	case at.state == sleeping:
		return fmt.Sprintf("a sleep of %v", at.sleep)
	case at.request == nil: // the code is over, perhaps long before: it need not be deterministic
		return "none"
	default:
		return at.request.Asks()
	}
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

// tell resumes the code, and returns what it does until it parks. If the code is told a value that it is taken not to
// look at, it must do the same with others in its place, until it has forgotten them all. That is known of what has
// been checked before: what the code is told after all that it depends on; 0 if it may depend on everything.
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

// repeats checks that code does what this life has done, if it is told the same. Else it is no deadline that it looks
// at, and a search that began anew might see only what the code does from now on.
func (l *life) repeats(now told, did *past) error {
	all := append(l.at.way(), &past{told: now})
	other, again, err := retold(l.proc, all)
	defer other.end()
	if err == nil && (again.deed() != did.deed() || other.said != l.said) {
		err = l.proc.diverged(len(all), did, again)
	}
	return err
}

// retold returns a life whose code was told all that is on a way, and what it did last.
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
	return &DivergedError{step: p.sim.result.Steps,
		differs: fmt.Sprintf("%s was told again what it had been told, and request %d was %q, and is now %q",
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

// seed gives the code that goes on, for the nth time of its life, random bytes of its own.
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

// kept is a moment of a run, to go on from.
type kept struct {
	sim     *Sim
	was     Sim
	now     time.Time
	actors  []keptActor
	sources []Source
	orphans []orphan
	world   func(moved bool)
}

type keptActor struct {
	actor actor
	node  fakeclock.Node
	proc  *Proc // a copy, if it is not the first; else nil
}

// keep keeps the moment, in the place of one that is no longer needed, if there is one.
func (s *Sim) keep(k *kept) *kept {
	if k == nil {
		k = &kept{actors: make([]keptActor, len(s.actors))}
	}
	k.sim, k.was, k.now, k.world = s, *s, s.clock.Now(), s.cfg.Keep()
	k.sources, k.orphans = append(k.sources[:0], s.sources...), append(k.orphans[:0], s.orphans...)
	for i, a := range s.actors {
		k.actors[i] = keptActor{actor: *a, node: *a.node}
		if a.proc != &a.first {
			now := *a.proc
			k.actors[i].proc = &now
		}
	}
	return k
}

// restore puts the run and its world back to the moment.
func (k *kept) restore() {
	s := k.sim
	moved := !s.clock.Now().Equal(k.now)
	*s = k.was
	inside.In(s.clock).Set(k.now)
	for i, a := range s.actors {
		*a = k.actors[i].actor
		*a.node = k.actors[i].node
		if a.proc != &a.first {
			*a.proc = *k.actors[i].proc
		}
	}
	s.sources = append(s.sources[:0], k.sources...)
	s.orphans = slices.Clone(k.orphans)
	s.result.Choices = append(make(Choices, 0, len(s.result.Choices)+usualChoices), s.result.Choices...)
	k.world(moved)
}
