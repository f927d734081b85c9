package property_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/property/gen"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// green is a way in which a test could pass although nothing was judged: a store that does nothing, a check that leaves
// out everything, a world in which nothing happens, an empty file. None may pass.
type green struct {
	name string
	run  func(t *testing.T)
	says string // the first words of the line that refuses it, as a regular expression
}

// greens returns all these ways. Add new ones here.
func greens() []green {
	var all []green
	for _, of := range [][]green{greenStores(), greenChecks(), greenRapid(), greenFiles(), greenReplays(),
		greenProofs(), greenScenarios(), greenLocks()} {
		all = append(all, of...)
	}
	return all
}

// greenEnv is the environment variable that names the part that TestGreenChild runs.
const greenEnv = "ISRSIM_PROPERTY_GREEN"

// greenParts is the number of child processes that share the ways of greens.
const greenParts = 2

// TestNothingIsGreenThatWasNotJudged runs all ways in child processes. Each must fail with the expected words.
func TestNothingIsGreenThatWasNotJudged(t *testing.T) {
	effort.Long(t)
	all := greens()
	seen := map[string]bool{}
	for _, g := range all {
		if seen[g.name] {
			t.Errorf("two ways have the name %s", g.name)
		}
		seen[g.name] = true
	}
	t.Logf("%d ways to be green without being judged", len(all))
	for part := range greenParts {
		t.Run(fmt.Sprint(part+1), func(t *testing.T) {
			t.Parallel()
			said := runGreens(t, fmt.Sprint(part))
			for i, g := range all {
				if i%greenParts != part {
					continue
				}
				text, ran := said[g.name]
				switch {
				case !ran:
					t.Errorf("%s: it did not come to its end; the process said\n%s", g.name, said[""])
				case !strings.Contains(text, "\n    --- FAIL: TestGreenChild/"):
					t.Errorf("%s: it does not fail:\n%s", g.name, text)
				case !regexp.MustCompile(`(?m)^(\s|\w+\.go:\d+: )*(` + g.says + `)`).MatchString(text):
					t.Errorf("%s: want a line that begins with %q in\n%s", g.name, g.says, text)
				}
			}
		})
	}
}

// runGreens returns the output of each way of a part, by the way's name. Under "" are the last lines of the process.
func runGreens(t *testing.T, part string) map[string]string {
	t.Helper()
	binary, err := os.Executable()
	must.OK(t, err)
	flags := []string{"-test.run=^TestGreenChild$", "-test.v", "-rapid.seed=1",
		"-rapid.checks=1", "-rapid.shrinktime=0s"}
	cmd := exec.CommandContext(t.Context(), binary, flags...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), greenEnv+"="+part)
	output, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || err == nil || exit.ExitCode() > 2 {
		t.Fatalf("the process did not end as a failed test does: %v\n%s", err, output)
	}
	said := map[string]string{}
	runs := strings.Split(string(output), "=== RUN   TestGreenChild/")
	for _, text := range runs[1:] {
		name, text, _ := strings.Cut(text, "\n")
		said[greenNames[name]] = text
	}
	// With -test.v the results of subtests are printed at the end, after the result of the test itself.
	last := runs[len(runs)-1]
	said[""] = last[max(0, len(last)-2000):]
	for _, line := range strings.SplitAfter(string(output), "\n") {
		if result, ok := strings.CutPrefix(line, "    --- "); ok {
			_, name, _ := strings.Cut(result, "TestGreenChild/")
			name, _, _ = strings.Cut(name, " ")
			said[greenNames[name]] += "\n" + line
		}
	}
	return said
}

// greenNames maps the name of each way's subtest to the way's name.
var greenNames = func() map[string]string {
	names := map[string]string{}
	for _, g := range slices.Concat(greens(), refusals()) {
		names[strings.ReplaceAll(g.name, " ", "_")] = g.name
	}
	return names
}()

// TestGreenChild is run by TestNothingIsGreenThatWasNotJudged.
func TestGreenChild(t *testing.T) {
	of := os.Getenv(greenEnv)
	if of == "" {
		t.Skip("TestNothingIsGreenThatWasNotJudged runs it, in a process of its own")
	}
	if of == refusalsPart {
		for _, g := range refusals() {
			t.Run(g.name, g.run)
		}
		return
	}
	for i, g := range greens() {
		if fmt.Sprint(i%greenParts) == of {
			t.Run(g.name, g.run)
		}
	}
}

const refusalsPart = "refusals"

// refusals are the mistakes that checks and proofs refuse within milliseconds.
func refusals() (all []green) {
	add := func(name, says string, run func(t *testing.T)) {
		all = append(all, green{name: "at once: " + name, says: says, run: run})
	}
	small := strings.Replace(greenWorld, "schedules: 3, steps: 2000", "ticks: 0", 1)
	alone := strings.Replace(small, "  - name: bob\n    script: [get /home]\n", "", 1)
	prove := func(name, says, text string, c property.Check) {
		add("prove "+name, says, func(t *testing.T) { c.Prove(t, fileOf(t, text), reading) })
	}
	prove("under a misspelt protocol", "property: Check.Protocol: ", alone, property.Check{Protocol: "recipe-x"})
	prove("with rows without a key", "property: Check.Rows: ", alone,
		property.Check{Rows: isr.Schema{Rows: []isr.Row{{Sort: "sk = META"}}}})
	prove("with a misspelt Without", "property: Check.Without: ", alone, property.Check{Without: []string{"livenes"}})
	prove("in a goroutine", "property: Check.Goroutines: ", alone, property.Check{Goroutines: true})
	prove("nothing", "prove: .*actors", "name: none\n", property.Check{})
	prove("a mark that is not reached", "vacuous: ", alone, property.Check{Reach: []spec.Mark{mark.NodeCrashed}})
	add("prove after a failure that is none", "replay: ", func(t *testing.T) {
		keep(t, "")
		property.Check{}.Prove(t, fileOf(t, alone), reading)
	})
	wrong := invariant.Invariant{Name: "own", Statement: "nothing is right",
		Check: func(invariant.Evidence) invariant.Finding {
			return invariant.Finding{Verdict: invariant.Violated, Why: "nothing is"}
		}}
	add("prove what is wrong",
		"violated: .*found in schedule 1 .*Found by property.Check.Prove in the world of ", func(t *testing.T) {
			withFlag(t, "rapid.shrinktime", "1s")
			t.Cleanup(func() { t.Logf("%s", readFile(t, kept(t))) })
			property.Check{Invariants: []invariant.Invariant{wrong}}.Prove(t, fileOf(t, alone), reading)
		})
	add("prove", "complete: .*\n +proved within the bounds of ", func(t *testing.T) {
		property.Check{}.Prove(t, fileOf(t, strings.Replace(alone, "ticks: 0", "ticks: 1", 1)), reading)
	})

	lock, layer := newTurnstiles(turnstile{}), newRecords("")
	none := func(t *testing.T) { withFlag(t, "rapid.checks", "0") }
	const noWorld = "vacuous: nothing was violated, but no world was run"
	add("a lock in no world", noWorld, func(t *testing.T) { none(t); property.CheckLock(t, lock) })
	add("a lock with a margin of the lease", "property: LockCheck.Margin: ",
		func(t *testing.T) { property.LockCheck{Margin: time.Minute}.Run(t, lock) })
	add("replay a lock with a margin of the lease", "property: LockCheck.Margin: ", func(t *testing.T) {
		property.LockCheck{Margin: time.Minute}.Replay(t, "nowhere.yaml", lock)
	})
	add("prove a lock with a margin of the lease", "property: LockCheck.Margin: ", func(t *testing.T) {
		property.LockCheck{Margin: time.Minute}.Prove(t, "nowhere.yaml", lock)
	})
	add("replay a lock from nowhere", "replay: ",
		func(t *testing.T) { property.LockCheck{}.Replay(t, "nowhere.yaml", lock) })
	add("a layer in no world", noWorld, func(t *testing.T) { none(t); property.CheckOnce(t, layer) })
	add("a layer with a wait below zero", "property: OnceCheck.Wait: ",
		func(t *testing.T) { property.OnceCheck{Wait: -1}.Run(t, layer) })
	add("replay a layer with a wait below zero", "property: OnceCheck.Wait: ", func(t *testing.T) {
		property.OnceCheck{Wait: -1}.Replay(t, "nowhere.yaml", layer)
	})
	add("prove a layer with a wait below zero", "property: OnceCheck.Wait: ", func(t *testing.T) {
		property.OnceCheck{Wait: -1}.Prove(t, "nowhere.yaml", layer)
	})
	add("replay a layer from nowhere", "replay: ",
		func(t *testing.T) { property.OnceCheck{}.Replay(t, "nowhere.yaml", layer) })

	held := strings.ReplaceAll(alone, "get /home", "hold job for 1s")
	prove("a lock as a store", "prove: .*: found a scenario of locks, expected one of pages$", held, property.Check{})
	add("prove a store as a lock", "prove: .*: found a scenario of pages, expected one of locks$",
		func(t *testing.T) { property.LockCheck{}.Prove(t, fileOf(t, alone), lock) })
	add("replay a lock as a layer", "replay: .*: found a scenario of locks, expected one of calls$",
		func(t *testing.T) { property.OnceCheck{}.Replay(t, fileOf(t, held), layer) })
	const noFunction = "broken: newStore: found nil, expected a function$"
	add("no store", noFunction, func(t *testing.T) { property.CheckStore(t, nil) })
	add("no lock", noFunction, func(t *testing.T) { property.CheckLock(t, nil) })
	add("no layer", noFunction, func(t *testing.T) { property.CheckOnce(t, nil) })
	add("a bound below zero", `.*the world that was drawn is not valid: either a duration of the check .*found -1s, `,
		func(t *testing.T) { property.Check{Promise: spec.Promise{MaxAge: -time.Second}}.Run(t, reference) })
	return all
}

// TestRefusals runs the refusals, and one proof that passes.
func TestRefusals(t *testing.T) {
	t.Parallel()
	said := runGreens(t, refusalsPart)
	for _, g := range refusals() {
		text := said[g.name]
		if failed := strings.Contains(text, "\n    --- FAIL: TestGreenChild/"); failed == (g.name == "at once: prove") {
			t.Errorf("%s: failed %v:\n%s", g.name, failed, text)
		}
		if !regexp.MustCompile(`(?ms)^ +\w+\.go:\d+: (` + g.says + `)`).MatchString(text) {
			t.Errorf("%s: want a line that begins with %q in\n%s\nthe process said\n%s", g.name, g.says, text, said[""])
		}
	}
	if announced := "a smaller failure is looked for now"; !strings.Contains(said["at once: prove what is wrong"],
		announced) {
		t.Errorf("it is not said that %s:\n%s", announced, said["at once: prove what is wrong"])
	}
}

// withFlag sets a flag of the test's process for the rest of the test.
func withFlag(t *testing.T, name, value string) {
	t.Helper()
	was := flag.Lookup(name).Value.String()
	must.OK(t, flag.Set(name, value))
	t.Cleanup(func() { _ = flag.Set(name, was) })
}

// greenChecks are checks of a correct store that leave out too much, or describe another store.
func greenChecks() (all []green) {
	check := func(name, says string, c property.Check) {
		c.Schedules = max(c.Schedules, 2)
		all = append(all, green{name: "check: " + name, says: says, run: func(t *testing.T) { c.Run(t, reference) }})
	}
	check("without any invariant", "vacuous: Check.Without leaves out all invariants",
		property.Check{Without: allBut()})
	check("a misspelt mark", "property: Check.Reach: found", property.Check{Reach: []spec.Mark{"publishd"}})
	check("a misspelt protocol", "property: Check.Protocol: ", property.Check{Protocol: "recipe-x"})
	check("a mark of locks", "property: Check.Reach: found", property.Check{Reach: []spec.Mark{mark.HoldTaken}})
	// The worlds of such a check have nothing that the only invariant could judge.
	for _, name := range []string{"tenant-isolation", "bounded-staleness", "ttl-is-gc", "no-lost-invalidation",
		"idempotent-regeneration"} {
		all = append(all, green{name: "check: nothing but " + name, says: "vacuous: ", run: func(t *testing.T) {
			property.Check{Schedules: 2, Without: allBut(name)}.Run(t, reading)
		}})
	}
	// It is no cache of package recipe, so its operations are not observed.
	all = append(all, green{name: "check: nothing but linearizable", says: "vacuous: ", run: func(t *testing.T) {
		property.Check{Schedules: 2, Reach: none, Without: allBut("linearizable")}.Run(t, strange(stranger{}))
	}})
	// Its bodies are in its rows, without an etag.
	all = append(all, green{name: "check: nothing but no-dangling-pointer", says: "vacuous: ", run: func(t *testing.T) {
		property.Check{Schedules: 2, Reach: none, Without: allBut("no-dangling-pointer")}.Run(t, strange(stranger{}))
	}})
	all = append(all,
		green{name: "check: nothing but linearizable in a goroutine", says: "vacuous: ", run: func(t *testing.T) {
			property.Check{Schedules: 1, Goroutines: true, Without: allBut("linearizable")}.Run(t, reading)
		}})
	rows := func(name string, r isr.Row) {
		schema := isr.Schema{Rows: []isr.Row{r}}
		check("rows "+name, unjudged+`|property: Check.Rows: `, property.Check{Rows: schema})
		check("rows "+name+", any marks", unjudged+`|property: Check.Rows: `,
			property.Check{Rows: schema, Reach: none, Without: []string{"liveness"}})
	}
	rows("of another cache", articleRows.Rows[0])
	rows("that no row is one of", isr.Row{Partition: "pk = nothing#{key}", Sort: "sk = META", Body: "body"})
	rows("with a condition that never holds",
		isr.Row{Partition: "pk = PAGE#{key}", Sort: "sk = META", When: "kind=page", Body: "body"})
	rows("that are locks alone",
		isr.Row{Partition: "pk = {key}", Sort: "sk = LOCK", Token: "lease_token", Expires: "lease_expires_at"})
	rows("in another table", isr.Row{Table: "pages", Partition: "pk = {key}", Sort: "sk = META", BodyKey: "s3_key"})
	rows("without a key", isr.Row{Sort: "sk = META"})
	check("rows with pages under another key",
		`isr-cache \{pk: .*, sk: "META"\}, with .*: pk is not of the form pge:\{key\}\n`, property.Check{
			Rows: isr.Schema{Rows: []isr.Row{
				{Partition: "pk = pge:{key}", Sort: "sk = META", BodyKey: "s3_key", Generated: "generated_at"},
				{Partition: "pk = {key}", Sort: "sk = LOCK", Token: "lease_token", Expires: "lease_expires_at"},
			}}, Without: []string{"single-flight"},
		})
	silent := isr.Schema{
		Translate: func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue { return nil },
	}
	check("rows by a function that finds none", unjudged, property.Check{Rows: silent})
	check("rows by a function that finds none, any marks", unjudged,
		property.Check{Rows: silent, Reach: none, Without: []string{"liveness"}})
	return all
}

// reading is the reference with Get alone.
func reading(n property.Node) (isr.Handler, error) {
	store, err := newStore(n)
	if err != nil {
		return nil, err
	}
	return handler(store.Get), nil
}

// greenRapid are flags under which no world is run.
func greenRapid() (all []green) {
	for name, flags := range map[string][]string{
		"no checks":            {"rapid.checks", "0"},
		"fewer than no checks": {"rapid.checks", "-3"},
		"short, and too few":   {"rapid.checks", "4", "test.short", "true"},
		"short, and one":       {"rapid.checks", "1", "test.short", "true"},
	} {
		set := func(t *testing.T) {
			for i := 0; i < len(flags); i += 2 {
				withFlag(t, flags[i], flags[i+1])
			}
		}
		says := `vacuous: |\[rapid\] only generated`
		all = append(all,
			green{name: "rapid: " + name, says: says,
				run: func(t *testing.T) { set(t); property.CheckStore(t, reference) }},
			green{name: "rapid: " + name + ", a lock", says: says, run: func(t *testing.T) {
				set(t)
				property.LockCheck{Table: turnstileTable}.Run(t, newTurnstiles(turnstile{}))
			}},
		)
	}
	slices.SortFunc(all, func(a, b green) int { return strings.Compare(a.name, b.name) })
	return all
}

// greenWorld is a small world in which a correct store passes.
const greenWorld = `name: green
actors:
  - name: alice
    script: [get /home]
  - name: bob
    script: [get /home]
bounds: {schedules: 3, steps: 2000}
`

// badFiles are scenario files whose mistakes make them show nothing.
func badFiles() map[string]string {
	return map[string]string{
		"is empty":               "",
		"is a comment":           "# nothing yet\n",
		"is a list":              "[]\n",
		"is a text":              "green\n",
		"is of another kind":     "apiVersion: v1\nkind: ConfigMap\n",
		"has no actors":          "name: green\n",
		"has an empty list":      "name: green\nactors: []\n",
		"has no script":          "name: green\nactors:\n  - name: alice\n",
		"has an empty script":    "name: green\nactors:\n  - name: alice\n    script: []\n",
		"has a misspelt command": strings.Replace(greenWorld, "get /home", "gte /home", 1),
		"has a misspelt key":     greenWorld + "invarients: [liveness]\n",
		"has no schedules":       strings.Replace(greenWorld, "schedules: 3", "schedules: 0", 1),
		"has fewer schedules":    strings.Replace(greenWorld, "schedules: 3", "schedules: -1", 1),
		"has no steps":           strings.Replace(greenWorld, "steps: 2000", "steps: 0", 1),
		"has few steps":          strings.Replace(greenWorld, "steps: 2000", "steps: 1", 1),
		"has no invariants":      greenWorld + "invariants: []\n",
		"leaves out all":         greenWorld + "without: [" + strings.Join(allBut(), ", ") + "]\n",
		"has another invariant":  greenWorld + "invariants: [no-such-thing]\n",
		"has another mark":       greenWorld + "reach: [no-such-thing]\n",
		"has a mark far off":     greenWorld + "reach: [crash]\n",
		"only sleeps":            strings.ReplaceAll(greenWorld, "get /home", "sleep 1s"),
		"only changes":           strings.ReplaceAll(greenWorld, "get /home", "change /home"),
		"is two documents":       greenWorld + "---\n" + greenWorld,
		"is cut":                 greenWorld[:len(greenWorld)/2],
		"has a lock":             strings.ReplaceAll(greenWorld, "get /home", "hold job 1s"),
	}
}

const mistake = unjudged + `|replay: |prove: |property: |nothing |not complete|broken|unknown|a script`

// greenFiles are checks whose kept file holds no failure.
func greenFiles() (all []green) {
	for name, text := range badFiles() {
		all = append(all, green{name: "kept: the file " + name, says: mistake, run: func(t *testing.T) {
			keep(t, text)
			property.Check{Schedules: 1}.Run(t, reference)
		}})
	}
	all = append(all, green{name: "kept: the file is a folder", says: mistake, run: func(t *testing.T) {
		must.OK(t, os.MkdirAll(kept(t), 0o700))
		property.Check{Schedules: 1}.Run(t, reference)
	}})
	sorted(all)
	return all
}

// kept is the file in which a test's failure is kept.
func kept(t *testing.T) string { return filepath.FromSlash(property.FileName(t.Name())) }

// keep writes that file.
func keep(t *testing.T, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(kept(t)), 0o700))
	must.OK(t, os.WriteFile(kept(t), []byte(text), 0o600))
}

func sorted(all []green) {
	slices.SortFunc(all, func(a, b green) int { return strings.Compare(a.name, b.name) })
}

// greenReplays are replays of worlds in which nothing is judged, or of stores that do nothing.
func greenReplays() (all []green) {
	for name, text := range badFiles() {
		all = append(all, green{name: "replay: the file " + name, says: mistake, run: func(t *testing.T) {
			property.Replay(t, fileOf(t, text), reference)
		}})
	}
	for name := range idle(nil) {
		all = append(all, green{name: "replay: " + name, says: mistake, run: func(t *testing.T) {
			property.Check{}.Replay(t, fileOf(t, greenWorld), idle(t)[name])
		}})
	}
	all = append(all,
		green{name: "replay: no file", says: "replay: ",
			run: func(t *testing.T) { property.Replay(t, "nowhere.yaml", reference) }},
		green{name: "replay: no name", says: "replay: ", run: func(t *testing.T) { property.Replay(t, "", reference) }},
		green{name: "replay: a folder", says: "replay: ",
			run: func(t *testing.T) { property.Replay(t, t.TempDir(), reference) }},
		green{name: "replay: pages by a lock", says: "replay: ", run: func(t *testing.T) {
			property.LockCheck{Table: turnstileTable}.Replay(t, fileOf(t, greenWorld), newTurnstiles(turnstile{}))
		}},
	)
	sorted(all)
	return all
}

// greenProofs are proofs in which nothing is proved.
func greenProofs() (all []green) {
	small := strings.Replace(greenWorld, "schedules: 3, steps: 2000", "ticks: 0", 1)
	prove := func(name, says, text string, c property.Check, store func(property.Node) (isr.Handler, error)) {
		all = append(all,
			green{name: "proof: " + name, says: says, run: func(t *testing.T) { c.Prove(t, fileOf(t, text), store) }})
	}
	for name, text := range badFiles() {
		if strings.Contains(name, "schedules") || strings.Contains(name, "steps") {
			continue // a search has other bounds
		}
		text = strings.Replace(text, "schedules: 3, steps: 2000", "ticks: 0", 1)
		prove("the file "+name, mistake, text, property.Check{}, reading)
		prove("the file "+name+", any marks", mistake, text, property.Check{Reach: none}, idle(nil)["always fails"])
	}
	for name := range idle(nil) {
		all = append(all, green{name: "proof: any marks, " + name, says: mistake, run: func(t *testing.T) {
			property.Check{Reach: none}.Prove(t, fileOf(t, small), idle(t)[name])
		}})
	}
	prove("one schedule", "not complete: ", small, property.Check{Schedules: 1}, reading)
	prove("without any invariant", "vacuous: ", small, property.Check{Without: allBut()}, reading)
	prove("with an invariant that no search proves", "vacuous: ", small,
		property.Check{Without: allBut("linearizable")}, reading)
	prove("a misspelt mark", mistake, small, property.Check{Reach: []spec.Mark{"publishd"}}, reading)
	all = append(all, green{name: "proof: no file", says: "prove: ", run: func(t *testing.T) {
		property.Check{}.Prove(t,
			"nowhere.yaml", reading)
	}})
	sorted(all)
	return all
}

// greenScenarios are tests that state their own properties.
func greenScenarios() []green {
	empty := gen.Table{Name: "pages", Partition: "pk"}
	return []green{
		{name: "gen: a model of no table", says: "table pages: ", run: func(t *testing.T) {
			if diff := gen.NewModel(empty).Diff(ddbfake.New(ddbfake.Options{})); diff != "" {
				t.Fatal(diff)
			}
		}},
	}
}

// idleLocks are locks that do nothing worth judging.
func idleLocks(t *testing.T) map[string]func(property.Machine) (property.Lock, error) {
	answer := func(a acquirer) func(property.Machine) (property.Lock, error) {
		return func(property.Machine) (property.Lock, error) { return a, nil }
	}
	all := badLocks()
	more := map[string]func(property.Machine) (property.Lock, error){
		"lock: waits for the end": answer(func(ctx context.Context, _ string) (property.Held, error) {
			return nil, ctx.Err()
		}),
		"lock: is a nil pointer": func(property.Machine) (property.Lock, error) { return (*turnstile)(nil), nil },
		"lock: holds a nil pointer": answer(
			func(context.Context, string) (property.Held, error) { return (*passage)(nil), nil },
		),
		"lock: skips the test": answer(func(context.Context, string) (property.Held, error) {
			t.Skip("no table here")
			return nil, nil
		}),
		"lock: skips the test before": func(property.Machine) (property.Lock, error) {
			t.Skip("no table here")
			return nil, nil
		},
		"lock: returns from its goroutine": answer(func(context.Context, string) (property.Held, error) {
			runtime.Goexit()
			return nil, nil
		}),
		"lock: takes and says nothing": func(n property.Machine) (property.Lock, error) {
			real := &turnstile{Machine: n}
			return acquirer(func(ctx context.Context, name string) (property.Held, error) {
				_, _ = real.Acquire(ctx, name)
				return nil, errors.New("not today")
			}), nil
		},
		"lock: another for each": func(n property.Machine) (property.Lock, error) {
			real := &turnstile{Machine: n}
			return acquirer(func(ctx context.Context, _ string) (property.Held, error) {
				return real.Acquire(ctx, n.Tokens())
			}), nil
		},
	}
	for name, lock := range more {
		all[name] = lock
	}
	return all
}

// greenLocks are locks that do nothing, and checks of locks that demand nothing.
func greenLocks() (all []green) {
	lax := map[string]property.LockCheck{
		"":                           {Schedules: 2},
		", any marks":                {Schedules: 2, Reach: none},
		", any marks in a goroutine": {Schedules: 1, Reach: none, Goroutines: true},
		", and every excuse":         {Schedules: 1, Reach: none, Wait: time.Minute, Takeover: time.Minute},
	}
	for how, c := range lax {
		for name := range idleLocks(nil) {
			all = append(all,
				green{name: name + how, says: mistake, run: func(t *testing.T) { c.Run(t, idleLocks(t)[name]) }})
		}
	}
	mistaken := map[string]property.LockCheck{
		"a lease of nothing":       {Leases: []time.Duration{0}},
		"a lease before its time":  {Leases: []time.Duration{-time.Second}},
		"a lease of a millisecond": {Leases: []time.Duration{time.Millisecond}},
		"a margin below zero":      {Margin: -time.Second},
		"a wait below zero":        {Wait: -time.Second},
		"a takeover below zero":    {Takeover: -time.Second},
		"a misspelt mark":          {Reach: []spec.Mark{"hold-takn"}},
		"a mark of pages":          {Reach: []spec.Mark{mark.Published}},
	}
	for name, c := range mistaken {
		all = append(all, green{name: "lock: " + name, says: mistake, run: func(t *testing.T) {
			c.Table, c.Schedules = turnstileTable, 2
			withFlag(t, "rapid.checks", "11")
			c.Run(t, newTurnstiles(turnstile{}))
		}})
	}
	purged := func(name, by, says string, c property.LockCheck) {
		all = append(all, green{name: "lock: TTL " + name, says: says, run: func(t *testing.T) {
			c.Table = turnstileTable
			withFlag(t, "rapid.checks", "4")
			c.Run(t, newTurnstiles(turnstile{purgedBy: by}))
		}})
	}
	purged("by an attribute of its own", "purge_at", `vacuous: .*"purge_at"; if the table has no TTL`,
		property.LockCheck{Schedules: 1})
	purged("by an attribute of its own, any marks", "purge_at", `vacuous: .*"purge_at"; if the table has no TTL`,
		property.LockCheck{Schedules: 1, Reach: none})
	purged("by a name that no row has", "purge_at", "vacuous: .* none has a number in the attribute purged",
		property.LockCheck{Schedules: 1, TTL: "purged"})
	purged("by its name", "purge_at", "violated: ", property.LockCheck{Schedules: 10, TTL: "purge_at"})
	purged("by ttl", "ttl_", "violated: ", property.LockCheck{Schedules: 10, TTL: "ttl_"})
	for name, text := range badFiles() {
		if name != "has a lock" {
			all = append(all,
				green{name: "lock: replay of a file that " + name, says: mistake, run: func(t *testing.T) {
					property.LockCheck{Table: turnstileTable}.Replay(t, fileOf(t, text), newTurnstiles(turnstile{}))
				}})
		}
	}
	sorted(all)
	return all
}

// unjudged are the words with which a check says that it judged nothing, or not everything, or that something is wrong.
const unjudged = `vacuous: |unknown: |broken: |violated: `

// idle are stores that give an invariant nothing to judge. The code under test may use t.
func idle(t *testing.T) map[string]func(property.Node) (isr.Handler, error) {
	answer := func(
		get func(ctx context.Context, n property.Node, key string) (isr.Served, error),
	) func(property.Node) (isr.Handler, error) {
		return func(n property.Node) (isr.Handler, error) {
			return handler(func(ctx context.Context, key string) (isr.Served, error) { return get(ctx, n, key) }), nil
		}
	}
	constant := func(served isr.Served, err error) func(property.Node) (isr.Handler, error) {
		return answer(func(context.Context, property.Node, string) (isr.Served, error) { return served, err })
	}
	// over is the reference with a changed configuration and changed answers.
	over := func(
		change func(*isr.Config), get func(ctx context.Context, real isr.Handler, key string) (isr.Served, error),
	) func(property.Node) (isr.Handler, error) {
		return func(n property.Node) (isr.Handler, error) {
			cfg := n.Config
			if change != nil {
				change(&cfg)
			}
			real, err := recipe.New(cfg)
			if err != nil {
				return nil, err
			}
			return handler(func(ctx context.Context, key string) (isr.Served, error) { return get(ctx, real, key) }),
				nil
		}
	}
	plain := func(ctx context.Context, real isr.Handler, key string) (isr.Served, error) { return real.Get(ctx, key) }
	throttled := &types.ProvisionedThroughputExceededException{}
	return map[string]func(property.Node) (isr.Handler, error){
		"always fails":           constant(isr.Served{}, errors.New("not today")),
		"always is throttled":    constant(isr.Served{}, throttled),
		"supports nothing":       constant(isr.Served{}, isr.ErrUnsupported),
		"serves nil":             constant(isr.Served{}, nil),
		"serves nil as fresh":    constant(isr.Served{Fresh: true}, nil),
		"serves a constant":      constant(isr.Served{Body: []byte("page")}, nil),
		"serves fresh constants": constant(isr.Served{Body: []byte("page"), Fresh: true}, nil),
		"serves the key": answer(func(_ context.Context, _ property.Node, key string) (isr.Served, error) {
			return isr.Served{Body: []byte(key), Fresh: true}, nil
		}),
		"reads and fails": answer(func(ctx context.Context, n property.Node, _ string) (isr.Served, error) {
			_, err := n.Client.GetItem(ctx,
				&dynamodb.GetItemInput{TableName: &n.Table, Key: pagecache.Key("pk", isr.SortMeta)})
			return isr.Served{}, errors.Join(err, errors.New("not today"))
		}),
		"reads and serves nil": answer(func(ctx context.Context, n property.Node, _ string) (isr.Served, error) {
			_, err := n.Client.GetItem(ctx,
				&dynamodb.GetItemInput{TableName: &n.Table, Key: pagecache.Key("pk", isr.SortMeta)})
			return isr.Served{}, err
		}),
		"renders and fails": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			_, err := n.Render(ctx, key, func(context.Context) error { return nil })
			return isr.Served{}, errors.Join(err, errors.New("not today"))
		}),
		"renders and serves nil": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			_, err := n.Render(ctx, key, func(context.Context) error { return nil })
			return isr.Served{}, err
		}),
		"never caches": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			body, err := n.Render(ctx, key, func(context.Context) error { return nil })
			return isr.Served{Body: body}, err
		}),
		"writes another row": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			_, err := n.Client.PutItem(ctx,
				&dynamodb.PutItemInput{TableName: &n.Table, Item: pagecache.Key(key, "page")})
			return isr.Served{}, err
		}),
		"writes to another table": over(func(c *isr.Config) { c.Table = "pages" }, plain),
		"writes to a table of its own": over(func(c *isr.Config) {
			db := ddbfake.New(ddbfake.Options{})
			if _, err := db.As("").CreateTable(context.Background(), isr.TableInput(c.Table)); err != nil {
				panic(err)
			}
			c.Client = db.As("own")
		}, plain),
		"uses a client of its own": over(func(c *isr.Config) {
			c.Client = dynamodb.New(dynamodb.Options{
				Region: "eu-west-1", Credentials: credentials(c.Client), HTTPClient: yes{},
			})
		}, plain),
		"has a clock that stands": over(func(c *isr.Config) { c.Clock = scenariotest.Sleepless{} }, plain),
		"swallows every error": over(nil,
			func(context.Context, isr.Handler, string) (isr.Served, error) { return isr.Served{}, nil }),
		"works and says nothing": over(nil,
			func(ctx context.Context, real isr.Handler, key string) (isr.Served, error) {
				_, _ = real.Get(ctx, key)
				return isr.Served{}, errors.New("not today")
			}),
		"works and serves nil": over(nil, func(ctx context.Context, real isr.Handler, key string) (isr.Served, error) {
			served, err := real.Get(ctx, key)
			served.Body = nil
			return served, err
		}),
		"works on another page": over(nil, func(ctx context.Context, real isr.Handler, _ string) (isr.Served, error) {
			_, _ = real.Get(ctx, "/elsewhere")
			return isr.Served{}, nil
		}),
		"returns from its goroutine": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			runtime.Goexit()
			return isr.Served{}, nil
		}),
		"skips the test in Get": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			t.Skip("no table here")
			return isr.Served{}, nil
		}),
		"skips the test in newStore": func(property.Node) (isr.Handler, error) {
			t.Skip("no table here")
			return nil, nil
		},
		"ends newStore":    func(property.Node) (isr.Handler, error) { runtime.Goexit(); return nil, nil },
		"panics at once":   func(property.Node) (isr.Handler, error) { panic("no region") },
		"cannot be made":   func(property.Node) (isr.Handler, error) { return nil, errors.New("no region") },
		"is nil":           func(property.Node) (isr.Handler, error) { return nil, nil },
		"is a nil pointer": func(property.Node) (isr.Handler, error) { return (*articles)(nil), nil },
	}
}

// yes is a service that answers each request with success, but does nothing.
type yes struct{}

func (yes) Do(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
	}, nil
}

func credentials(of isr.Client) aws.CredentialsProvider {
	return of.(*dynamodb.Client).Options().Credentials
}

// reference makes a store without a bug.
func reference(n property.Node) (isr.Handler, error) { return newStore(n) }

// allBut are the names of all invariants except the given ones.
func allBut(names ...string) []string {
	var others []string
	for _, inv := range invariant.All() {
		if !slices.Contains(names, inv.Name) {
			others = append(others, inv.Name)
		}
	}
	return others
}

// none is an empty list of marks: it demands nothing.
var none = []spec.Mark{}

// greenStores are stores that do nothing, under checks that demand less and less.
func greenStores() (all []green) {
	lax := map[string]property.Check{
		"":                           {Schedules: 2},
		", any marks":                {Schedules: 2, Reach: none, Without: []string{"liveness"}},
		", any marks in a goroutine": {Schedules: 1, Reach: none, Without: []string{"liveness"}, Goroutines: true},
		", bodies alone": {Schedules: 1, Reach: none,
			Without: allBut("no-dangling-pointer", "ttl-well-formed")},
	}
	for _, how := range slices.Sorted(maps.Keys(lax)) {
		for _, name := range slices.Sorted(maps.Keys(idle(nil))) {
			if how == ", bodies alone" && strings.HasPrefix(name, "works ") {
				continue // its bodies are judged
			}
			all = append(all, green{name: "store: " + name + how, says: unjudged,
				run: func(t *testing.T) { lax[how].Run(t, idle(t)[name]) }})
		}
	}
	return all
}
