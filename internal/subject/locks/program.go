package locks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The abilities of a program that has locks.
const (
	canHold   = "hold"   // and release, too
	canHeld   = "held"   // a lock can be asked whether it is still held
	canExtend = "extend" // a lock's lease can be extended: it begins anew
)

// Wire implements subject.Subject.
func (Subject) Wire() subject.Wire {
	return subject.Wire{
		Can:    []string{canHold, canHeld, canExtend, subject.Work},
		PartOf: map[string]string{canHeld: canHold, canExtend: canHold},
		Client: func(p subject.Program) isr.Handler { return program{p} },
		Member: "lock", Promises: func() subject.Promises { return &promises{} },
	}
}

// promises are a promise.LockTerms in seconds.
type promises struct {
	Heartbeats bool    `json:"heartbeats"`
	Margin     float64 `json:"margin"`
	subject.Waits
}

// Wrong implements subject.Promises.
func (t *promises) Wrong(can []string) error {
	if !slices.Contains(can, canHold) {
		return fmt.Errorf("has terms of a lock, and does not say that it can %q", canHold)
	}
	if t.Heartbeats && !slices.Contains(can, subject.Work) {
		return fmt.Errorf("has a lock with heartbeats, and does not say that it can %q: without it no heart beats "+
			"while a lock is held", subject.Work)
	}
	return cmp.Or(t.Waits.Wrong("a lock"), subject.WrongSeconds("a lock", "margin", t.Margin))
}

// of returns the promises of a lock with the given lease.
func (t *promises) of(lease time.Duration) promise.LockTerms {
	wait, takeover := t.Of(hooks.DefaultTakeover(lease))
	return promise.LockTerms{
		Heartbeats: t.Heartbeats, Margin: subject.Seconds(t.Margin), Wait: wait, Takeover: takeover,
	}
}

// String implements subject.Promises.
func (t *promises) String() string { return fmt.Sprintf("%+v", t.of(0)) }

// Terms implements subject.Promises.
func (t *promises) Terms() subject.Terms {
	all := t.of(0)
	return subject.Terms{Margin: all.Margin, Wait: all.Wait, Takeover: all.Takeover}
}

// program is a lock in another process.
type program struct{ subject.Program }

var _ hooks.LockClient = program{}

// Terms implements hooks.LockClient.
func (p program) Terms() promise.LockTerms {
	t, _ := p.Promises(Subject{}.Wire()).(*promises)
	return t.of(p.Config().Lease)
}

// Acquire implements hooks.LockClient.
func (p program) Acquire(ctx context.Context, name string) (*hooks.Held, error) {
	taken, err := p.Ask(ctx, canHold, subject.Line{Verb: "hold", Key: name})
	if err != nil {
		return nil, err
	}
	held := &hooks.Held{Release: func(ctx context.Context) error {
		_, err := p.Ask(ctx, canHold, subject.Line{Verb: "release", Key: name})
		return err
	}}
	token := int64(0)
	if taken.Token != nil {
		token = *taken.Token
		held.Token = func() int64 { return token }
	}
	if p.Can(canHeld) {
		held.Holds = func(ctx context.Context) (bool, error) {
			reply, err := p.Ask(ctx, canHeld, subject.Line{Verb: "held", Key: name})
			return reply.Held, err
		}
	}
	if p.Can(canExtend) {
		held.Extend = func(ctx context.Context) error {
			reply, err := p.Ask(ctx, canExtend, subject.Line{Verb: "extend", Key: name})
			if err == nil && reply.Token != nil {
				token = *reply.Token
			}
			return err
		}
	}
	if !p.Can(subject.Work) {
		p.Wait()
		return held, nil
	}
	held.Work = func(ctx context.Context, d time.Duration) {
		p.Work(ctx, subject.Line{Verb: subject.Work, Key: name, For: d.Seconds()})
	}
	return held, nil
}
