package property_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// machine is a state machine of rapid over a cache of three nodes on a ddbfake. Nodes are asked for a page, other
// requests come during long renderings, time passes, TTL deletes, and answers are lost. It has no model: at the end the
// invariants judge the change log and the events.
func machine(newCache func(isr.Config) (isr.Handler, error)) func(*rapid.T) {
	return func(t *rapid.T) {
		clock := scenariotest.Sleepless{Clock: fakeclock.New(fakeclock.Epoch)}
		db := ddbfake.New(ddbfake.Options{Clock: clock})
		must.Done(t)(db.As("setup").CreateTable(context.Background(), isr.TableInput("cache")))
		var events []history.Event
		see := func(e history.Event) {
			changes := db.Changes()
			e.Seq, e.Time, e.Key, e.Change = len(events)+1, clock.Now(), "/home", len(changes)
			events = append(events, e)
		}
		nodes, names, bodies := map[string]isr.Handler{}, []string{"alice", "bob", "carol"}, scenariotest.Bodies{}
		get := func(node string) {
			see(history.Event{Actor: node, Kind: history.Asked})
			page, err := nodes[node].Get(context.Background(), "/home")
			switch {
			case err != nil:
				see(history.Event{Actor: node, Kind: history.Failed, Note: err.Error()})
			case page.Fresh:
				see(history.Event{Actor: node, Kind: history.Served, As: history.Fresh, Body: string(page.Body)})
			default:
				see(history.Event{Actor: node, Kind: history.Served, As: history.Stale, Body: string(page.Body)})
			}
		}
		var slow func() // called while the next page is rendered; may be nil
		tokens := 0
		for _, node := range names {
			var err error
			nodes[node], err = newCache(isr.Config{
				Client: db.As(node), Table: "cache", Clock: clock, Bodies: bodies, Lease: 10 * time.Second,
				Revalidate: time.Minute, Tokens: func() string { tokens++; return fmt.Sprintf("%s-%d", node, tokens) },
				Render: func(context.Context, string, func(context.Context) error) ([]byte, error) {
					body := fmt.Sprintf("body %d", len(events))
					see(history.Event{Actor: node, Kind: history.Rendered, Body: body})
					if meanwhile := slow; meanwhile != nil {
						slow = nil
						meanwhile()
					}
					return []byte(body), nil
				},
			})
			must.OK(t, err)
		}
		anyNode, anyTime := rapid.SampledFrom(names), rapid.SampledFrom([]time.Duration{time.Second, 9 * time.Second,
			11 * time.Second, time.Minute})
		t.Repeat(map[string]func(*rapid.T){
			"get":  func(t *rapid.T) { get(anyNode.Draw(t, "node")) },
			"wait": func(t *rapid.T) { clock.Advance(anyTime.Draw(t, "for")) },
			"slow": func(t *rapid.T) {
				d, other, comes := anyTime.Draw(t, "for"), anyNode.Draw(t, "meanwhile"), rapid.Bool().Draw(t, "comes")
				slow = func() {
					if clock.Advance(d); comes {
						get(other)
					}
				}
			},
			"sweep": func(*rapid.T) { db.SweepExpired() },
			"lose":  func(*rapid.T) { db.Inject(ddbfake.Fault{Kind: ddbfake.FaultResponseLost, Times: 1}) },
		})
		evidence := invariant.Evidence{Changes: db.Changes(), History: events, Revalidate: time.Minute}
		invariant.Judge(evidence, func(inv invariant.Invariant, f invariant.Finding) {
			t.Fatalf("%v: %s: %s\n%s", f.Verdict, inv.Name, inv.Statement, f.Why)
		})
	}
}

// TestMachine has everything that a test of your own needs.
func TestMachine(t *testing.T) { rapid.Check(t, machine(recipe.New)) }

// TestMachineFindsABug: the publish has no condition, so a slow writer overwrites the page of its successor.
func TestMachineFindsABug(t *testing.T) {
	for name, value := range map[string]string{"rapid.nofailfile": "true", "rapid.seed": "1", "rapid.checks": "100"} {
		was := flag.Lookup(name).Value.String()
		must.OK(t, flag.Set(name, value))
		t.Cleanup(func() { _ = flag.Set(name, was) })
	}
	seen := watched{TB: t}
	func() {
		defer func() { _ = recover() }() // FailNow panics
		rapid.Check(&seen, machine(scenariotest.Protocol(t, "blind-publish").New))
	}()
	if !strings.Contains(seen.said.String(), "violated: monotonic-publication: ") {
		t.Errorf("the machine has not found a publish over a newer page:\n%s", seen.said.String())
	}
}

// watched is a test whose failures are only recorded.
type watched struct {
	testing.TB
	said   strings.Builder
	failed bool
}

func (w *watched) Helper() {}

func (w *watched) Errorf(format string, args ...any) {
	w.failed = true
	fmt.Fprintf(&w.said, format+"\n", args...)
}

func (w *watched) Fatalf(format string, args ...any) { w.Errorf(format, args...); w.FailNow() }

func (w *watched) Logf(format string, args ...any) { fmt.Fprintf(&w.said, format+"\n", args...) }

func (w *watched) Fail() { w.failed = true }

func (w *watched) FailNow() { w.failed = true; panic("failed") }

func (w *watched) Failed() bool { return w.failed }
