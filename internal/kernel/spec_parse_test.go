package kernel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/yamlfile"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
)

// valid is a correct scenario, into which the tests of errors put mistakes.
const valid = `name: example
protocol: recipe-a
cache:
  lease: 10s
ttl-lag: fixed 10m
actors:
  - name: alice
    script: [get /home, sleep 5s]
faults:
  - maybe response-lost op=PutItem actor=alice
`

func TestParseErrorsSayWhereWhatAndHow(t *testing.T) {
	if _, err := spec.Parse("f.yaml", []byte(valid)); err != nil {
		t.Fatalf("the scenario to spoil is not valid: %v", err)
	}
	for _, test := range []struct {
		name, old, new string
		want           string // the first line of the error
		hint           string
	}{
		{"misspelt key", "protocol:", "protocl:",
			`f.yaml:2:1: found key "protocl", expected one of name, about, source, broken, protocol, rows, cache, promise, ttl-lag, compare-lags, region-lag, replica-lag, max-clock-skew, actors, faults, s3-store, settle, bounds, reach, invariants, without, expect, catches, replay`,
			`did you mean "protocol"?`},
		{"misspelt key inside", "  lease:", "  leas:",
			`f.yaml:4:3: found key "leas", expected one of lease, revalidate, retention, ttl-buffer, render, keep-alive, same-bytes, contention, failure, poll, patience, attempts`,
			`did you mean "lease"?`},
		{"unknown store", "ttl-lag: fixed 10m", "s3-store: mini",
			`f.yaml:5:11: found S3 store "mini", expected one of aws, digitalocean, hetzner, incus, minio`,
			`did you mean "minio"?`},
		{"record of a run", valid, `{"format": 1, "tool": "isr-sim", "steps": []}`,
			"f.yaml:1:1: found the record of a run, expected a scenario",
			"the scenario is the .yaml file beside it; isr-sim replay, explain and report read a record"},
		{"unknown protocol", "recipe-a", "recipe-z",
			`f.yaml:2:11: found protocol "recipe-z", expected one of ` + thatListPrints(),
			`did you mean "recipe-a"?`},
		{"negative lag", "fixed 10m", "fixed -10m",
			`f.yaml:5:10: ttl lag "fixed -10m": -10m is negative; want zero or more`,
			"use scheduler, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name " +
				"of an attribute"},
		{"unknown lag", "fixed 10m", "sometimes",
			`f.yaml:5:10: ttl lag "sometimes": want never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name of an attribute`,
			"use scheduler, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name " +
				"of an attribute"},
		{"negative replica lag", "ttl-lag: fixed 10m", "replica-lag: -2s",
			"f.yaml:5:14: found the negative duration -2s, expected 0s or more", "leave out the minus"},
		{"negative duration", "10s", "-10s",
			"f.yaml:4:10: found -10s, expected a duration between 1ms and 87600h0m0s", "such as 10s"},
		{"duration without unit", "10s", "10",
			"f.yaml:4:10: found the number 10, expected a duration", "durations have a unit: 90s, 1h30m, 500ms"},
		{"key twice", "protocol: recipe-a", "name: again",
			`f.yaml:2:1: not YAML: mapping key "name" already defined at [1:1]`, "keep one of the two"},
		{"unknown verb", "get /home", "git /home",
			`f.yaml:8:14: found the command "git /home", expected get KEY, change KEY, sleep DURATION, invalidate KEY, rollback KEY, regenerate KEY as REQUEST, or regenerate KEY as REQUEST with INPUTS, hold LOCK for DURATION, once KEY with PAYLOAD`, `did you mean "get"?`},
		{"verb without key", "get /home", "get",
			`f.yaml:8:14: found "get", expected one key after get`, "get /home"},
		{"regeneration for nothing", "get /home", "regenerate /home",
			`f.yaml:8:14: found "regenerate /home", expected regenerate KEY as REQUEST, or regenerate KEY as REQUEST with INPUTS`, "regenerate /home as order-7"},
		{"sleep without duration", "sleep 5s", "sleep soon",
			`f.yaml:8:25: found "sleep soon", expected a duration of more than 0s, up to a year`, "sleep 61s"},
		{"unknown fault", "response-lost", "answer-lost",
			`f.yaml:10:5: fault "answer-lost op=PutItem actor=alice": found "answer-lost", want a kind (throttled, request-lost, response-lost, error-before, error-after, conflict, duplicate, stale-read, unprocessed, short-page, body-put-failed, body-put-lost, body-get-failed, origin-failed, cut-off, latency)`,
			"such as: maybe response-lost op=TransactWriteItems actor=alice"},
		{"fault of an unknown actor", "actor=alice", "actor=alise",
			`f.yaml:10:5: found a fault of actor "alise", expected one of alice`, `did you mean "alice"?`},
		{"maybe the third", "op=PutItem", "op=PutItem nth=3",
			`f.yaml:10:5: found nth=3 in a fault that strikes when the schedule says so`,
			"leave out nth, or leave out maybe"},
		{"anchor", "name: example", "name: &n example",
			`f.yaml:1:7: found a YAML anchor or alias, which scenarios do not use, expected text`,
			"write the value out"},
		{"standing clock", "    script:", "    clock: {drift-ppm: -900000}\n    script:",
			"f.yaml:8:24: found the number -900000, expected a whole number from -500000 to 1000000",
			"leave the key out for its default"},
		{"reserved name", "name: alice", "name: ttl",
			`f.yaml:7:11: found an actor called "ttl", which traces call something else`,
			"give the actor another name"},
		{"lag by hand", "fixed 10m", "manual",
			`f.yaml:5:10: ttl lag "manual": a scenario has no command to sweep`,
			"use scheduler, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name " +
				"of an attribute"},
		{"digest", "faults:", "replay: {seed: 1, choices: '0', trace: 'xyz'}\nfaults:",
			`f.yaml:9:40: found the digest "xyz", expected eight hexadecimal digits`,
			"quote it, for it may look like a number"},
		{"list for mapping", "cache:\n  lease: 10s", "cache: [lease]",
			"f.yaml:3:8: found a list, expected keys and values (lease, revalidate, retention, ttl-buffer, render, " +
				"keep-alive, same-bytes, contention, failure, poll, patience, attempts)",
			"such as {lease: ...}, or a line for each key"},
		{"text for list", "[get /home, sleep 5s]", "get /home",
			`f.yaml:8:13: found the text "get /home", expected a list`,
			"write it as a list: [...], or lines that begin with -"},
		{"no script", "    script: [get /home, sleep 5s]\n", "",
			"f.yaml:7:5: found no script for actor alice, expected at least one command", "script: [get /home]"},
		{"no name", "name: example\n", "",
			"f.yaml:1:1: found no name, expected one", "name: paused-writer"},
		{"second document", "faults:", "---\nname: two\nfaults:",
			"f.yaml:10:1: found a second YAML document", "one scenario a file"},
		{"number for text", "name: example", "name: 12",
			"f.yaml:1:7: found the number 12, expected text", "quote it if it is meant as text"},
		{"bad name", "name: example", "name: a/b",
			`f.yaml:1:7: found the name "a/b", expected letters, digits, - and _ (at most 100)`,
			"such as: paused-writer"},
		{"open bracket", "[get /home, sleep 5s]", "[get /home",
			"f.yaml:9:1: not YAML: ',' or ']' must be specified",
			"the keys of one mapping begin in one column, and a bracket or a quote that is open is closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spoilt := strings.Replace(valid, test.old, test.new, 1)
			if spoilt == valid {
				t.Fatalf("%q does not occur", test.old)
			}
			_, err := spec.Parse("f.yaml", []byte(spoilt))
			e, ok := errors.AsType[*spec.SyntaxError](err)
			if !ok {
				t.Fatalf("Parse: got %v, want a *SyntaxError", err)
			}
			if got := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem); got != test.want {
				t.Errorf("error\n got %s\nwant %s", got, test.want)
			}
			if e.Hint != test.hint {
				t.Errorf("hint\n got %s\nwant %s", e.Hint, test.hint)
			}
		})
	}
}

// thatListPrints is the text that errors have instead of the names of the protocols, because there are too many of
// them.
func thatListPrints() string {
	return fmt.Sprintf("the %d that isr-sim list prints", len(kernel.Protocols()))
}

// TestFilesOfGoTests: isr-sim cannot run a protocol of a Go test, and says how to run it.
func TestFilesOfGoTests(t *testing.T) {
	for _, name := range []string{"store-under-test", "lock-under-test", "calls-under-test"} {
		_, err := spec.Parse("testdata/isr-sim/TestX.yaml", []byte(strings.Replace(valid, "recipe-a", name, 1)))
		if want := "\nhint: this run is of code in a Go test: go test -v -run '^TestX$'"; err == nil ||
			!strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want the end %q", name, err, want)
		}
	}
}

func TestSyntaxErrorsPointAtTheColumn(t *testing.T) {
	_, err := spec.Parse("f.yaml", []byte(strings.Replace(valid, "recipe-a", "recipe-z", 1)))
	want := `f.yaml:2:11: found protocol "recipe-z", expected one of ` + thatListPrints() + `
  2 | protocol: recipe-z
    |           ^
hint: did you mean "recipe-a"?`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestHugeAndForeignFilesAreRefusedBriefly(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"a 5 MB line", "name: x\nabout: " + strings.Repeat("a", 5<<20),
			"f.yaml:2:65537: found a line of 5242887 bytes, expected at most 65536"},
		{"a 2 MB file", strings.Repeat("# comment\n", 200_000),
			"f.yaml:13108:1: found a file of 2000000 bytes, expected at most 131072"},
		{"not UTF-8", "name: x\nabout: caf\xe9", "f.yaml:2:11: found a byte that is not UTF-8"},
		{"empty", "", "f.yaml:1:1: found an empty file, expected a scenario"},
		{"only comments", "# nothing\n", "f.yaml:1:1: found an empty file, expected a scenario"},
		{"deep", "name: " + strings.Repeat("[", 10_000), "f.yaml:1:23: found brackets 17 deep, expected at most 16"},
		{"a scalar", "hello", `f.yaml:1:1: found the text "hello", expected keys and values`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := spec.Parse("f.yaml", []byte(test.in))
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Fatalf("error\n got %.300v\nwant %s...", err, test.want)
			}
			if n := len(err.Error()); n > 1000 {
				t.Errorf("the error is %d bytes long", n)
			}
		})
	}
}

// FuzzParse looks for files that make Parse panic or hang, and for scenarios that change when they are printed and read
// again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("name: x\nactors: [{name: a, script: [get /]}]\nreplay: {seed: 1, choices: '01'}\n"))
	f.Add([]byte("name: x\nactors: [{name: a, script: [get /], events: [crash at 1s, restart at 2s, pause at 3s for " +
		"1s, clock -1s at 5s]}]\n" +
		"faults: [throttled key=\"from 1s\" from 1s to 2s times=1, maybe cut-off from 1s, latency 1ms-2s " +
		"op=GetItem to 3s]\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("? - :\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := spec.Parse("f.yaml", data)
		if err != nil {
			if _, ok := errors.AsType[*spec.SyntaxError](err); !ok {
				t.Fatalf("%T: %v, want a *SyntaxError", err, err)
			}
			return
		}
		scenariotest.SameAfterPrinting(t, s)
	})
}

func TestScenariosPrintAndParseBack(t *testing.T) {
	s := scenariotest.Parsed(t, strings.Replace(valid, "lease: 10s", "same-bytes: true", 1)+`about: |
  Two lines: one,
  and "two".
compare-lags: [at-once, 1h, uniform 1m 48h]
replica-lag: 1.5s
max-clock-skew: 2s
settle: 45s
bounds: {schedules: 7, ticks: 0, sweeps: 2}
reach: [crash, response-lost]
expect: violated
catches: [blind-publish]
replay: {protocol: blind-publish, seed: 18446744073709551615, choices: '0120', trace: '01234567'}
`)
	scenariotest.SameAfterPrinting(t, s)
}

// An entry of actors may mean several machines, and a script may be repeated. A printed file has the machines and the
// repetitions one by one.
func TestMachinesOfAKind(t *testing.T) {
	s := scenariotest.Parsed(t,
		"name: crowd\nactors:\n  - {name: crowd, count: 3, script: [get /home, sleep 1s], repeat: 2}\n"+
			"  - {name: alone, script: [get /home]}\n")
	var got []string
	for _, a := range s.Actors {
		got = append(got, fmt.Sprint(a.Name, " ", a.Script))
	}
	twice := " [get /home sleep 1s get /home sleep 1s]"
	if diff := cmp.Diff([]string{"crowd-1" + twice, "crowd-2" + twice, "crowd-3" +
		twice, "alone [get /home]"}, got); diff != "" {
		t.Errorf("machines (-want +got):\n%s", diff)
	}
	for _, wrong := range []struct{ actors, want string }{
		{"  - {name: a, count: 65, script: [get /home]}", "found the number 65, expected a whole number from 1 to 64"},
		{"  - {name: a, count: 40, script: [get /home]}\n  - {name: b, count: 40, script: [get /home]}",
			"found more than 64 actors"},
		{"  - {name: a-2, script: [get /home]}\n  - {name: a, count: 2, script: [get /home]}",
			`found a second actor called "a-2"`},
		{"  - {name: a, count: 2, script: [get /home]}\n  - {name: a-2, script: [get /home]}",
			`found a second actor called "a-2"`},
		{"  - {name: a, script: [get /home], repeat: 0}", "found the number 0, expected a whole number from 1 to 100"},
	} {
		if _, err := spec.Parse("f.yaml", []byte("name: crowd\nactors:\n"+wrong.actors+"\n")); err == nil ||
			!strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: got %v, want %q", wrong.actors, err, wrong.want)
		}
	}
}

var update = flag.Bool("scenario.update", false, "write testdata/mistakes.txt and docs/scenario.schema.json anew")

// mistakesOf returns the mistakes that an error of Parse holds.
func mistakesOf(t *testing.T, err error) []*spec.SyntaxError {
	t.Helper()
	if one, ok := err.(*spec.SyntaxError); ok {
		return []*spec.SyntaxError{one}
	}
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("got %T %v, want mistakes", err, err)
	}
	var out []*spec.SyntaxError
	for _, e := range several.Unwrap() {
		one, ok := errors.AsType[*spec.SyntaxError](e)
		if !ok {
			t.Fatalf("got %T %v, want a *SyntaxError", e, e)
		}
		out = append(out, one)
	}
	return out
}

// In testdata/mistakes.yaml, a line has a mistake if and only if its comment names one. All mistakes are found at once,
// in order, each with the line, a caret and a hint.
func TestAllMistakesAtOnce(t *testing.T) {
	data, err := os.ReadFile("spec/testdata/mistakes.yaml")
	must.OK(t, err)
	_, err = spec.Parse("mistakes.yaml", data)
	if err == nil {
		t.Fatal("no mistake found")
	}
	got := map[int]int{}
	mistakes := mistakesOf(t, err)
	for i, m := range mistakes {
		got[m.Line]++
		if m.Hint == "" {
			t.Errorf("line %d: %s: no hint", m.Line, m.Problem)
		}
		if i > 0 && m.Line < mistakes[i-1].Line {
			t.Errorf("line %d stands behind line %d", m.Line, mistakes[i-1].Line)
		}
	}
	want := map[int]int{}
	for i, line := range strings.Split(string(data), "\n") {
		if _, comment, ok := strings.Cut(line, " # "); ok {
			want[i+1] = 1 + strings.Count(comment, " and ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes by line (-want +got):\n%s", diff)
	}
	if len(mistakes) < 18 {
		t.Errorf("found %d kinds of mistakes, want 18 at least", len(mistakes))
	}
	const golden = "spec/testdata/mistakes.txt"
	if *update {
		must.OK(t, os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644))
	}
	text, readErr := os.ReadFile(golden)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if diff := cmp.Diff(string(text), err.Error()+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// If there are two mistakes, both are reported, without errors that only follow from one of them.
func TestMistakesDoNotCascade(t *testing.T) {
	for _, test := range []struct {
		name, file string
		want       []string // the position, and the beginning of the problem
	}{
		{"a misspelt name is no missing name", "nam: x\nactors: [{name: a, script: [get /]}]\n",
			[]string{`1:1 found key "nam"`}},
		{"a misspelt actor is no unknown actor",
			"name: x\nactors:\n  - nam: bob\n    script: [get /]\nfaults: [throttled actor=bob]\n",
			[]string{`3:5 found key "nam"`}},
		{"unreadable actors are no missing actors", "name: x\nactors:\n  - name: bob\n    script: [get /\nsettle: 5\n",
			[]string{"5:1 not YAML", "5:9 found the number 5"}},
		{"both of two", "name: x\nactors: [{name: a, script: [get home]}, {name: b, script: [got /]}]\n",
			[]string{`2:29 found the key "home"`, `2:60 found the command "got /"`}},
		{"neither name nor actors", "about: x\n", []string{"1:1 found no name", "1:1 found no actors"}},
		{"two tables", "name: x\nrows: nothing\nactors: [{name: a, script: [get /]}]\nfaults: [throttled table=t]\n",
			[]string{`2:7 found rows "nothing"`}},
		{"two broken parts", "name: [x\nabout: {y\nactors: [{name: a, script: [get home]}]\n",
			[]string{"2:1 not YAML", "3:1 not YAML", `3:29 found the key "home"`}},
		{"no source", "name: x\nsource: []\nbroken: blind-publish\nactors: [{name: a, script: [get /]}]\n",
			[]string{"2:9 found no source"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := spec.Parse("f.yaml", []byte(test.file))
			var got []string
			for _, m := range mistakesOf(t, err) {
				got = append(got, fmt.Sprintf("%d:%d %s", m.Line, m.Column, m.Problem))
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], test.want[i]) {
					t.Errorf("got %q, want %q", got[i], test.want[i])
				}
			}
		})
	}
}

// A file that is something else has one mistake, which says so.
func TestForeignFilesHaveOneMistake(t *testing.T) {
	const keys = "expected a scenario: YAML with keys such as name, actors, about"
	for _, test := range []struct {
		file, text string
		want       string // the beginnings of its mistakes, one per line
	}{
		{"main.go", "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() {\n\tname: fmt.Println()\n}\n",
			"1:1 found a file in Go, " + keys},
		{"node.mjs", "import x from 'y'\nconst a = {\n\tb: `c`,\n}\n", "1:1 found a file in JavaScript, " + keys},
		{"notes.txt", "to do:\n\t- this\n\t- `that`\n", "1:1 found text that is no YAML, " + keys},
		{"lint.yaml", "# a comment\nversion: 2\nlinters: [a]\n", "2:1 found other keys, " + keys},
		{"letter.txt", strings.Repeat("Dear reader, ", 20),
			`1:1 found the text "Dear reader, Dear reader, Dear reader, Dear reader, Dear rea"..., expected keys and values`},
		// These are scenarios with mistakes.
		{"f.yaml", "nam: x\n\tactors: []\n", "2:1 not YAML"},
		{"f.yaml", "nam: x\nactrs: []\n", `1:1 found key "nam"` + "\n" + `2:1 found key "actrs"`},
		{"f.yaml", "kind: x\n", `1:1 found key "kind"`},
	} {
		_, err := spec.Parse(test.file, []byte(test.text))
		want := strings.Split(test.want, "\n")
		var got []string
		for i, m := range mistakesOf(t, err) {
			if got = append(got, fmt.Sprintf("%d:%d %s", m.Line, m.Column, m.Problem)); i < len(want) &&
				strings.HasPrefix(got[i], want[i]) {
				got[i] = want[i]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.file, diff)
		}
	}
}

// A file with a mistake in every line does not fill the screen.
func TestManyMistakesAreCounted(t *testing.T) {
	_, err := spec.Parse("f.yaml",
		[]byte("name: x\nactors:\n  - name: a\n    script:\n"+strings.Repeat("    - go\n", 70)))
	if err == nil || strings.Count(err.Error(), "found the command") != 50 ||
		!strings.HasSuffix(err.Error(), "\nand 20 more mistakes in f.yaml") {
		t.Errorf("got %v", err)
	}
}

// The published schema must agree with the parser, and has the meanings that docs/SCENARIOS.md gives. Package schemas
// checks files against it.
func TestThePublishedSchemaIsThatOfTheParser(t *testing.T) {
	root := spec.FileShape()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.ID = "https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/scenario.schema.json"
	root.Title = "A scenario of isr-sim"
	page, err := os.ReadFile("../../docs/SCENARIOS.md")
	must.OK(t, err)
	rows := root.Properties["rows"].AnyOf[1].Items
	for _, part := range []struct {
		heading string
		of      *yamlfile.Shape
	}{
		{"## Keys", root},
		{"### The cache", root.Properties["cache"]},
		{"### The promise", root.Properties["promise"]},
		{"### Actors", root.Properties["actors"].Items},
		{"### Bounds", root.Properties["bounds"]},
		{"## Rows of your own", rows},
	} {
		meanings := meaningsIn(t, string(page), part.heading)
		//isrsim:unordered each is changed by itself
		for key, of := range part.of.Properties {
			if of.Description = meanings[key]; of.Description == "" {
				t.Errorf("docs/SCENARIOS.md, %s: no row for %s", part.heading, key)
			}
			delete(meanings, key)
		}
		if part.of != rows && len(meanings) > 0 {
			t.Errorf("docs/SCENARIOS.md, %s: rows for keys that the parser does not know: %v", part.heading, meanings)
		}
	}
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	must.OK(t, e.Encode(root))
	const published = "../../docs/scenario.schema.json"
	if *update {
		must.OK(t, os.WriteFile(published, want.Bytes(), 0o644))
	}
	got, err := os.ReadFile(published)
	must.OK(t, err)
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("docs/scenario.schema.json (-of the parser +published); go test ./internal/kernel/spec -run Schema "+
			"-scenario.update:\n%s", diff)
	}
}

var (
	tableRow = regexp.MustCompile("(?m)^\\| (`[^|]*`) \\| (?:([^|]*) ?\\| )?([^|]+) \\|$")
	link     = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	codeWord = regexp.MustCompile("`([^`]*)`")
)

// meaningsIn reads the tables of a part of a page, up to the next heading: key, default and meaning.
func meaningsIn(t *testing.T, page, heading string) map[string]string {
	t.Helper()
	_, part, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("docs/SCENARIOS.md has no heading %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n#")
	out := map[string]string{}
	for _, row := range tableRow.FindAllStringSubmatch(part, -1) {
		text := link.ReplaceAllString(strings.TrimSpace(row[3]), "$1")
		switch value := strings.TrimSpace(row[2]); value {
		case "":
		case "required":
			text += "\n\nRequired."
		default:
			text += "\n\nDefault: " + value
		}
		for _, key := range codeWord.FindAllStringSubmatch(row[1], -1) {
			out[key[1]] = text
		}
	}
	return out
}
