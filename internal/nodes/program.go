package nodes

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The words for where a program is outside of a command.
const (
	starting  = "its start"
	resetting = "its reset"
	ending    = "its end, done once more"
)

// DefaultLimit is how long a process may be silent, in real time. On a busy machine one needs half a minute to start.
const DefaultLimit = time.Minute

// defaultSettle is for a program that may have several requests under way and does not say when it is quiet. It counts
// as quiet when it has sent no request for this long, in real time.
const defaultSettle = 50 * time.Millisecond

// Program makes the nodes of one scenario after another. It has the command that starts a node. Close ends their
// processes.
type Program struct {
	Command string          // for the shell
	Context context.Context // the context of all runs
	Limit   time.Duration   // the longest silence; 0 means DefaultLimit
	// how long a program that never says that it is quiet must be silent to count as quiet; 0 means defaultSettle
	Settle time.Duration
	Stderr io.Writer // gets the processes' stderr, with their actors' names; nil drops it
	// Forgetful runs all code, and remembers no outputs. Otherwise Memory bounds the remembered outputs, in bytes; 0
	// means DefaultMemory.
	Forgetful bool
	Memory    int

	remembered memory
	warden     warden
	mu         sync.Mutex
	hello      *said // the hello of the first process
	idle       []*process
	closed     bool
	searching  []*incarnation // those of a search that have a process
	real       []string       // sorted
	out        sync.Mutex     // it guards Stderr
}

// Protocol returns the program as a protocol.
func (g *Program) Protocol() isr.Protocol {
	return isr.Protocol{
		Name: shell.ExecPrefix + g.Command, Summary: "A program that speaks the protocol of docs/NODES.md.",
		SDK: true, New: func(c isr.Config) (isr.Handler, error) { return g.boot(c) },
	}
}

// Close ends all processes. No run may be under way.
func (g *Program) Close() {
	g.mu.Lock()
	idle := g.idle
	g.closed, g.idle = true, nil
	g.mu.Unlock()
	for _, p := range idle { // meanwhile they may call Uses, so g.mu is not held
		p.kill()
	}
	g.warden.close()
}

// Can returns the abilities that the program's hello names. The process that said hello is kept for an incarnation.
func (g *Program) Can(actor string) ([]string, error) {
	p, err := g.take(actor, hooks.Left(g.Context), false)
	if err != nil {
		return nil, err
	}
	g.giveBack(p)
	return slices.Clone(p.can), nil
}

// greeted returns the first hello.
func (g *Program) greeted() said {
	g.mu.Lock()
	defer g.mu.Unlock()
	return *cmp.Or(g.hello, &said{})
}

// Promises returns what the program promises about a subject; nil if nothing can be promised about the subject. It may
// be called after Can.
func (g *Program) Promises(of subject.Wire) subject.Promises { return g.greeted().promise(of) }

// promise returns the promises about a subject; the usual ones if the hello lacks the subject's member.
func (s said) promise(of subject.Wire) subject.Promises {
	if p := s.promises[of.Member]; p != nil || of.Promises == nil {
		return p
	}
	return of.Promises()
}

// greet notes what the hello of a process says about its program.
func (g *Program) greet(hello said) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hello = cmp.Or(g.hello, &hello)
	if !slices.Equal(g.hello.Can, hello.Can) {
		return fmt.Errorf("said that it can %v, and now %v: each process must say the same", g.hello.Can, hello.Can)
	}
	for _, s := range list.Subjects() {
		wire := s.Wire()
		if wire.Promises == nil {
			continue
		}
		if was, is := g.hello.promise(wire).String(), hello.promise(wire).String(); was != is {
			return fmt.Errorf("said the terms of its %s, %s, and now %s: each process must say the same", s.Name(), was,
				is)
		}
	}
	return nil
}

// Real names the unsimulated things that the program's processes have used so far, such as child processes. No run
// judges them.
func (g *Program) Real() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.real)
}

// Uses notes that a process uses something real, or that one did in an earlier part of a search.
func (g *Program) Uses(all ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, what := range all {
		if i, known := slices.BinarySearch(g.real, what); !known {
			g.real = slices.Insert(g.real, i, what)
		}
	}
}

func (g *Program) limit() time.Duration {
	if g.Limit <= 0 {
		return DefaultLimit
	}
	return g.Limit
}

// take returns a process for an incarnation of the actor: the one that was used last, because it is the fastest, or a
// new one. The processes that verify are others than those that run code for the first time.
func (g *Program) take(actor string, left <-chan struct{}, verifies bool) (*process, error) {
	g.mu.Lock()
	i := len(g.idle) - 1
	for i >= 0 && g.idle[i].verifies != verifies {
		i--
	}
	if i < 0 {
		g.mu.Unlock()
		return g.start(actor, left, verifies)
	}
	p := g.idle[i]
	g.idle = slices.Delete(g.idle, i, i+1)
	g.mu.Unlock()
	p.mu.Lock()
	p.name = actor
	p.mu.Unlock()
	p.left = left
	return p, nil
}

// searches makes an incarnation of a search the one that gets a process. A search runs the code of one actor many times
// before that of another one, so the others give their processes back. A program makes one search at a time.
func (g *Program) searches(l *incarnation) error {
	with := []*incarnation{l}
	for _, other := range g.searching {
		if other.actor != l.actor {
			if err := other.makeRoom(); err != nil {
				return err
			}
		}
		if other.reader.p != nil {
			with = append(with, other)
		}
	}
	g.searching = with
	return nil
}

// giveBack keeps a process for reuse.
func (g *Program) giveBack(p *process) {
	g.mu.Lock()
	closed := g.closed
	if !closed {
		g.idle = append(g.idle, p)
	}
	g.mu.Unlock()
	if closed {
		p.kill()
	}
}

// note prints a line of a process's stderr.
func (g *Program) note(actor string, line []byte) {
	if g.Stderr == nil {
		return
	}
	g.out.Lock()
	defer g.out.Unlock()
	_, _ = fmt.Fprintf(g.Stderr, "%s: %s\n", actor, line) // an error means that nobody reads it any more
}
