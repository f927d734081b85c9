package kernel_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestHoldIsParsed(t *testing.T) {
	for text, want := range map[string]string{
		"hold job for 3s": "", "hold job": "expected hold LOCK for DURATION",
		"hold job for ever":    "expected a duration of more than 0s, up to a year",
		"hold job for 0s":      "expected a duration of more than 0s, up to a year",
		"hold job for 3s more": "expected hold LOCK for DURATION",
	} {
		if _, err := spec.Parse("f.yaml", []byte(oneScript(text))); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// withFault is a scenario with one fault.
func withFault(fault string) string {
	return strings.Replace(valid, "maybe response-lost op=PutItem actor=alice", fault, 1)
}

func TestDependencyFaultsAreParsed(t *testing.T) {
	for _, test := range []struct{ fault, problem, hint string }{
		{"body-put-fails",
			"want a kind (throttled, request-lost, response-lost, error-before, error-after, conflict, duplicate, " +
				"stale-read, unprocessed, short-page, body-put-failed, body-put-lost, body-get-failed, " +
				"origin-failed, cut-off, latency)", `did you mean "body-put-failed"?`},
		{"origin-failed op=GetItem", "want nothing but actor, nth, times, from and to behind origin-failed",
			"such as: origin-failed actor=alice times=2"},
		{"origin-failed twice", "want nothing but actor, nth, times, from and to behind origin-failed",
			"such as: origin-failed actor=alice times=2"},
		{"origin-failed actor=carol", `found a fault of actor "carol", expected one of alice`, ""},
		{"maybe origin-failed nth=2", "found nth=2 in a fault that strikes when the schedule says so",
			"leave out nth, or leave out maybe"},
		{"conflict op=PutObject op=PutItem", `fault "conflict op=PutObject op=PutItem": op is given twice`, ""},
		{"conflict op=PutObject lock", `fault "conflict op=PutObject lock": found "lock", want name=value`, ""},
	} {
		_, err := spec.Parse("f.yaml", []byte(withFault(test.fault)))
		if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), test.hint) {
			t.Errorf("%s: %v\nwant it to say %q and %q", test.fault, err, test.problem, test.hint)
		}
	}
}

// A quoted value in a fault of S3 keeps its spaces.
func TestFaultsOfObjectsAreParsed(t *testing.T) {
	const want = `conflict op=PutObject key="two  spaces"`
	s := scenariotest.Parsed(t, withFault(want))
	if f := s.Faults[0]; f.String() != want || f.Key != "two  spaces" {
		t.Errorf("got %s, want %s", f, want)
	}
}

func oneScript(commands string) string {
	return "name: x\nactors:\n  - {name: alice, script: [" + commands + "]}\n"
}

const inTwoRegions = "name: x\nactors:\n  - {name: alice, script: [get /home]}\n" +
	"  - {name: bob, region: eu-west-1, script: [get /home]}\n"

// A scenario is refused if it has something that no invariant would judge.
func TestWhatIsNotJudgedIsRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{inTwoRegions, ""},
		{inTwoRegions + "region-lag: fixed 2s\n", ""},
		{"name: x\nactors:\n  - {name: alice, region: us-east-1, script: [get /home]}\n", ""},
		{"name: x\nregion-lag: fixed 2s\nactors:\n  - {name: alice, script: [get /home]}\n",
			"found a lag between regions, and all actors in one region"},
		{inTwoRegions + "region-lag: manual\n", `region lag "manual": a scenario has no command to replicate`},
		{inTwoRegions + "settle: 30s\n", "with settle: the visitor after the run is in one region"},
		{inTwoRegions + "compare-lags: [1h]\n", "with compare-lags"},
		{strings.ReplaceAll(inTwoRegions, "[get /home]", "[regenerate /home as r1]"),
			`with the command "regenerate /home as r1", which is judged in one region only`},
		{strings.ReplaceAll(inTwoRegions, "[get /home]", "[rollback /home]"), `with the command "rollback /home"`},
		{strings.ReplaceAll(inTwoRegions, "[get /home]", "[hold job for 1s]"), `with the command "hold job for 1s"`},
		{oneScript("hold job for 1s, sleep 1s, hold other for 1s"), ""},
		{oneScript("get /home, sleep 1s, hold job for 1s"),
			`found "get /home" and "hold job for 1s", which are of pages and of locks`},
		{oneScript("hold job for 1s, once a with b"),
			`found "hold job for 1s" and "once a with b", which are of locks and of calls`},
		{oneScript("once a with b, change /home"),
			`found "once a with b" and "change /home", which are of calls and of pages`},
		{strings.ReplaceAll(inTwoRegions, "name: bob", "name: replication"), `found an actor called "replication"`},
	} {
		s, err := spec.Parse("x.yaml", []byte(test.text))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot %v, want %q", test.text, err, test.want)
		}
		if err != nil {
			continue
		}
		text, err := s.YAML()
		must.OK(t, err)
		if again, err := spec.Parse("x.yaml", text); err != nil || !cmp.Equal(s.Actors, again.Actors) ||
			s.RegionLag != again.RegionLag {
			t.Errorf("%s\nis printed as\n%s%v", test.text, text, err)
		}
	}
	s := must.Of(spec.Parse("x.yaml", []byte(inTwoRegions)))(t)
	s.Settle = 1 // as a program may
	if _, err := (kernel.Run{Scenario: s, Protocol: recipe.Reference()}).Do(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "with settle") {
		t.Errorf("a run came to %v", err)
	}
}

func TestComparedLagsAreParsed(t *testing.T) {
	lagging := oneScript("get /home") + "compare-lags: [at-once, 1h, 48h, never]\n"
	s := must.Of(spec.Parse("f.yaml", []byte(lagging)))(t)
	if got, want := fmt.Sprint(s.CompareLags),
		"[at-once fixed 1h0m0s fixed 48h0m0s never]"; got != want {
		t.Errorf("the lags print %q, want %q", got, want)
	}
	for _, test := range []struct{ old, new, problem, hint string }{
		{"[at-once, 1h, 48h, never]", "[at-once]\nttl-lag: scheduler",
			"found lags to compare with that of the scheduler", "leave ttl-lag out"},
		{"48h", "manual", `a scenario has no command to sweep`, "such as: [at-once, 1h, 48h, never]"},
		{"48h", "soon", `ttl lag "soon"`, "such as: [at-once, 1h, 48h, never]"},
		{"[at-once, 1h, 48h, never]", "never", "expected a list", ""},
	} {
		_, err := spec.Parse("f.yaml", []byte(strings.Replace(lagging, test.old, test.new, 1)))
		if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), test.hint) {
			t.Errorf("%s: %v\nwant it to say %q and %q", test.new, err, test.problem, test.hint)
		}
	}
}

func TestWhichInvariantsJudgeIsPrintedAndReadBack(t *testing.T) {
	for _, choice := range []string{"invariants: [freshness, stale-writer]", "without: [freshness]",
		"promise: {monotonic-reads: across-nodes, max-age: 61s}"} {
		s, err := spec.Parse("f.yaml", []byte(oneScript("get /home")+choice))
		must.OK(t, err)
		text, err := s.YAML()
		must.OK(t, err)
		again, err := spec.Parse("f.yaml", text)
		must.OK(t, err)
		type choices struct {
			Invariants, Without []string
			Promise             spec.Promise
		}
		if diff := cmp.Diff(choices{s.Invariants, s.Without, s.Promise},
			choices{again.Invariants, again.Without, again.Promise}); diff != "" {
			t.Errorf("%s (-once +again):\n%s", choice, diff)
		}
	}
}

func TestRowsFiles(t *testing.T) {
	load := func(text string) (isr.Schema, error) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "rows.yaml")
		must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		return spec.LoadRows(file)
	}
	for _, name := range []string{"reference", "tabletheory", "dynamolock", "powertools"} {
		s, err := load("rows: " + name)
		if want, _ := isr.SchemaNamed(name); err != nil || !cmp.Equal(s, want) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	s, err := load("rows:\n  - ready: dynamolock\n    table: locks\n" +
		"  - {table: pages, partition: \"id = {key}\", body: html, generated: at}\n")
	if err != nil || len(s.Rows) != 2 || s.Rows[0].Table != "locks" || s.Rows[0].Renews != "recordVersionNumber" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, test := range []struct{ text, at, problem string }{
		{"rows: dynamolok", "1:7",
			`found rows "dynamolok", expected one of reference, tabletheory, dynamolock, powertools`},
		{"row: x", "1:1", `found key "row", expected one of rows`},
		{"rows: []", "1:7", "found no rows"},
		{"rows:\n  - partition: id = page\n    expires: e", "2:16", "found no {key}"},
		{"rows:\n  - partition: id = {key}\n    expires: e min", "3:14", `found the unit "min"`},
		{"rows:\n  - partition: id = {key}\n    expires: 5", "3:14", "found the number 5, expected text"},
		{"rows:\n  - partition: id = {key}\n    exipres: e", "3:5", `found key "exipres"`},
		{"rows:\n  - partition: id = {key}\n    body: b", "2:5", "without generated"},
		{"rows:\n  - ready: dynamolock\n    ttl: t", "3:10", "found ttl beside ready"},
		{"rows:\n  - ready: reference", "2:12", "not translated"},
		{"rows:\n  - partition: id = {key}\n    expires: e\n  - partition: pk = {key}\n    expires: e", "4:16",
			"the partition key pk"},
	} {
		_, err := load(test.text)
		wrong, ok := errors.AsType[*spec.SyntaxError](err)
		if !ok || !strings.Contains(wrong.Error(), ":"+test.at+": ") || !strings.Contains(wrong.Problem, test.problem) {
			t.Errorf("%s\ngot  %v\nwant %s: %s", test.text, err, test.at, test.problem)
		}
	}
}

func TestFaultsOfOwnTables(t *testing.T) {
	text := "name: x\nrows:\n  - {table: pages, partition: \"id = {key}\", body: b, generated: g}\n" +
		"actors: [{name: a, script: [get /]}]\nfaults: [throttled table="
	if _, err := spec.Parse("x.yaml", []byte(text+"pages]\n")); err != nil {
		t.Error(err)
	}
	if _, err := spec.Parse("x.yaml", []byte(text+"isr-cache]\n")); err == nil ||
		!strings.Contains(err.Error(), "the only table is pages") {
		t.Errorf("got %v", err)
	}
}

func TestLagsPrintAndParseBack(t *testing.T) {
	for _, lag := range []string{"never", "at-once", "scheduler", "fixed 10m0s", "uniform 1m0s 48h0m0s",
		"exponential 10m0s", "per-item lag_seconds"} {
		s := scenariotest.Parsed(t, strings.Replace(valid, "fixed 10m", lag, 1))
		if s.Lag.String() != lag {
			t.Errorf("%s prints as %s", lag, s.Lag)
		}
		scenariotest.SameAfterPrinting(t, s)
	}
}
