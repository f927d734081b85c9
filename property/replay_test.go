package property_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// fileOf writes a scenario file and returns its name.
func fileOf(t *testing.T, yaml string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "world.yaml")
	must.OK(t, os.WriteFile(file, []byte(yaml), 0o600))
	return file
}

const calm = "name: calm\nactors:\n  - name: alice\n    script: [get /home]\n" +
	"bounds: {schedules: 3, steps: 2000, ticks: 1}\n"

// contended is a world that exposes a cache that deletes locks of other nodes.
const contended = `name: contended
protocol: recipe-a
actors:
  - name: alice
    script: [get /home, sleep 61s, get /home]
    pauses: 1
    pause-for: 11s
  - name: bob
    script: [get /home, sleep 61s, get /home]
reach: [pause]
catches: [blind-release]
bounds: {schedules: 100, steps: 2000, ticks: 2}
`

// TestReplayOfNothing: a world that shows nothing does not pass.
func TestReplayOfNothing(t *testing.T) {
	for _, tc := range []struct {
		name, store, yaml string
		want              []string
	}{
		{"no page", "always fails", calm, []string{"vacuous: nothing was violated in the world of ",
			", but no request reached the node's Client",
			"3 of the store's 3 answers were errors, such as: not today"}},
		{"no request", "recipe-a", strings.Replace(calm, "get /home", "sleep 1s", 1),
			[]string{"vacuous: ", "no request reached the node's Client"}},
		{"nothing judged", "recipe-a", calm + "invariants: [tenant-isolation]\n",
			[]string{"vacuous: calm under store-under-test: "}},
		{"not reached", "recipe-a", calm + "reach: [lock-taken-over, pause]\n", []string{
			"vacuous: calm under store-under-test: no schedule of 3 (seed 0) reached lock-taken-over pause, which " +
				"the scenario declares",
			"none of the store's 3 answers was an error",
		}},
		{"no such call", "recipe-a",
			calm + "reach: [throttled]\nfaults: [throttled op=PutItem, throttled op=Scan]\n", []string{
				"vacuous: calm under store-under-test: ",
				"makes a call that the fault \"throttled op=Scan\" could strike",
			}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			runChild(t, t.TempDir(), tc.store, nil, replayEnv+"="+fileOf(t, tc.yaml)).wantFailure(t, tc.want...)
		})
	}
	big := fileOf(t, calm+"#"+strings.Repeat(" ", 17<<20)+"\n")
	runChild(t, t.TempDir(), "recipe-a", nil, replayEnv+"="+big).
		wantFailure(t, "replay: "+big+": found more than 16 MiB, expected a scenario file")
}

// TestReplayHandsMethodsThrough runs scripts that call methods other than Get.
func TestReplayHandsMethodsThrough(t *testing.T) {
	script := strings.Replace(calm, "[get /home]",
		"[get /home, sleep 61s, get /home, rollback /home, invalidate /home, regenerate /home as r1, regenerate "+
			"/home as r1]", 1)
	file := fileOf(t, script+"reach: [page-invalidated, rolled-back, request-repeated]\n")
	b := scenariotest.Protocol(t, "recipe-b-guarded")
	property.Replay(t, file, func(n property.Node) (isr.Handler, error) { return b.New(n.Config) })

	// If the store does not have a method, there is no verdict, and the message names the store.
	runChild(t, t.TempDir(), "never caches", nil, replayEnv+"="+file).
		wantFailure(t, "broken: the store under test: ",
			"a script asks for the method Rollback, which a property_test.handler does not have")
}

// TestReplayBlamesTheStoreUnderTest: a replay reports the store under test, not the store with which the file was
// recorded. The failure that it finds in the file's world is kept.
func TestReplayBlamesTheStoreUnderTest(t *testing.T) {
	effort.Long(t)
	dir := t.TempDir()
	file := fileOf(t, contended)
	world := replayEnv + "=" + file
	c := runChild(t, dir, "blind-release", []string{"-rapid.shrinktime=2s"}, world)
	c.wantFailure(t, "violated: contended under store-under-test", "a smaller failure is looked for now",
		"violated: contended under store-under-test", "lock-theft: ", "found in schedule ", "its schedule shrunk from ",
		"scenario: "+failFile, "replay: go test -v -run '^TestChild$' github.com/isr-sim/isr-sim/property\n",
		"replay: property.Replay(t, \""+failFile+"\", newStore)")
	if strings.Contains(c.output, "recipe-a") || strings.Contains(c.output, "isr-sim replay") {
		t.Errorf("the file's protocol is blamed:\n%s", c.output)
	}
	s := must.Of(spec.Parse(failFile, readFile(t, c.file()), isr.Protocol{Name: "store-under-test"}))(t)
	if s.Replay == nil || s.Replay.Protocol != "store-under-test" || s.Replay.Violates != "lock-theft" ||
		len(s.Catches) > 0 || len(s.Reach) != 1 ||
		!strings.HasPrefix(s.About, "Found by property.Replay in the world of "+file+
			"; a schedule of few context switches.\nviolated: contended") {
		t.Errorf("the file holds %+v, replay entry %+v", s, s.Replay)
	}

	// The test now begins with this failure, and shows it.
	again := runChild(t, dir, "blind-release", nil, world)
	again.wantFailure(t, "effect", "violated: contended under store-under-test", "lock-theft: ",
		"choices "+s.Replay.Choices.String(), "scenario: "+failFile)
	if strings.Contains(again.output, "found in schedule") {
		t.Errorf("it was looked for again:\n%s", again.output)
	}
	// The printed test fails in the same way, and a store without the bug passes on both files.
	runChild(t, dir, "blind-release", nil, replayEnv+"="+failFile).wantFailure(t,
		"violated: contended under store-under-test", "choices "+s.Replay.Choices.String())
	property.Replay(t, c.file(), newStore)
	if mended := runChild(t, dir, "recipe-a", nil, world); !mended.passed {
		t.Errorf("the reference fails:\n%s", mended.output)
	}
}

// TestAKeptFailureObeysWithout: a kept failure fails the check until its invariant is left out. Then the check says
// that it is left out.
func TestAKeptFailureObeysWithout(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	const promised, not = "publishes first", "publishes first, which is not promised"
	flags := []string{"-rapid.seed=1", "-rapid.shrinktime=0s", "-rapid.checks=2"}
	dir := t.TempDir()
	runChild(t, dir, promised, flags).wantFailure(t, "violated: TestChild", "atomic-publish: ")
	runChild(t, dir, promised, flags).wantFailure(t, "violated: TestChild", "atomic-publish: ")
	said := failFile + " was kept for atomic-publish, which Check.Without leaves out"
	if c := runChild(t, dir, not, flags); !c.passed || !strings.Contains(c.output, said) {
		t.Errorf("want it to pass, and to say %q:\n%s", said, c.output)
	}
	runChild(t, dir, not, flags, replayEnv+"="+failFile).wantFailure(t, "vacuous: "+said)
}

// TestTheCommandOfAFile: the command names the protocol if the file names another one.
func TestTheCommandOfAFile(t *testing.T) {
	dir := t.TempDir()
	c := runChild(t, dir, "blind-release", []string{"-rapid.seed=1", "-rapid.shrinktime=0s"})
	c.wantFailure(t, "replay: isr-sim replay "+failFile+"\n")
	data := strings.Replace(string(readFile(t, c.file())), "  protocol: blind-release\n", "  protocol: recipe-a\n", 1)
	must.OK(t, os.WriteFile(c.file(), []byte(data), 0o600))
	runChild(t, dir, "blind-release", nil).wantFailure(t, "under blind-release",
		"replay: isr-sim replay --protocol blind-release "+failFile+"\n")
}

// TestCommandOfIsTakenByAShell checks how a shell reads the printed lines.
func TestCommandOfIsTakenByAShell(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("there is no sh here")
	}
	for test, pattern := range map[string]string{
		"TestStore":                `^TestStore$`,
		"TestStore/it's_$HOME_`x`": `^TestStore$/^it's_\$HOME_` + "`x`$",
		`TestStore/a"b\c&d`:        `^TestStore$/^a"b\\c&d$`,
	} {
		said, err := exec.CommandContext(t.Context(), shell, "-c", `go() { printf '%s\n' "$@"; }; `+
			property.CommandOf(test)).Output()
		must.OK(t, err)
		want := "test\n-v\n-run\n" + pattern + "\ngithub.com/isr-sim/isr-sim/property\n"
		if diff := cmp.Diff(want, string(said)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test, diff)
		}
	}
}

// TestCutShort: a check that ends with the time of its test has judged less than was asked for, and does not pass.
func TestCutShort(t *testing.T) {
	effort.Long(t)
	t.Parallel()
	runChild(t, t.TempDir(), "recipe-a", []string{"-rapid.checks=1000000", "-test.timeout=4s"}).
		wantFailure(t, "cut short: nothing was violated in ", "(go test -timeout): give it more time")
}
