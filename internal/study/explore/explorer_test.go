package explore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/schedule"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/report"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/internal/study/shared"
)

func explored(t testing.TB, e explore.Explorer) *explore.Exploration {
	t.Helper()
	x := scenariotest.Ran(t, e)
	return x
}

func asFile(t testing.TB, x *explore.Exploration) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, explore.WriteExplorations(&b, []*explore.Exploration{x}))
	read := must.Of(explore.ReadExplorations("x.json", b.Bytes()))(t)
	before, told := *x, *read[0]
	before.Orders, before.States, told.Orders, told.States = explore.Coverage{}, explore.Coverage{},
		explore.Coverage{}, explore.Coverage{}
	if diff := cmp.Diff(before.Explain("isr-sim"), told.Explain("isr-sim")); diff != "" {
		t.Errorf("read back it is explained otherwise (-before +after):\n%s", diff)
	}
	return b.String()
}

// buggy finds several things in a few hundred schedules.
func buggy(t testing.TB) explore.Explorer {
	return explore.Explorer{Campaign: campaign.Campaign{
		Scenario: scenariotest.Embedded(t, "skewed-clocks"),
		Protocol: scenariotest.Protocol(t, "lease-in-milliseconds"), Seed: 1, Schedules: 400,
	}}
}

func TestAnExplorationGoesOnAndKeepsTheEarliestAndTheShortestOfEachFinding(t *testing.T) {
	effort.Long(t)
	e := buggy(t)
	x := explored(t, e)
	if x.Ran != 400 || x.Verdict() != invariant.Violated || x.Passed() || len(x.Findings) == 0 {
		t.Fatalf("%d schedules, verdict %v, passed %v, %d findings; want 400, violated, false, some", x.Ran,
			x.Verdict(), x.Passed(), len(x.Findings))
	}
	// This counts the same by hand.
	count, earliest, least := map[string]int{}, map[string]int{}, map[string][]int{}
	expected, plan := 1, strategy.Portfolio().Begin()
	for i := range 400 {
		o, err := kernel.Run{
			Scenario: e.Scenario, Protocol: e.Protocol, Seed: sim.Derive(1, i), Strategy: plan.At(i),
			ExpectedSteps: expected,
		}.Do(context.Background())
		must.OK(t, err)
		if i == 0 {
			expected = o.Result.Steps
		}
		if o.Violation == nil {
			continue
		}
		name, size := o.Violation.Invariant.Name, []int{o.Result.Switches, o.Result.Steps}
		if count[name]++; count[name] == 1 {
			earliest[name] = i + 1
		}
		if least[name] == nil || slices.Compare(size, least[name]) < 0 {
			least[name] = size
		}
	}
	for _, f := range x.Findings {
		if f.Count != count[f.Name] || f.Earliest.Schedule != earliest[f.Name] ||
			!slices.Equal(least[f.Name], []int{f.Shortest.Switches, f.Shortest.Steps}) {
			t.Errorf("%s: %d times, earliest %d, shortest %+v; want %d, %d, %v", f.Name, f.Count, f.Earliest.Schedule,
				f.Shortest, count[f.Name], earliest[f.Name], least[f.Name])
		}
		delete(count, f.Name)
		for _, example := range []explore.Example{f.Earliest, f.Shortest} {
			choices := must.Of(schedule.ParseChoices(example.Choices))(t)
			_, o := scenariotest.Trace(t,
				kernel.Replay(spec.Replay{Seed: example.Seed, Choices: choices}, e.Scenario, e.Protocol))
			if o.Violation == nil || o.Violation.Invariant.Name != f.Name || o.Digest != example.Digest {
				t.Errorf("%s does not replay: %+v", f.Name, o)
			}
		}
	}
	if len(count) > 0 {
		t.Errorf("not found: %v", count)
	}
}

func TestTheNumberOfWorkersChangesNoExploration(t *testing.T) {
	effort.Long(t)
	for name, e := range map[string]explore.Explorer{
		"buggy": buggy(t),
		"cut": {Campaign: campaign.Campaign{
			Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"bounds: {schedules: 100, steps: 6}"), Seed: 1,
		}},
		"broken": {Campaign: campaign.Campaign{
			Scenario: scenariotest.Parsed(t, scenariotest.Lonely+
				"faults: [maybe throttled op=TransactWriteItems times=always]"), Protocol: scenariotest.Touchy(t),
			Seed: 1, Schedules: 300, Options: kernel.Options{Swarm: true},
		}},
		"shard": {Campaign: buggy(t).Campaign, Shard: explore.Shard{Index: 2, Count: 3}},
	} {
		e.Workers = 1
		want := asFile(t, explored(t, e))
		for _, workers := range effort.Fewer([]int{2, 8}, []int{8}) {
			e.Workers = workers
			if got := asFile(t, explored(t, e)); got != want {
				t.Errorf("%s: %d workers (-one +many):\n%s", name, workers, cmp.Diff(want, got))
			}
		}
	}
}

// merged merges explorations, each in a separate file.
func merged(xs ...*explore.Exploration) ([]*explore.Exploration, error) {
	var shards explore.Shards
	for i, x := range xs {
		shards.Files = append(shards.Files,
			explore.ShardFile{Name: fmt.Sprintf("%d.json", i+1), Explorations: []*explore.Exploration{x}})
	}
	return shards.Merge("isr-sim")
}

func TestShardsTogetherAreTheWhole(t *testing.T) {
	effort.Long(t)
	e := buggy(t)
	whole := explored(t, e)
	states := whole.States // there are more states than a file has room for
	want := asFile(t, whole)
	for _, n := range effort.Fewer([]int{2, 3, 7}, []int{3}) {
		var shards []*explore.Exploration
		for i := range n {
			e.Shard = explore.Shard{Index: n - i, Count: n} // in another order
			shards = append(shards, explored(t, e))
		}
		all := must.Of(merged(shards...))(t)
		got := all[0].States
		for what, n := range map[string][2]int{
			"distinct": {got.Distinct, states.Distinct}, "once": {got.Once, states.Once}, "new": {got.New, states.New},
		} {
			if off := math.Abs(float64(n[0]-n[1])) / float64(n[1]); off > 0.1 {
				t.Errorf("%d shards: %s states %d, want about %d", len(shards), what, n[0], n[1])
			}
		}
		if got := asFile(t, all[0]); len(all) != 1 || got != want {
			t.Errorf("%d shards (-alone +merged):\n%s", n, cmp.Diff(want, got))
		}
	}
}

func TestMergeRefusesWhatDoesNotBelongTogether(t *testing.T) {
	shard := func(i, n int, change func(*explore.Explorer)) *explore.Exploration {
		e := explore.Explorer{
			Campaign: campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Seed: 1, Schedules: 20},
			Shard:    explore.Shard{Index: i, Count: n},
		}
		if change != nil {
			change(&e)
		}
		return explored(t, e)
	}
	first := shard(1, 2, nil)
	version := func(i, n int) *explore.Exploration {
		return shard(i, n, func(e *explore.Explorer) { e.Version = "v1.0" })
	}
	for name, test := range map[string]struct {
		files []*explore.Exploration
		want  string
	}{
		"missing": {[]*explore.Exploration{first}, "found no shard 2 of 2 of lonely under recipe-a"},
		"duplicate": {[]*explore.Exploration{first, shard(2, 2, nil), first},
			"3.json: found shard 1/2 of lonely under recipe-a, which 1.json has, too, with the same result"},
		"changed": {[]*explore.Exploration{first, shard(2, 2, nil),
			shard(1, 2, func(e *explore.Explorer) { e.For = 1 })},
			"3.json: found shard 1/2 of lonely under recipe-a, which 1.json has, too, with another result"},
		"version": {
			[]*explore.Exploration{shard(1, 3, func(e *explore.Explorer) { e.Version = "v0.9" }),
				version(2, 3), version(3, 3)},
			"1.json: found shard 1/3 of lonely under recipe-a with the version of isr-sim v0.9, expected v1.0 " +
				"as in 2.json",
		},
		"seed": {[]*explore.Exploration{first, shard(2, 2, func(e *explore.Explorer) { e.Seed = 2 })},
			"with the seed 2, expected 1 as in 1.json"},
		"strategy": {[]*explore.Exploration{first, shard(2, 2, func(e *explore.Explorer) {
			e.Plan = strategy.Only(strategy.POS)
		})}, "with the strategy pos, expected portfolio"},
		"swarm": {[]*explore.Exploration{first, shard(2, 2, func(e *explore.Explorer) { e.Swarm = true })},
			"with the swarm true, expected false"},
		"schedules": {[]*explore.Exploration{first, shard(2, 2, func(e *explore.Explorer) { e.Schedules = 30 })},
			"with the number of schedules 30, expected 20"},
		"shards": {[]*explore.Exploration{first, shard(2, 3, nil)}, "with the number of shards 3, expected 2"},
		"definition": {[]*explore.Exploration{first, shard(2, 2, func(e *explore.Explorer) {
			e.Scenario = scenariotest.Parsed(t, scenariotest.Lonely+"cache: {lease: 9s}")
		})}, "with the scenario digest"},
	} {
		_, err := merged(test.files...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, test.want)
		}
	}
	// This is the hint for the missing shard of a program.
	program := *first
	program.Protocol, program.File, program.Swarm = "exec node my.mjs", "'my world.yaml'", true
	_, err := merged(&program)
	wrong, ok := errors.AsType[*mistake.Error](err)
	want := "run what is missing:\n" +
		"isr-sim explore --schedules 20 --seed 1 --strategy portfolio --swarm --exec 'node my.mjs' --shard 2/2 " +
		"--out missing-1-2.json 'my world.yaml'"
	if !ok || wrong.Hint != want {
		t.Errorf("found %+v, expected the hint %q", wrong, want)
	}
	// A campaign depends neither on the file's prose nor on its number of schedules.
	if all, err := merged(first, shard(2, 2, func(e *explore.Explorer) {
		e.Scenario = scenariotest.Parsed(t, scenariotest.Lonely+"about: better prose\nbounds: {schedules: 7}")
	})); err != nil || all[0].Ran != 20 {
		t.Errorf("with other prose: %v", err)
	}
}

func TestAShardIsNotBlamedForWhatOthersMayReach(t *testing.T) {
	e := explore.Explorer{Campaign: campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely+
		"ttl-lag: never\nreach: [ttl-deletion]"), Seed: 1, Schedules: 20}}
	var shards []*explore.Exploration
	for i := range 2 {
		e.Shard = explore.Shard{Index: i + 1, Count: 2}
		x := explored(t, e)
		if !x.Passed() || x.Vacuous() || !strings.Contains(x.Explain("isr-sim"), "reached ttl-deletion") {
			t.Errorf("shard %s: passed %v, vacuous %v:\n%s", e.Shard, x.Passed(), x.Vacuous(), x.Explain("isr-sim"))
		}
		shards = append(shards, x)
	}
	all := must.Of(merged(shards...))(t)
	want :=
		"vacuous: lonely under recipe-a: no schedule of 20 (seed 1) reached ttl-deletion, which the scenario declares\n"
	if x := all[0]; x.Passed() || !x.Vacuous() || !strings.HasPrefix(x.Explain("isr-sim"), want) {
		t.Errorf("passed %v, vacuous %v:\n%s", x.Passed(), x.Vacuous(), x.Explain("isr-sim"))
	}
}

// TestWhatIsNotSimulatedIsMerged: what the program of any shard used is in the results of the whole, once.
func TestWhatIsNotSimulatedIsMerged(t *testing.T) {
	var shards []*explore.Exploration
	for i, uses := range [][]string{{"threads", "alarms"}, {"alarms"}, nil} {
		x := explored(t, explore.Explorer{
			Campaign: campaign.Campaign{Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Seed: 1, Schedules: 3},
			Shard:    explore.Shard{Index: i + 1, Count: 3},
		})
		x.Used(uses)
		shards = append(shards, x)
	}
	all := must.Of(merged(shards...))(t)
	for _, r := range all[0].Results("isr-sim") {
		if want := []string{"alarms", "threads"}; !slices.Equal(r.NotSimulated, want) {
			t.Errorf("got %q, want %q", r.NotSimulated, want)
		}
	}
}

func TestAnInterruptLosesNothingThatWasFound(t *testing.T) {
	e := buggy(t)
	e.Schedules = 100_000
	ctx, cancel := context.WithCancel(context.Background())
	heard := 0
	e.Progress = func(done, _ int) {
		if heard = done; done == 150 {
			cancel()
		}
	}
	x := must.Of(e.Run(ctx))(t)
	if !x.Interrupted || x.Ran < 150 || x.Ran == e.Schedules || x.Ran != heard {
		t.Fatalf("interrupted %v after %d schedules, want true after 150 and a few", x.Interrupted, x.Ran)
	}
	e.Schedules, e.Progress = x.Ran, nil
	want := explored(t, e)
	want.Schedules, want.Interrupted = x.Schedules, true
	if diff := cmp.Diff(asFile(t, want), asFile(t, x)); diff != "" {
		t.Errorf("(-a campaign of that length +interrupted):\n%s", diff)
	}
}

func TestADeadlineIsAnEndLikeAnyOther(t *testing.T) {
	e := explore.Explorer{Campaign: campaign.Campaign{
		Scenario: scenariotest.Parsed(t, scenariotest.Lonely), Seed: 1, Schedules: 1_000_000_000,
	}}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	x := must.Of(e.Run(ctx))(t)
	if x.Interrupted || !x.Passed() || x.Ran == 0 {
		t.Errorf("interrupted %v, passed %v after %d schedules; want false, true after some", x.Interrupted, x.Passed(),
			x.Ran)
	}
}

func TestAnExplorationOfAProtocolThatDoesNotRepeatItselfSaysSo(t *testing.T) {
	x := explored(t, explore.Explorer{Campaign: campaign.Campaign{
		Scenario: scenariotest.Embedded(t, "two-contenders"), Protocol: scenariotest.Fickle(t, 2), Seed: 1,
		Schedules: 50, Workers: 1,
	}})
	text := x.Explain("isr-sim")
	if x.Verdict() != invariant.Unknown || x.Passed() || x.Ran != 50 ||
		!strings.Contains(text, "broken: two-contenders under fickle\n\nnot deterministic: ") ||
		!strings.Contains(text, "\nreplay: isr-sim replay --protocol fickle ") {
		t.Errorf("verdict %v after %d schedules, want unknown after 50, with the reason:\n%s", x.Verdict(), x.Ran, text)
	}
}

func TestACorpusKeepsWhatFailedAndWhatWasReachedFirst(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "corpus")
	e := buggy(t)
	e.Corpus = explore.Corpus{Folder: folder, Version: "v1", Night: "n1"}
	before := explored(t, e)
	if len(before.Corpus) != 0 {
		t.Errorf("a corpus that is not there has runs: %v", before.Corpus)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files are kept (%v), want one of a failure and one of a mark at least", len(files), err)
	}
	file := filepath.Join(folder, files[0].Name())
	must.OK(t, os.Rename(file, strings.TrimSuffix(file, ".yaml")+".yml")) // some users name their files so
	e.Schedules = 1
	again := explored(t, e)
	if len(again.Corpus) != len(files) {
		t.Fatalf("%d files, %d runs of them", len(files), len(again.Corpus))
	}
	passed := false
	for _, r := range again.Corpus {
		if r.Problem != "" || passed && r.Violates != "" {
			t.Errorf("%+v: want a run that replays, and failing ones first", r)
		}
		passed = passed || r.Violates == ""
	}
	if again.Corpus[0].Violates == "" || !passed || again.Verdict() != invariant.Violated {
		t.Errorf("of %+v some must fail, and some pass; verdict %v, want violated", again.Corpus, again.Verdict())
	}
	if now, err := os.ReadDir(folder); err != nil || len(now) != len(files) {
		t.Errorf("what is known is kept again: %d files, then %d (%v)", len(files), len(now), err)
	}

	// Runs of another protocol are not part of it.
	e.Protocol = scenariotest.Protocol(t, "recipe-a")
	if other := explored(t, e); len(other.Corpus) != 0 {
		t.Errorf("runs of another protocol: %+v", other.Corpus)
	}
}

func TestAFileOfACorpusThatDoesNotReplayHasNoVerdictAndIsKept(t *testing.T) {
	folder := t.TempDir()
	s := scenariotest.Parsed(t, scenariotest.Lonely)
	corpus := explore.Corpus{Folder: folder}
	_, o := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1})
	must.Done(t)(corpus.Keep(t.Context(), s, scenariotest.Protocol(t, "recipe-a"), o.Replay(), "reach-something"))
	changed := o.Replay()
	changed.Digest = "00000000"
	must.Done(t)(corpus.Keep(t.Context(), s, scenariotest.Protocol(t, "recipe-a"), changed, "reach-something"))
	blind := o.Replay()
	blind.Violates = "stale-writer"
	must.Done(t)(corpus.Keep(t.Context(), s, scenariotest.Protocol(t, "recipe-a"), blind, "stale-writer"))
	misfit := o.Replay()
	misfit.Choices, misfit.Digest = sim.Choices{7}, "11111111"
	must.Done(t)(corpus.Keep(t.Context(), scenariotest.Parsed(t, scenariotest.Lonely+
		"  - name: bob\n    script: [get /home]"), scenariotest.Protocol(t, "recipe-a"), misfit, "reach-something"))
	must.OK(t,
		os.WriteFile(filepath.Join(folder, "lonely.recipe-a.note.yaml"), []byte("name: lonely\nactrs: []\n"), 0o600))
	whole := must.Of(os.ReadFile(filepath.Join(folder, "lonely.recipe-a.reach-something.00000000.yaml")))(t)
	before, _, _ := strings.Cut(string(whole), "replay:") // as a full disk leaves it
	must.OK(t, os.WriteFile(filepath.Join(folder, "lonely.recipe-a.cut.yaml"), []byte(before), 0o600))
	x := explored(t, explore.Explorer{Campaign: campaign.Campaign{Scenario: s, Seed: 1, Schedules: 1}, Corpus: corpus})
	text := x.Explain("isr-sim")
	for _, want := range []string{
		"note.yaml cannot be read: " + filepath.Join(folder, "lonely.recipe-a.note.yaml") + ":2:1: found key \"actrs\"",
		"00000000.yaml does not replay any more: found a trace with the digest " + o.Digest +
			", expected 00000000",
		"11111111.yaml does not replay any more: the schedule does not fit: at step 1 it takes option 7",
		"lonely.recipe-a.cut.yaml cannot be read: found no replay entry",
		"does not violate stale-writer any more, in the same run",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Count(text, "corpus: ") != 5 || x.Passed() || x.Verdict() != invariant.Unknown {
		t.Errorf("want five complaints, and no verdict, got %v:\n%s", x.Verdict(), text)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) < 6 {
		t.Errorf("%d files are left (%v), want all six", len(files), err)
	}
}

func TestACorpusKeepsTheBestAndCountsTheRest(t *testing.T) {
	effort.Long(t)
	c := explore.Corpus{Folder: t.TempDir(), Version: "v1", Night: "n1"}
	s, p := scenariotest.Embedded(t, "skewed-clocks"), scenariotest.Protocol(t, "blind-publish")
	kept := map[string]bool{} // by the name without its ending
	for seed := range effort.Fewer(uint64(60), 12) {
		run := kernel.Run{Scenario: s, Protocol: p, Seed: seed}
		_, o := scenariotest.Trace(t, run)
		if o.Violation == nil || o.Violation.Invariant.Name != "stale-writer" {
			continue
		}
		must.Done(t)(c.Keep(t.Context(), s, p, o.Replay(), "stale-writer"))
		files := must.Of(os.ReadDir(c.Folder))(t)
		there, stems := 0, map[string]int{}
		for _, f := range files {
			name := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
			stems[name]++
			kept[name] = true
			if filepath.Ext(f.Name()) == ".yaml" {
				there++
			}
		}
		for name := range kept {
			if stems[name] != 1 {
				t.Errorf("%s has %d files, want one: it is there, or it was dropped", name, stems[name])
			}
		}
		if there > explore.Most {
			t.Errorf("%d files are kept, want %d at most", there, explore.Most)
		}
	}
	var board explore.Board
	must.OK(t, board.Add(c.Folder))
	d := must.Of(board.Dashboard(nil, func(*report.DashboardFinding) error { return nil }))(t)
	if d.Failing != explore.Most || d.Dropped != len(kept)-explore.Most || d.Dropped == 0 {
		t.Errorf("%d are there and %d were dropped of %d, want %d there and some dropped", d.Failing, d.Dropped,
			len(kept), explore.Most)
	}
	for i, f := range d.Findings[1:] {
		if f.Choices < d.Findings[i].Choices {
			t.Errorf("one of %d choices stands after one of %d", f.Choices, d.Findings[i].Choices)
		}
	}
}

func TestAFileOfASharedCorpusThatStopsToReplayIsMarkedOnce(t *testing.T) {
	effort.NotShort(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("found no git in PATH")
	}
	folder := filepath.Join(t.TempDir(), "corpus.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", folder).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := scenariotest.Parsed(t, scenariotest.Lonely)
	_, o := scenariotest.Trace(t, kernel.Run{Scenario: s, Protocol: scenariotest.Protocol(t, "recipe-a"), Seed: 1})
	r := o.Replay()
	r.Digest = "00000000" // as if another version had recorded it
	var last *explore.Exploration
	for i, version := range []string{"v1", "v2", "v3"} {
		m, _, err := shared.Open(t.Context(), "git+"+folder, true)
		must.OK(t, err)
		c := explore.Corpus{Folder: m.Folder, Shared: m, Version: version, Night: "n" + version}
		if i == 0 {
			must.Done(t)(c.Keep(t.Context(), s, scenariotest.Protocol(t, "recipe-a"), r, "reach-something"))
		} else {
			last = explored(t,
				explore.Explorer{Campaign: campaign.Campaign{Scenario: s, Seed: 1, Schedules: 5}, Corpus: c})
			if want := []invariant.Verdict{invariant.Unknown, invariant.OK}[i-1]; last.Verdict() != want {
				t.Errorf("%s: verdict %v, want %v:\n%s", version, last.Verdict(), want, last.Explain("isr-sim"))
			}
			must.OK(t, c.Remember(t.Context(), last, 2, nil))
		}
		must.OK(t, m.Close(t.Context()))
	}
	if !slices.ContainsFunc(last.Corpus, func(r explore.CorpusRun) bool { return r.Stopped == "v2" }) {
		t.Errorf("%+v: want one that stopped at v2", last.Corpus)
	}
	m, _, err := shared.Open(t.Context(), "git+"+folder, false)
	must.OK(t, err)
	defer m.Close(t.Context())
	var board explore.Board
	must.OK(t, board.Add(m.Folder))
	d, err := board.Dashboard(nil, nil)
	if err != nil || d.Stopped != 1 || len(d.Nights) != 2 || d.Nights[0].Name != "nv3" ||
		d.Nights[0].PerCoreSecond() != 2.5 {
		t.Errorf("%+v (%v): want one stopped, and the nights nv3 and nv2", d, err)
	}
}

func TestACanaryIsFoundOrSaysSo(t *testing.T) {
	effort.NotShort(t)
	e := explore.Explorer{Campaign: campaign.Campaign{Scenario: scenariotest.Embedded(t, "paused-writer"), Seed: 1}}
	for pick := range uint64(3) {
		c, err := e.Canary(t.Context(), pick)
		if err != nil || !c.Found() || !strings.Contains(c.In("paused-writer"), "is violated in schedule ") {
			t.Errorf("%d: %+v (%v), want a bug that is found", pick, c, err)
		}
	}
	e.Scenario = scenariotest.Embedded(t, "two-regions-home") // catches protocols correct in one region
	if c, err := e.Canary(t.Context(), 0); err != nil || !c.Found() || c.Breaks == "" {
		t.Errorf("%+v (%v), want what the protocol violates there", c, err)
	}
	e.Scenario = scenariotest.Parsed(t, scenariotest.Lonely+"catches: [lease-in-milliseconds]") // it does not
	c, err := e.Canary(t.Context(), 0)
	if err != nil || c.Found() || !strings.Contains(c.In("lonely"), "so finding nothing else proves nothing") {
		t.Errorf("%+v (%v), want a bug that is not found", c, err)
	}
	e.Scenario = scenariotest.Parsed(t, scenariotest.Lonely)
	if c, err := e.Canary(t.Context(), 0); c != nil || err != nil {
		t.Errorf("%+v (%v), want none: the scenario names no bug", c, err)
	}
}

func TestParseShard(t *testing.T) {
	for _, good := range []string{"1/1", "2/4", "4/4"} {
		if s, err := explore.ParseShard(good); err != nil || s.String() != good {
			t.Errorf("%s parses to %v (%v)", good, s, err)
		}
	}
	for _, bad := range []string{"", "1", "0/4", "5/4", "-1/4", "1/0", "a/b", "1/2/3"} {
		if _, err := explore.ParseShard(bad); err == nil || !strings.Contains(err.Error(), "expected i/n") {
			t.Errorf("%q parses with error %v", bad, err)
		}
	}
}

// A campaign whose invariants had nothing to judge is vacuous, whole or in shards, even if some shards run nothing.
func TestACampaignThatJudgesNothingIsVacuous(t *testing.T) {
	for invariants, vacuous := range map[string]bool{
		"no-lost-invalidation, read-your-writes": true, "no-lost-invalidation, freshness": false,
	} {
		e := explore.Explorer{Campaign: campaign.Campaign{
			Scenario: scenariotest.Parsed(t, scenariotest.Lonely+"invariants: ["+invariants+"]\n"), Schedules: 3,
		}}
		whole := explored(t, e)
		var shards []*explore.Exploration
		for i := range 5 {
			e.Shard = explore.Shard{Index: i + 1, Count: 5}
			shards = append(shards, explored(t, e))
		}
		all := must.Of(merged(shards...))(t)
		for _, x := range []*explore.Exploration{whole, all[0]} {
			if x.Vacuous() != vacuous || strings.Contains(x.Explain("isr-sim"), "had anything to judge") != vacuous {
				t.Errorf("%s: vacuous %v, want %v: %s", invariants, x.Vacuous(), vacuous, x.Explain("isr-sim"))
			}
		}
	}
}
