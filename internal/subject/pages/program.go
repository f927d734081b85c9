package pages

import (
	"context"

	"github.com/isr-sim/isr-sim/internal/subject"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Wire implements subject.Subject.
func (Subject) Wire() subject.Wire {
	return subject.Wire{
		Can:    []string{"get", "invalidate", verbRegenerate, "rollback"},
		Client: func(p subject.Program) isr.Handler { return program{p} },
	}
}

// program is a cache in another process.
type program struct{ subject.Program }

var (
	_ isr.Invalidator = program{}
	_ isr.Regenerator = program{}
	_ isr.Rollbacker  = program{}
)

// Get implements isr.Handler.
func (p program) Get(ctx context.Context, key string) (isr.Served, error) {
	return p.ask(ctx, subject.Line{Verb: "get", Key: key})
}

// Invalidate implements isr.Invalidator.
func (p program) Invalidate(ctx context.Context, key string) error {
	_, err := p.ask(ctx, subject.Line{Verb: "invalidate", Key: key})
	return err
}

// Regenerate implements isr.Regenerator.
func (p program) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	return p.ask(ctx, subject.Line{Verb: verbRegenerate, Key: key, Request: r.ID, Inputs: r.Hash})
}

// Rollback implements isr.Rollbacker.
func (p program) Rollback(ctx context.Context, key string) error {
	_, err := p.ask(ctx, subject.Line{Verb: "rollback", Key: key})
	return err
}

func (p program) ask(ctx context.Context, c subject.Line) (isr.Served, error) {
	reply, err := p.Ask(ctx, c.Verb, c)
	if err != nil {
		return isr.Served{}, err
	}
	return isr.Served{Body: []byte(reply.Body), Fresh: reply.Fresh}, nil
}
