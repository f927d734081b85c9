// Package scenario runs chaos scenarios from Go: files with the nodes of a cache, a lock or an idempotency layer, the
// requests of their clients, clocks and faults (docs/SCENARIOS.md). It reads such a file and makes one run of it.
//
//	s, err := scenario.Load("paused-writer.yaml")
//	o, err := scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: 1, Trace: os.Stdout}.Do(ctx)
//	fmt.Print(o.Text)
//
// # Limits
//
// One run shows little. A test of your own cache makes many, and shrinks the one that fails: see package property.
// property.Replay also runs a file, as does the command isr-sim run.
//
// # Determinism
//
// The same scenario, protocol and seed give the same trace, byte for byte, on every machine.
package scenario

import (
	"context"
	"io"

	engine "github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Mark is a state that a run can reach, by its name in docs/SCENARIOS.md, such as "lock-taken-over". A check that
// reaches too few of them has judged nothing of interest, and fails.
type Mark = spec.Mark

// Promise is what a cache promises beyond the invariants that always hold.
type Promise = spec.Promise

// SyntaxError is a mistake in a scenario file.
type SyntaxError = spec.SyntaxError

// Marks returns all marks.
func Marks() []Mark { return spec.Marks() }

// Protocols returns the protocols that a scenario file may name in this program: the recipes and, in the command
// isr-sim, their mutants.
func Protocols() []isr.Protocol { return kernel.Protocols() }

// LoadRows reads a file with the single key rows, in the form of scenario files, for property.Check. A mistake in its
// contents is a *[SyntaxError].
func LoadRows(file string) (isr.Schema, error) { return spec.LoadRows(file) }

// Scenario is the content of a scenario file.
type Scenario struct{ of *spec.Scenario }

// Load reads a scenario file. A mistake in its contents is a *[SyntaxError]; several are joined as by errors.Join.
func Load(file string) (*Scenario, error) { return from(spec.Load(file)) }

// Parse reads a scenario from the contents of a file; the parameter file is for errors. The scenario may name
// Protocols, and also the given ones, which are for stores under test. Its errors are those of [Load].
func Parse(file string, data []byte, also ...isr.Protocol) (*Scenario, error) {
	return from(spec.Parse(file, data, also...))
}

func from(s *spec.Scenario, err error) (*Scenario, error) {
	if err != nil {
		return nil, err
	}
	return &Scenario{s}, nil
}

// YAML returns the scenario as a file that Parse reads back, without values that are defaults.
func (s *Scenario) YAML() ([]byte, error) { return s.of.YAML() }

// Run is one run of a scenario, as a value.
type Run struct {
	Scenario *Scenario
	Protocol isr.Protocol
	Seed     uint64 // decides the schedule, by a random walk
	// Invariants are the caller's own, which judge after those of package invariant. Only their Name, Statement and
	// Check are used.
	Invariants []invariant.Invariant
	Trace      io.Writer // if set, gets the text of the run, step by step
}

// Outcome is the result of a run.
type Outcome struct {
	Verdict invariant.Verdict
	Broken  []string // the names of all violated invariants, in the order of invariant.All
	Marks   []Mark   // the marks that were reached
	Text    string   // the verdict, and what led to it, as isr-sim prints it
}

// Do makes the run. Code that is not deterministic, panics, or waits for something outside the run gives an error
// instead of a verdict.
func (r Run) Do(ctx context.Context) (*Outcome, error) {
	of := kernel.Run{Scenario: r.Scenario.of, Protocol: r.Protocol, Seed: r.Seed, Trace: r.Trace}
	for _, inv := range r.Invariants {
		of.Options.Invariants = append(of.Options.Invariants, engine.Own(inv.Name, inv.Statement, inv.Check))
	}
	o, err := of.Do(ctx)
	if err != nil {
		return nil, err
	}
	return &Outcome{o.Verdict, o.Broken, o.Marks, o.Explain(r.Scenario.of.Name, r.Protocol.Name)}, nil
}
