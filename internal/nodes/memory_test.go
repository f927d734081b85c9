//go:build unix

package nodes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/nodes"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/exhaustive"
)

// TestMemory: runs have the same traces, byte for byte, with a memory, with a memory that is constantly emptied, and
// without one.
func TestMemory(t *testing.T) {
	effort.Long(t)
	t.Parallel() // it waits more than it works
	type setting struct {
		forgetful bool
		most      int
	}
	seeds := effort.Fewer(6, 2)
	type code struct{ behaviour, scenario string }
	all := []code{{"three-parallel", ""}, {"lets-go", ""}, {"reference", "crashed-holder"},
		{"reference", "two-contenders"}, {"reference", "lost-response"}, {"reference", "skewed-clocks"}}
	for _, test := range effort.Fewer(all, all[:3]) {
		s := oneNode(t)
		if test.scenario != "" {
			s = scenariotest.Embedded(t, test.scenario)
		}
		var want []string
		for _, with := range []setting{{forgetful: true}, {}, {most: 1}} {
			p := program(t, test.behaviour, 0)
			p.Forgetful, p.Memory, p.Settle = with.forgetful, with.most, 300*time.Millisecond
			for i := range seeds {
				var trace strings.Builder
				// each twice
				run := kernel.Run{
					Scenario: s, Protocol: p.Protocol(), Seed: sim.Derive(2, i%(seeds/2)), Trace: &trace,
				}
				if _, err := run.Do(t.Context()); err != nil {
					t.Fatalf("%s in %s, %+v: %v", test.behaviour, test.scenario, with, err)
				}
				if with.forgetful {
					want = append(want, trace.String())
				} else if trace.String() != want[i] {
					t.Fatalf("%s in %s, %+v, schedule %d: got\n%s\nwant\n%s", test.behaviour, test.scenario, with, i,
						trace.String(), want[i])
				}
			}
		}
	}
}

// TestASearchNeedsTwoProcesses: a proof runs the code of all actors in one process, and verifies it in another. When it
// returns to an actor that had to give the process back, it goes on as without memory. A third process serves the
// schedule that is run without memory.
func TestASearchNeedsTwoProcesses(t *testing.T) {
	t.Parallel() // it waits more than it works
	s := scenariotest.Parsed(t, "name: two\nabout: two\nbounds: {ticks: 0}\nfaults: [maybe response-lost op=GetItem]\n"+
		"cache: {patience: 1, poll: 10s, render: 0s}\n"+
		"actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n")
	prove := func(forgetful bool) (exhaustive.Explored, []int) {
		p := program(t, "queue", 10*time.Second)
		p.Forgetful = forgetful
		begun := incarnations(t, p)
		proof := scenariotest.Ran(t, campaign.Prove{
			Scenario: s, Protocol: p.Protocol(), Seed: 1, Options: kernel.Options{SDK: true},
		})
		return proof.Explored, begun()
	}
	want, _ := prove(true)
	if got, begun := prove(false); got != want || len(begun) != 3 || 5*begun[0] > begun[1] {
		t.Errorf("got %+v, and %v incarnations in the processes; want %+v, and 3 processes, one with few", got, begun,
			want)
	}
}

// incarnations makes the processes of a program write down what they are told. The function that it returns counts the
// incarnations of each process, in ascending order.
func incarnations(t *testing.T, p *nodes.Program) func() []int {
	told := t.TempDir()
	p.Command = fmt.Sprintf("tee '%s'/$$ | %s", told, p.Command)
	return func() (begun []int) {
		for _, file := range must.Of(os.ReadDir(told))(t) {
			text := must.Of(os.ReadFile(filepath.Join(told, file.Name())))(t)
			begun = append(begun, strings.Count(string(text), `"type":"init"`))
		}
		slices.Sort(begun)
		return begun
	}
}

// TestADoneNodeNeedsNoProcess: the process of a node whose script is over serves the next incarnation, that of the
// visitor.
func TestADoneNodeNeedsNoProcess(t *testing.T) {
	p := program(t, "queue", 10*time.Second)
	begun := incarnations(t, p)
	s := oneNode(t)
	s.Settle = 30 * time.Second
	must.Done(t)(kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: 1}.Do(t.Context()))
	if got := begun(); !slices.Equal(got, []int{2}) {
		t.Errorf("got %v incarnations in the processes, want 2 in one", got)
	}
}

// TestALongPastIsTold: a history that is replayed at once may be longer than the pipes to and from the process hold.
func TestALongPastIsTold(t *testing.T) {
	p := program(t, "queue", 10*time.Second)
	for _, gets := range []int{400, 401} {
		text := "name: long\nabout: long\nactors: [{name: alice, script: [" + strings.Repeat("get /home, ", gets) +
			"sleep 1s]}]\n"
		s := scenariotest.Parsed(t, text)
		must.Done(t)(kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: 1}.Do(t.Context()))
	}
}

// TestMemoryIsNotBelieved: a proof and a campaign find a program whose output differs after the same history. They find
// it when the history is replayed, even after a history that no other incarnation reaches.
func TestMemoryIsNotBelieved(t *testing.T) {
	effort.Long(t)
	var bad *nodes.Error
	two := scenariotest.Parsed(t,
		"name: two\nabout: two\n"+
			"actors: [{name: alice, script: [get /home]}, {name: bob, script: [sleep 9s, get /home]}]\n"+
			"bounds: {ticks: 0}\n")
	// "random" asks for a count that the process keeps, and "own-number" for the id of the process
	for behaviour, s := range map[string]*spec.Scenario{"random": oneNode(t), "own-number": two} {
		p := program(t, behaviour, 0)
		_, err := campaign.Prove{
			Scenario: s, Protocol: p.Protocol(), Options: kernel.Options{SDK: true},
		}.Run(t.Context())
		if want := `not deterministic: its request 2 was "GET /_isr-sim/bodies/`; !errors.As(err, &bad) ||
			!strings.Contains(bad.Problem, want) {
			t.Errorf("proof of %s: got %v, want ...%s", behaviour, err, want)
		}
	}
	// Two schedules differ from where one answer is lost. The history before that, from the first, is replayed to a
	// process of the second.
	s := scenariotest.Parsed(t, "name: lost\nabout: lost\nactors: [{name: alice, script: [get /home]}]\n"+
		"faults: [maybe response-lost op=GetItem]\nbounds: {ticks: 1}\n")
	p := program(t, "counts-on", 0)
	_, err := campaign.Prove{Scenario: s, Protocol: p.Protocol(), Options: kernel.Options{SDK: true}}.Run(t.Context())
	if want := "it has other numbers for its requests"; !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
		t.Errorf("proof: got %v, want ...%s", err, want)
	}
	// Processes differ in their ports, which errors of HTTP libraries name, in addresses in memory, and in how many
	// lines they have read.
	p = program(t, "names-port", 0)
	must.Done(t)(campaign.Prove{
		Scenario: s, Protocol: p.Protocol(), Options: kernel.Options{SDK: true},
	}.Run(t.Context()))
	// State kept from other incarnations may show only in the last output of one, which no other incarnation reaches.
	p = program(t, "keeps", 0)
	_, err = campaign.Prove{
		Scenario: s, Protocol: p.Protocol(), Seed: 7, Options: kernel.Options{SDK: true},
	}.Run(t.Context())
	if want := "not deterministic: its answer was"; !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
		t.Errorf("proof: got %v, want ...%s", err, want)
	}
	if broken, is := errors.AsType[*kernel.BrokenError](err); !is || broken.Replay().Seed != 7 ||
		len(broken.Replay().Choices) == 0 {
		t.Errorf("got the replay %+v, want that of the run in which it was done at first", broken.Replay())
	}
	p = program(t, "random", 0)
	for seed := range uint64(30) {
		if _, err = (kernel.Run{Scenario: s, Protocol: p.Protocol(), Seed: seed}).Do(t.Context()); err != nil {
			break
		}
	}
	if want := "not deterministic: its request 2 was"; !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
		t.Errorf("runs: got %v, want ...%s", err, want)
	}
}
