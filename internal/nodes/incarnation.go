package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// incarnation is the program as one incarnation of an actor: a process, or the memory of one.
type incarnation struct {
	program *Program
	actor   string
	check   func(again func() error) // see sim.Memory
	history *history                 // where it stands in the memory; nil without one
	left    <-chan struct{}          // see sim.Config.Left
	not     *process                 // the process that must not run it; nil means any may

	inputs []input // since its last output
	// the exchanges before that, in order; kept as long as they may have to be replayed to a process
	moved  []moment
	reader reader   // the reader of its process
	count  int      // requests so far
	news   bool     // it produced an output that is not in the memory
	first  inputKey // its first inputs, if they are in the memory
}

// moment is one exchange: inputs and output.
type moment struct {
	inputs []input
	did    output
}

// newLife begins an incarnation of the actor.
func (g *Program) newLife(actor string, clock sim.NodeClock) *incarnation {
	m := clock.Memory()
	l := &incarnation{program: g, actor: actor, check: m.Check, left: clock.Left()}
	if !m.Afresh && !g.Forgetful {
		l.history = g.remembered.first(cmp.Or(g.Memory, DefaultMemory))
	}
	return l
}

// tell queues a line, and reply queues an answer to the request at a place. listen delivers both.
func (l *incarnation) tell(t toldLine) { l.inputs = append(l.inputs, input{line: &t}) }

func (l *incarnation) reply(a *arrival, to *answer) {
	l.inputs = append(l.inputs, input{place: a.place, to: to})
}

// listen returns the program's reaction to the queued inputs. Its requests belong to the caller.
func (l *incarnation) listen(at string) (output, error) {
	select {
	case <-l.left: // even if all its outputs are remembered
		return output{}, sim.ErrLeft
	default:
	}
	now := moment{inputs: l.inputs}
	l.inputs = nil
	var key inputKey
	if l.history != nil {
		key = keyOf(now.inputs)
		if l.reader.p == nil {
			if next := l.program.remembered.known(l.history, key); next != nil {
				l.history, now.did = next, next.output
				l.moved = append(l.moved, now)
				return l.own(now.did), nil
			}
		}
	}
	if l.reader.p == nil {
		if err := l.bring(at); err != nil {
			return output{}, err
		}
	}
	var err error
	if now.did, err = l.do(at, now.inputs, nil); err != nil {
		return output{}, err
	}
	if l.history != nil {
		var isNew bool
		if l.history, isNew, err = l.program.remembered.note(l.history, key, now.did); err != nil {
			return output{}, l.changed(at, err)
		}
		l.news = l.news || isNew
		l.moved = append(l.moved, now)
	}
	return l.own(now.did), nil
}

// own returns the output with a copy of its requests: those in the memory are shared.
func (l *incarnation) own(d output) output {
	all := make([]*arrival, len(d.asked))
	for i, a := range d.asked {
		l.count++
		all[i] = &arrival{method: a.method, path: a.path, raw: a.raw, query: a.query, header: a.header, body: a.body,
			number: a.number, place: l.count}
	}
	d.asked = all
	return d
}

// bring starts a process, and replays the history to it.
func (l *incarnation) bring(at string) error {
	if len(l.moved) > 0 && l.history != nil {
		l.first = keyOf(l.moved[0].inputs)
	}
	p, err := l.program.take(l.actor, l.left, l.first, l.not)
	if err != nil {
		return err
	}
	l.reader = reader{p: p}
	done := 0
	if b := p.begun; b != nil {
		l.reader, p.begun, done = b.reader, nil, 1
		if err := l.moved[0].did.differs(b.did); err != nil {
			return l.changed(at, err)
		}
	}
	if slices.Contains(p.can, canQueue) {
		var lines []toldLine
		if lines, l.reader.queued = l.linesAfter(done); l.reader.queued {
			var telling sync.WaitGroup
			telling.Go(func() { p.tell(lines...) }) // while its output is read: the pipes hold less than a long history
			defer telling.Wait()
		}
	}
	for _, m := range l.moved[done:] {
		did, err := l.do(at, m.inputs, &m.did)
		if err != nil {
			return err
		}
		if err := m.did.differs(did); err != nil {
			return l.changed(at, err)
		}
		if l.reader.queued && !m.did.numberedAs(did) {
			return l.reader.p.wrong(at,
				"it has other numbers for its requests and timers than an earlier life that was told the same",
				fmt.Sprintf("a node whose hello says that it can %q numbers them anew in each life", canQueue))
		}
	}
	l.reader.queued = false
	return nil
}

// linesAfter returns the lines of the history without those of its first moments; the parameter first is how many these
// are. It returns false if a request came over HTTP and not as a line: it might overtake earlier lines.
func (l *incarnation) linesAfter(first int) (lines []toldLine, ok bool) {
	asked, timers := map[int]*arrival{}, []int(nil)
	for i, m := range l.moved {
		for _, in := range m.inputs {
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

// addressed adds the address of the process to the first line.
func (l *incarnation) addressed(line toldLine) toldLine {
	if line.initial != nil {
		init := *line.initial
		init.Endpoint = "http://" + l.reader.p.listener.Addr().String()
		line.initial = &init
	}
	return line
}

// do delivers inputs to the process, and returns its output.
func (l *incarnation) do(at string, inputs []input, want *output) (output, error) {
	for _, in := range inputs {
		if in.line == nil {
			l.reader.reply(in.place, in.to)
			continue
		}
		l.reader.tell(l.addressed(*in.line))
	}
	return l.reader.listen(at, want)
}

// changed is the error for a program whose output differs after the same history.
func (l *incarnation) changed(at string, err error) error {
	return l.reader.p.wrong(at, "it is not deterministic: its "+err.Error(),
		"it listens to something that the simulator does not decide: look for a real clock, real randomness, files, "+
			"sockets of its own, and variables of a module, which a process keeps from one life to the next (unless "+
			"each has a new one: new_process, newProcess)")
}

// wrong is the error for a program that breaks the protocol. Its process, if it has one, is not used any more.
func (l *incarnation) wrong(at, problem, hint string) *Error {
	if l.reader.p != nil {
		return l.reader.p.wrong(at, problem, hint)
	}
	return &Error{l.actor, at, problem, hint}
}

// end ends the incarnation; within says that it ended in the middle of a command. With check, a new output is verified
// by a replay in another process, because perhaps no other incarnation will ever reach it.
func (l *incarnation) end(within bool, now int64) error {
	if l.reader.p == nil {
		return nil
	}
	own := l.reader.p
	if err := l.giveBack(within, now); err != nil {
		return err
	}
	if l.check != nil && l.news {
		l.check(func() error {
			again := &incarnation{program: l.program, actor: l.actor, moved: l.moved, left: l.left, not: own}
			if err := again.bring(ending); err != nil {
				_ = again.giveBack(true, now) // the first error says what happened
				return err
			}
			return again.giveBack(within, now)
		})
	}
	return nil
}

// giveBack returns the process for reuse, if it can be reset.
func (l *incarnation) giveBack(within bool, now int64) error {
	p := l.reader.p
	if l.reader = (reader{}); p == nil {
		return nil
	}
	if err := p.forget(within, now); err != nil {
		return err
	}
	if p.reset {
		p.reset = false
		var next *begun
		if l.first != (inputKey{}) {
			next = &begun{actor: l.actor, key: l.first, first: l.moved[0], over: make(chan struct{})}
		}
		l.program.giveBack(p, next)
	}
	return nil
}

// begun is an incarnation that is started ahead of time. An actor most likely begins as it did before. At the
// beginning, a program creates its clients, which is a third of a short incarnation; here it overlaps with the run.
type begun struct {
	actor string
	key   inputKey // the key of its first inputs
	first moment

	over   chan struct{} // closed when it has begun
	reader reader
	did    output
	err    error
}

// begin makes the process begin its next incarnation.
func (p *process) begin(b *begun) {
	p.begun = b
	go func() {
		defer close(b.over)
		next := &incarnation{program: p.program, actor: b.actor, reader: reader{p: p}}
		b.did, b.err = next.do(starting, b.first.inputs, &b.first.did)
		b.reader = next.reader
	}()
}

// begins waits until the process is ready for, or has begun, an incarnation with these first inputs. It returns false
// if the process has ended: if the program is at fault, the next incarnation repeats and reports the mistake.
func (p *process) begins(first inputKey) bool {
	b := p.begun
	if b == nil {
		return true
	}
	if <-b.over; b.err != nil {
		p.kill()
		return false
	}
	if b.key == first {
		return true
	}
	p.begun = nil
	inMiddle := b.did.line == nil // it waits for an answer
	if p.forget(inMiddle, b.first.inputs[0].line.Time) != nil || !p.reset {
		return false
	}
	p.reset = false
	return true
}
