package calls

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Wire implements subject.Subject.
func (Subject) Wire() subject.Wire {
	return subject.Wire{
		Can: []string{verb}, Client: func(p subject.Program) isr.Handler { return program{p} },
		Member: verb, Promises: func() subject.Promises { return &promises{} },
	}
}

// promises are a promise.OnceTerms in seconds.
type promises struct {
	Payload bool `json:"payload"`
	subject.Waits
}

// Wrong implements subject.Promises.
func (t *promises) Wrong(can []string) error {
	if !slices.Contains(can, verb) {
		return fmt.Errorf("has terms of calls, and does not say that it can %q", verb)
	}
	return t.Waits.Wrong("calls")
}

// of returns the promises of calls that count as in progress for the given time.
func (t *promises) of(inProgress time.Duration) promise.OnceTerms {
	wait, takeover := t.Of(inProgress)
	return promise.OnceTerms{Payload: t.Payload, Wait: wait, Takeover: takeover}
}

// String implements subject.Promises.
func (t *promises) String() string { return fmt.Sprintf("%+v", t.of(0)) }

// Terms implements subject.Promises.
func (t *promises) Terms() subject.Terms {
	all := t.of(0)
	return subject.Terms{Payload: all.Payload, Wait: all.Wait, Takeover: all.Takeover}
}

// program is an idempotency layer in another process. It asks for the effect when it is to happen.
type program struct{ subject.Program }

var _ hooks.OnceClient = program{}

// OnceTerms implements hooks.OnceClient.
func (p program) OnceTerms() promise.OnceTerms {
	t, _ := p.Promises(Subject{}.Wire()).(*promises)
	return t.of(p.Config().Lease)
}

// Once implements hooks.OnceClient.
func (p program) Once(
	ctx context.Context, key, payload string, effect func(context.Context) (string, error),
) (string, error) {
	reply, err := p.Ask(ctx, verb, subject.Line{Verb: verb, Key: key, Payload: payload, Effect: effect})
	if err != nil && reply.Other {
		err = fmt.Errorf("%w: %w", isr.ErrOtherInputs, err)
	}
	return reply.Body, err
}
