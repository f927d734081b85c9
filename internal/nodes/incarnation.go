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
	// verifies says that it replays the history of another incarnation, in a process that does nothing else.
	verifies bool
	left     <-chan struct{} // see sim.Config.Left

	inputs []input // since its last output
	// the exchanges before that, in order; kept as long as they may have to be replayed to a process
	moved  []moment
	reader reader // the reader of its process
	count  int    // requests so far
	news   bool   // it produced an output that is not in the memory
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
	if l.check != nil && l.history != nil {
		if err := l.program.searches(l); err != nil {
			return err
		}
	}
	p, err := l.program.take(l.actor, l.left, l.verifies)
	if err != nil {
		return err
	}
	l.reader = reader{p: p}
	if slices.Contains(p.can, canQueue) {
		var lines []toldLine
		if lines, l.reader.queued = l.lines(); l.reader.queued {
			var telling sync.WaitGroup
			telling.Go(func() { p.tell(lines...) }) // while its output is read: the pipes hold less than a long history
			defer telling.Wait()
		}
	}
	for _, m := range l.moved {
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

// lines returns the lines of the history. It returns false if a request came over HTTP and not as a line: it might
// overtake earlier lines.
func (l *incarnation) lines() (lines []toldLine, ok bool) {
	asked, timers := map[int]*arrival{}, []int(nil)
	for _, m := range l.moved {
		for _, in := range m.inputs {
			if in.line == nil {
				lines = append(lines, asked[in.place].line(in.to))
				continue
			}
			line := l.addressed(*in.line)
			if line.Timer > 0 {
				line.Timer = timers[line.Timer-1]
			}
			lines = append(lines, line)
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
	if err := l.giveBack(within, now); err != nil {
		return err
	}
	if l.check != nil && l.news {
		l.check(func() error {
			again := &incarnation{program: l.program, actor: l.actor, moved: l.moved, left: l.left, verifies: true}
			if err := again.bring(ending); err != nil {
				_ = again.giveBack(true, now) // the first error says what happened
				return err
			}
			return again.giveBack(within, now)
		})
	}
	return nil
}

// giveBack returns the process, if it has one, for reuse if it can be reset.
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
		l.program.giveBack(p)
	}
	return nil
}

// makeRoom gives back the process of an incarnation that is parked in a search. If the search asks for its next output,
// its history is replayed.
func (l *incarnation) makeRoom() error {
	if l.reader.p == nil || len(l.moved) == 0 || !slices.Contains(l.reader.p.can, canAbandon) {
		return nil
	}
	last := l.moved[len(l.moved)-1]
	return l.giveBack(last.did.line == nil, last.inputs[0].time())
}
