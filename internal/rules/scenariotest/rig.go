package scenariotest

import (
	"context"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Sleepless is a clock on which a sleep ends at once: it moves time on itself.
type Sleepless struct{ *fakeclock.Clock }

// Sleep moves time.
func (c Sleepless) Sleep(d time.Duration) { c.Advance(d) }

// Bodies is a body store in memory.
type Bodies map[string][]byte

// PutBody implements isr.BodyStore.
func (b Bodies) PutBody(_ context.Context, name string, body []byte) error {
	b[name] = body
	return nil
}

// GetBody implements isr.BodyStore.
func (b Bodies) GetBody(_ context.Context, name string) ([]byte, error) {
	if body, ok := b[name]; ok {
		return body, nil
	}
	return nil, isr.ErrNoBody
}
