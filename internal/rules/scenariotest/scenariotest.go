// Package scenariotest has the scenarios, protocols and runs that the tests of several packages share.
package scenariotest

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	_ "github.com/isr-sim/isr-sim/internal/protocols/mutant"         // for scenario.Protocols
	_ "github.com/isr-sim/isr-sim/internal/protocols/policyprotocol" // likewise
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/search/schedules"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Embedded returns an embedded scenario.
func Embedded(t testing.TB, name string) *spec.Scenario {
	t.Helper()
	data, err := fixtures.Read(name)
	must.OK(t, err)
	s, err := spec.Parse(name+".yaml", data)
	must.OK(t, err)
	return s
}

// Parsed reads a scenario given as text.
func Parsed(t testing.TB, text string) *spec.Scenario {
	t.Helper()
	return must.Of(spec.Parse("test.yaml", []byte(text)))(t)
}

// Protocol returns one of scenario.Protocols.
func Protocol(t testing.TB, name string) isr.Protocol {
	t.Helper()
	return must.Of(kernel.ProtocolNamed(name))(t)
}

// Logs makes some runs of a protocol in a scenario, and calls the function each with the change log and the outcome of
// each run, until it returns false.
func Logs(t testing.TB, s *spec.Scenario, p isr.Protocol, runs int, each func([]ddbfake.Change, *kernel.Outcome) bool) {
	t.Helper()
	var changes []ddbfake.Change
	r := kernel.Run{Scenario: s, Protocol: p, Seed: 1}
	r.Invariants = []invariant.Invariant{invariant.Own("the log", "is kept",
		func(run invariant.Record) invariant.Said {
			changes = run.Changes
			return invariant.Said{Verdict: invariant.OK}
		})}
	must.Of(schedules.New(r, strategy.Plan{}, runs, 1))(t).All(t.Context(), func(a schedules.Attempt) bool {
		must.OK(t, a.Err)
		return each(changes, a.Outcome)
	})
}

// Trace makes a run, and returns what it prints and its outcome.
func Trace(t testing.TB, r kernel.Run) (string, *kernel.Outcome) {
	t.Helper()
	var b bytes.Buffer
	r.Trace = &b
	o := must.Of(r.Do(t.Context()))(t)
	return b.String(), o
}

// Ran runs a campaign, or anything else with a method Run, and returns its result.
func Ran[R any](t testing.TB, c interface {
	Run(ctx context.Context) (R, error)
}) R {
	t.Helper()
	return must.Of(c.Run(t.Context()))(t)
}

// Lonely is a scenario with one actor and one command. A test may add keys to it.
const Lonely = `
name: lonely
actors:
  - name: alice
    script: [get /home]
`

// Troubled returns a scenario with the given faults.
func Troubled(faults string) string {
	return fmt.Sprintf(`
name: troubled
protocol: recipe-a
cache: {lease: 10s, revalidate: 20s}
actors:
  - {name: alice, script: [get /home, sleep 21s, get /home]}
  - {name: bob, script: [sleep 1s, get /home]}
faults: [%s]
settle: 30s
bounds: {ticks: 0, schedules: 300}
`, faults)
}

// Touchy returns a protocol that panics if its publish fails.
func Touchy(t testing.TB) isr.Protocol {
	p := Protocol(t, "recipe-a")
	return isr.Protocol{Name: "touchy", New: func(c isr.Config) (isr.Handler, error) {
		handler, err := p.New(c)
		return panicky{handler}, err
	}}
}

type panicky struct{ isr.Handler }

func (p panicky) Get(ctx context.Context, key string) (isr.Served, error) {
	served, err := p.Handler.Get(ctx, key)
	if err != nil {
		panic(err)
	}
	return served, nil
}

// Fickle returns a protocol that is not deterministic: it is broken in every other run. nodes is the number of nodes in
// a run of the scenario.
func Fickle(t testing.TB, nodes int64) isr.Protocol {
	good, bad := Protocol(t, "recipe-a"), Protocol(t, "lease-in-milliseconds")
	var made atomic.Int64
	return isr.Protocol{Name: "fickle", New: func(c isr.Config) (isr.Handler, error) {
		if (made.Add(1)-1)/nodes%2 == 0 {
			return bad.New(c)
		}
		return good.New(c)
	}}
}

// Sleepless is a clock on which a sleep ends at once: the sleep itself moves the clock.
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

// SameAfterPrinting checks that a scenario does not change when it is printed and read again.
func SameAfterPrinting(t *testing.T, s *spec.Scenario) {
	t.Helper()
	printed, err := s.YAML()
	if err != nil {
		t.Fatalf("YAML: %v", err)
	}
	again, err := spec.Parse(s.File, printed)
	if err != nil {
		t.Fatalf("Parse of what YAML printed: %v\n%s", err, printed)
	}
	if diff := cmp.Diff(s, again, cmpopts.EquateComparable(ddbfake.Lag{})); diff != "" {
		t.Errorf("printed and read again (-before +after):\n%s\n%s", diff, printed)
	}
}
