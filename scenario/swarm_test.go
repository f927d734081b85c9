package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/prose"
	"github.com/isr-sim/isr-sim/internal/race"
	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestSwarmIsPartOfWhatDecidesARun(t *testing.T) {
	s := scenariotest.Parsed(t, `
name: swarmed
actors:
  - name: alice
    script: [get /home]
  - name: bob
    script: [get /home]
faults:
  - maybe throttled op=PutItem times=always
  - maybe response-lost op=TransactWriteItems times=always
`)
	kinds := map[string]int{}
	differ := 0
	for seed := range race.Fewer[uint64](200, 60) {
		run := scenario.Run{Scenario: s, Protocol: recipe.Reference(), Seed: seed, Options: scenario.Options{Swarm: true}}
		text, o := scenariotest.Trace(t, run)
		kinds[fmt.Sprint(strings.Contains(text, "Throttling"), o.Marks)]++
		// The printed file and the printed line carry all that decides the run.
		recorded := o.Replay()
		file := *s
		file.Replay = &recorded
		data, err := file.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := scenario.Parse("swarmed.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := scenariotest.Trace(t, read.Replay.Run(read, recipe.Reference()))
		if again != text {
			t.Fatalf("seed %d: the file\n%s\nreplays another run", seed, data)
		}
		if line := prose.ReplayLine(recorded, "replay", "isr-sim", "swarmed.yaml"); !strings.Contains(line, " --swarm ") {
			t.Fatalf("the replay line does not say that it is a swarm's: %s", line)
		}
		// Without the draw, the same choices are another run where a fault was off.
		run = recorded.Run(s, recipe.Reference())
		run.Swarm = false
		var b strings.Builder
		run.Trace = &b
		if _, err := run.Do(context.Background()); err != nil || b.String() != text {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no run depends on the draw")
	}
	throttled, lost, neither := 0, 0, 0
	for marks, n := range kinds {
		switch {
		case strings.Contains(marks, "throttled"):
			throttled += n
		case strings.Contains(marks, "response-lost"):
			lost += n
		default:
			neither += n
		}
	}
	if throttled == 0 || lost == 0 || neither == 0 {
		t.Errorf("of 200 runs %d were throttled, %d lost a response, %d neither; want some of each", throttled, lost, neither)
	}
}
