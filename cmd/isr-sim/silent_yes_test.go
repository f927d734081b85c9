package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// silentYes are the files of TestNoSilentYes: a command that passed with one of them would be green without having
// judged anything.
var silentYes = map[string]string{
	"void.yaml":         "",
	"words.yaml":        "nothing to see here\n",
	"no-actors.yaml":    "name: none\nactors: []\n",
	"no-script.yaml":    "name: none\nactors: [{name: alice, script: []}]\n",
	"no-invariant.yaml": lonelyBut("invariants: []"),
	"all-out.yaml":      lonelyBut("without: [" + strings.Join(invariantNames(), ", ") + "]"),
	"one-step.yaml":     "name: cut\nactors: [{name: alice, script: [get /home]}]\nbounds: {schedules: 5, steps: 1}\n",
	"no-schedule.yaml":  "name: zero\nactors: [{name: alice, script: [get /home]}]\nbounds: {schedules: 0}\n",
	"sleeps.yaml":       "name: sleeps\nactors: [{name: alice, script: [sleep 1s]}]\nbounds: {schedules: 5}\n",
	"changes.yaml":      "name: changes\nactors: [{name: alice, script: [change /home]}]\nbounds: {schedules: 5}\n",
	"unknown.yaml":      lonelyBut("expect: unknown"),
	"violated.yaml":     lonelyBut("expect: violated"),
	"no-fault.yaml":     lonelyBut("faults: [throttled op=Query key=META]"),
	"no-mark.yaml":      lonelyBut("reach: [clock-step]"),
	"no-page.yaml":      "name: hold\nactors: [{name: alice, script: [hold job for 1s]}]\nbounds: {schedules: 5}\n",
	"no-subject.yaml":   lonelyBut("invariants: [no-lost-invalidation]"),
	"no-settle.yaml":    lonelyBut("invariants: [liveness]"),
	"no-proof.yaml":     lonelyBut("invariants: [linearizable]"),
	"skewed.yaml":       lonelyBut("max-clock-skew: 10s"),
	"sliding.yaml": lonelyBut("max-clock-skew: 1m\nwithout: [lock-theft, single-flight, expired-publish]\n" +
		"promise: {max-age: 30s}"),
	"lonely.yaml":       lonelyBut(""),
	"cut/a.yaml":        lonelyBut(""),
	"cut.json":          `{"format": 1, "version":`,
	"nothing.json":      "{}",
	"no-steps.json":     `{"format": 1}`,
	"no-shards.json":    shardFile(`[]`),
	"null.json":         shardFile(`null`),
	"no-schedules.json": shardFile(`[{"scenario":"lonely","protocol":"recipe-a","seed":"1","shard":{"index":1,"count":1},"schedules":5,"ran":0,"expect":"ok","orders":{},"states":{}}]`),
	"half.json":         shardFile(`[{"scenario":"lonely","protocol":"recipe-a","seed":"1","shard":{"index":1,"count":2},"schedules":5,"ran":3,"expect":"ok","orders":{},"states":{}}]`),
	"empty/.keep":       "",
	"folder.yaml/.keep": "",
}

func shardFile(explorations string) string {
	return fmt.Sprintf(`{"format": "isr-sim explorations", "version": 3, "sum": "%x", "explorations": %s}`,
		sha256.Sum256([]byte(explorations)), explorations)
}

func invariantNames() (names []string) {
	for _, inv := range invariant.All() {
		names = append(names, inv.Name)
	}
	return names
}

func lonelyBut(line string) string {
	return "name: lonely\nactors: [{name: alice, script: [get /home]}]\n" + line +
		"\nbounds: {schedules: 5, ticks: 1, sweeps: 0}\n"
}

// TestNoSilentYes: a command that judges nothing never ends with exit code 0, and says why.
func TestNoSilentYes(t *testing.T) {
	museum := fixtures.Museum()[0]
	tests := []struct {
		args string // separated by a space; '' is an empty one
		want int
		why  string // a part of the output
	}{
		// No schedule.
		{"run --schedules 0 lonely.yaml", cli.ExitUsage, "--schedules"},
		{"run -q --schedules -1 lonely.yaml", cli.ExitUsage, "--schedules"},
		{"run no-schedule.yaml", cli.ExitUsage, "expected a whole number from 1"},
		{"explore --schedules 0 lonely.yaml", cli.ExitUsage, "--schedules"},
		{"explore --for 0s lonely.yaml", cli.ExitUsage, "--for"},
		{"explore --for 1ns lonely.yaml", cli.ExitUnknown, "no schedule of 1000000000 was run"},
		{"explore --for 1ns lonely.yaml changes.yaml", cli.ExitUnknown, "no schedule of 1000000000 was run"},
		{"explore --for 1ns --shard 1/2 lonely.yaml", cli.ExitUnknown, "no schedule of 500000000 was run"},
		{"explore --shard 0/0 lonely.yaml", cli.ExitUsage, "--shard"},
		{"explore --shard 3/2 lonely.yaml", cli.ExitUsage, "--shard"},
		{"prove --schedules 1 prove-two-writers", cli.ExitUnknown, "the bound of 1 schedules was met"},
		{"prove --states 1 prove-two-writers", cli.ExitUnknown, "the bound of 1 states was met"},
		{"prove --time 1ns prove-two-writers", cli.ExitUnknown, "of time was met"},
		{"prove --schedules -1 prove-two-writers", cli.ExitUsage, "--schedules"},
		{"selftest mutants --schedules 0", cli.ExitUsage, "--schedules"},
		{"run concurrent --backend fake --for 0s", cli.ExitUsage, "--for"},
		{"run concurrent --backend fake --actors 1", cli.ExitUsage, "--actors"},
		{"selftest museum --schedules -1", cli.ExitUsage, "--schedules"},
		{"selftest museum --schedules 1 " + museum, cli.ExitViolated, "vacuous"},

		// No scenario.
		{"run empty", cli.ExitUsage, "found the directory"},
		{"run folder.yaml", cli.ExitUsage, "found the directory"},
		{"run empty/*.yaml", cli.ExitUsage, "no such file"},
		{"run ''", cli.ExitUsage, "expected a file or the name"},
		{"run void.yaml", cli.ExitUsage, "found an empty file"},
		{"run words.yaml", cli.ExitUsage, "words.yaml:1:1"},
		{"run " + os.DevNull, cli.ExitUsage, "no regular file"},
		{"run no-actors.yaml", cli.ExitUsage, "found no actors"},
		{"run no-script.yaml", cli.ExitUsage, "found no commands"},
		{"explore empty", cli.ExitUsage, "found the directory"},
		{"prove", cli.ExitUsage, "found no scenario"},
		{"prove empty", cli.ExitUsage, "found the directory"},
		{"selftest museum none", cli.ExitUsage, "expected a file or the name"},
		{"selftest museum lonely.yaml", cli.ExitUsage, "no broken protocol"},
		{"scenario check", cli.ExitUsage, "found no argument"},
		{"scenario check empty", cli.ExitUsage, "found the directory"},
		{"scenario check void.yaml", cli.ExitUsage, "found an empty file"},
		{"scenario fmt --check", cli.ExitUsage, "found no argument"},
		{"merge", cli.ExitUsage, "found no files"},
		{"merge no-shards.json", cli.ExitUsage, "found no exploration"},
		{"merge null.json", cli.ExitUsage, "found no exploration"},
		{"merge half.json", cli.ExitUsage, "found no shard 2 of 2 of lonely"},
		{"merge half.json half.json", cli.ExitUsage, "which half.json has, too"},
		{"merge no-schedules.json", cli.ExitUnknown, "no schedule of 5 was run"},
		{"merge nothing.json", cli.ExitUsage, "found no explorations"},
		{"report empty", cli.ExitUsage, "found no record"},

		// These have no invariant, or nothing for an invariant to judge.
		{"run no-invariant.yaml", cli.ExitUsage, "found no invariant"},
		{"run all-out.yaml", cli.ExitUnknown, "leaves out all invariants"},
		{"explore all-out.yaml", cli.ExitUnknown, "leaves out all invariants"},
		{"prove all-out.yaml", cli.ExitUnknown, "leaves out all invariants"},
		{"replay --choices - all-out.yaml", cli.ExitUnknown, "leaves out all invariants"},
		{"run one-step.yaml", cli.ExitUnknown, "cut after 1 steps"},
		{"explore one-step.yaml", cli.ExitUnknown, "cut after 1 steps"},
		{"prove one-step.yaml", cli.ExitUnknown, "cut after 1 steps"},
		{"replay --choices - one-step.yaml", cli.ExitUnknown, "cut after 1 steps"},
		{"run sleeps.yaml", cli.ExitViolated, "vacuous"},
		{"explore sleeps.yaml", cli.ExitViolated, "vacuous"},
		{"prove sleeps.yaml", cli.ExitViolated, "vacuous"},
		{"replay --choices - sleeps.yaml", cli.ExitUnknown, "vacuous"},
		{"run changes.yaml", cli.ExitViolated, "vacuous"},
		{"explore changes.yaml", cli.ExitViolated, "vacuous"},
		{"prove changes.yaml", cli.ExitViolated, "vacuous"},
		{"replay --choices - changes.yaml", cli.ExitUnknown, "vacuous"},
		{"run no-subject.yaml", cli.ExitViolated, "had anything to judge for no-lost-invalidation"},
		{"explore no-subject.yaml", cli.ExitViolated, "had anything to judge for the invariants of the scenario"},
		{"prove no-subject.yaml", cli.ExitViolated, "had anything to judge for no-lost-invalidation"},
		{"prove --certificate certificate no-subject.yaml", cli.ExitViolated,
			"had anything to judge for no-lost-invalidation"},
		{"run skewed.yaml", cli.ExitUnknown, "leaves nothing of a lease of 10s, so lock-theft, single-flight"},
		{"explore skewed.yaml", cli.ExitUnknown, "leaves nothing of a lease"},
		{"prove skewed.yaml", cli.ExitUnknown, "so nothing is proved of lock-theft, single-flight"},
		{"prove --format json skewed.yaml", cli.ExitUnknown, `"not judged, because max-clock-skew of 10s leaves nothing ` +
			`of a lease of 10s: lock-theft, single-flight, expired-publish",`},
		{"prove --format junit skewed.yaml", cli.ExitUnknown,
			"\nnot judged, because max-clock-skew of 10s leaves nothing of a lease of 10s: lock-theft, single-flight"},
		{"prove --certificate certificate skewed.yaml", cli.ExitUnknown, "so nothing is proved of lock-theft"},
		{"replay --choices - skewed.yaml", cli.ExitUnknown, "leaves nothing of a lease"},
		{"scenario check skewed.yaml", cli.ExitUnknown,
			"unknown; not judged, because max-clock-skew of 10s leaves nothing"},
		{"scenario check skewed.yaml missing.yaml", cli.ExitUsage, "unknown; not judged"},
		{"run sliding.yaml", cli.ExitUnknown, "of a max-age of 30s, so freshness, bounded-staleness judged"},
		{"prove sliding.yaml", cli.ExitUnknown, "so nothing is proved of freshness"},
		{"run no-settle.yaml", cli.ExitViolated, "had anything to judge for liveness"},
		{"prove no-settle.yaml", cli.ExitViolated, "had anything to judge for liveness"},
		{"prove no-proof.yaml", cli.ExitViolated, "left to campaigns, and not proved: linearizable"},
		{"run no-mark.yaml", cli.ExitViolated, "vacuous"},
		{"explore no-mark.yaml", cli.ExitViolated, "vacuous"},
		{"prove no-mark.yaml", cli.ExitViolated, "vacuous"},
		{"run no-fault.yaml", cli.ExitViolated, "vacuous"},
		{"explore no-fault.yaml", cli.ExitViolated, "vacuous"},
		{"prove no-fault.yaml", cli.ExitViolated, "vacuous"},
		{"run unknown.yaml", cli.ExitUsage, "expected one of ok, violated"},
		{"run violated.yaml", cli.ExitViolated, "expected violated"},
		{"explore violated.yaml", cli.ExitViolated, "expected violated"},
		{"prove violated.yaml", cli.ExitViolated, "expected violated"},

		// These have no protocol, or one that does nothing.
		{"run --protocol '' lonely.yaml", cli.ExitUsage, "--protocol: found nothing"},
		{"explore --protocol '' lonely.yaml", cli.ExitUsage, "--protocol: found nothing"},
		{"prove --protocol '' lonely.yaml", cli.ExitUsage, "--protocol: found nothing"},
		{"run --protocol recipe-x lonely.yaml", cli.ExitUsage, "recipe-x"},
		{"run --strategy '' lonely.yaml", cli.ExitUsage, "strategy"},
		{"run --backend '' lonely.yaml", cli.ExitUsage, "--backend"},
		{"run --exec '' lonely.yaml", cli.ExitUsage, "--exec"},
		{"run --exec true lonely.yaml", cli.ExitUnknown, "true"},
		{"explore --exec true lonely.yaml", cli.ExitUnknown, "true"},
		{"run no-page.yaml", cli.ExitUsage, "hold"},

		// No recorded run.
		{"replay lonely.yaml", cli.ExitUsage, "found neither --choices"},
		{"replay --choices '' lonely.yaml", cli.ExitUsage, "choices: found nothing"},
		{"replay --choices - --trace '' lonely.yaml", cli.ExitUsage, "--trace: found nothing"},
		{"replay --choices 777 lonely.yaml", cli.ExitUsage, "does not fit"},
		{"replay nothing.json", cli.ExitUsage, "nothing.json"},
		{"replay no-steps.json", cli.ExitUsage, "without the steps"},
		{"replay cut.json", cli.ExitUsage, "cut.json"},
		{"shrink --choices - lonely.yaml", cli.ExitUsage, "verdict is ok, expected a violated one"},
		{"explain --choices - lonely.yaml", cli.ExitUsage, "verdict is ok, expected a violated one"},
		{"run --corpus '' lonely.yaml", cli.ExitUsage, "--corpus: found nothing"},
		{"run --corpus none lonely.yaml", cli.ExitUsage, "found no folder none"},
		{"explore --corpus none lonely.yaml", cli.ExitUsage, "found no folder none"},
		{"run --corpus lonely.yaml lonely.yaml", cli.ExitUsage, "expected a folder"},
		{"run --corpus cut lonely.yaml", cli.ExitUnknown, "cut/a.yaml cannot be read"},
		{"explore --corpus cut lonely.yaml", cli.ExitUnknown, "cut/a.yaml cannot be read"},

		// No output.
		{"run --record '' lonely.yaml", cli.ExitUsage, "--record: found nothing"},
		{"run --report '' lonely.yaml", cli.ExitUsage, "--report: found nothing"},
		{"run --record none/run.json lonely.yaml", cli.ExitUsage, "found no folder none"},
		{"run --format '' lonely.yaml", cli.ExitUsage, "--format"},
		{"run --format junit= lonely.yaml", cli.ExitUsage, "--format"},
		{"run --format junit=none/junit.xml lonely.yaml", cli.ExitUnknown, "not written"},
		{"explore --out '' lonely.yaml", cli.ExitUsage, "--out: found nothing"},
		{"explore --out none/out.json lonely.yaml", cli.ExitUsage, "--out"},
		{"serve --check=", cli.ExitUsage, "--check: found nothing"},
		{"serve --check=none", cli.ExitUsage, "--check"},
		{"serve --rows lonely.yaml", cli.ExitUsage, "without --check"},
		{"serve --check --rows ''", cli.ExitUsage, "--rows: found nothing"},
		{"serve --record run.json", cli.ExitUsage, "without --check"},
	}
	t.Chdir(t.TempDir())
	for name, text := range silentYes {
		must.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.OK(t, os.WriteFile(name, []byte(text), 0o644))
	}
	soon, end := context.WithTimeout(t.Context(), time.Minute) // a server that is not refused would run for ever
	defer end()
	for _, test := range tests {
		args := strings.Fields(test.args)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "''", "")
		}
		var out, told strings.Builder
		if got := run(soon, args, &out, &told); got != test.want {
			t.Errorf("isr-sim %s: exit code %d, want %d\n%s%s", test.args, got, test.want, &out, &told)
		} else if said := out.String() + told.String(); !strings.Contains(said, test.why) {
			t.Errorf("isr-sim %s: it says\n%swant %q in it", test.args, said, test.why)
		}
	}

	over, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{}, {"run", "lonely.yaml"}, {"explore", "lonely.yaml"}, {"prove", "lonely.yaml"},
		{"selftest", "museum"}, {"selftest", "mutants"}} {
		var out, told strings.Builder
		if got := run(over, args, &out, &told); got != cli.ExitUnknown {
			t.Errorf("isr-sim %s, interrupted before it begins: exit code %d, want %d\n%s%s", args, got,
				cli.ExitUnknown, &out, &told)
		}
	}
}
