package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/jobs"
	"github.com/isr-sim/isr-sim/internal/racing"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/campaign"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// The tests in this file hold README.md to what the code does; bash .ci/readme runs its commands.

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the code blocks of a language.
func blocks(readme, language string) (all []string) {
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(readme, -1) {
		all = append(all, found[1])
	}
	return all
}

// table returns the cells of the first table after a line, without its header and without backquotes.
func table(t *testing.T, readme, after string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(readme, "\n"+after+"\n")
	if !found {
		t.Fatalf("README.md has no line %q", after)
	}
	for line := range strings.Lines(rest) {
		switch {
		case strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "|--"):
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i, cell := range cells {
				cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "`", "")
			}
			rows = append(rows, cells)
		case len(rows) > 0:
			return rows[2:]
		}
	}
	t.Fatalf("README.md has no table after %q", after)
	return nil
}

func column(rows [][]string, i int) []string {
	cells := make([]string, len(rows))
	for j, row := range rows {
		cells[j] = row[i]
	}
	return cells
}

// TestReadmeShowsRealOutput compares the output at the top of the page with what the command prints.
func TestReadmeShowsRealOutput(t *testing.T) {
	shown, ok := strings.CutPrefix(blocks(readme(t), "text")[0], "$ go run ./cmd/isr-sim ")
	if !ok {
		t.Fatal("the first block of README.md runs no isr-sim")
	}
	arguments, want, _ := strings.Cut(shown, "\n")
	var stdout, stderr strings.Builder
	run(t.Context(), strings.Fields(arguments), &stdout, &stderr)
	// A test is not called as a reader calls it, and the trailing empty line is left out.
	got := stdout.String()
	for _, command := range []string{"replay: ", "shrink: "} {
		got = strings.Replace(got, command+shell.Program()+" ", command+"go run ./cmd/isr-sim ", 1)
	}
	got = strings.TrimRight(got, "\n") + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output of %s (-README +command):\n%s%s", arguments, diff, stderr.String())
	}
	if replay := regexp.MustCompile(`replay: (.*)\n`).FindStringSubmatch(want); !strings.Contains(readme(t), "\n"+replay[1]+"   # exits 1: ") {
		t.Errorf("README.md does not run the replay command that it shows: %s", replay[1])
	}
}

// TestReadmeShrinksAndExplains runs the commands that follow, and looks for each line that is shown.
func TestReadmeShrinksAndExplains(t *testing.T) {
	text := readme(t)
	t.Chdir(t.TempDir())
	for _, command := range []string{"shrink", "explain"} {
		shown := regexp.MustCompile("\ngo run ./cmd/isr-sim (" + command + " .*)\n```\n\n```text\n((?s:.*?))```\n").FindStringSubmatch(text)
		if shown == nil {
			t.Fatalf("README.md does not run %s and show its output", command)
		}
		var stdout, stderr strings.Builder
		if code := run(t.Context(), strings.Fields(strings.ReplaceAll(shown[1], "'", "")), &stdout, &stderr); code != exitOK {
			t.Fatalf("%s: exit code %d\n%s", shown[1], code, stderr.String())
		}
		for line := range strings.Lines(shown[2]) {
			if line != "...\n" && !strings.Contains("\n"+stdout.String(), "\n"+line) {
				t.Errorf("%s does not print the line\n%sbut\n%s", command, line, stdout.String())
			}
		}
	}
}

// TestReadmeExplores runs the explore command, and looks for each line that is shown, whatever its numbers.
func TestReadmeExplores(t *testing.T) {
	if racing.Enabled {
		t.Skip("a script explores, too")
	}
	text := readme(t)
	t.Chdir(t.TempDir())
	shown := regexp.MustCompile("\ngo run ./cmd/isr-sim (explore [^#\n]*) # exits 1.*\n```\n\n```text\n((?s:.*?))```\n").FindStringSubmatch(text)
	if shown == nil {
		t.Fatal("README.md does not run explore and show its output")
	}
	arguments := strings.Fields(shown[1])
	var stdout, stderr strings.Builder
	if code := run(t.Context(), arguments, &stdout, &stderr); code != exitViolated {
		t.Fatalf("%v: exit code %d\n%s", arguments, code, stderr.String())
	}
	anyNumber := func(s string) string { return regexp.MustCompile(` *[0-9][0-9.e-]*`).ReplaceAllString(s, " N") }
	for line := range strings.Lines(shown[2]) {
		if line != "...\n" && !strings.Contains("\n"+anyNumber(stdout.String()), "\n"+anyNumber(line)) {
			t.Errorf("%v does not print the line\n%sbut\n%s", arguments, line, stdout.String())
		}
	}
	var listed []string
	for _, row := range table(t, text, "Without `--shard`, explore reads which shard it is from the variables of the engine that has started it:") {
		listed = append(listed, regexp.MustCompile(`[A-Z_]{5,}`).FindAllString(row[1], 2)...)
	}
	if diff := cmp.Diff(jobs.Variables(), listed); diff != "" {
		t.Errorf("variables of engines (-code +README):\n%s", diff)
	}
}

// TestReadmeShowsARealProof compares the output of prove on the page with what the command prints.
func TestReadmeShowsARealProof(t *testing.T) {
	if racing.Enabled {
		t.Skip("a proof has one goroutine")
	}
	for _, block := range blocks(readme(t), "text") {
		shown, ok := strings.CutPrefix(block, "$ go run ./cmd/isr-sim prove ")
		if !ok {
			continue
		}
		arguments, want, _ := strings.Cut(shown, "\n")
		var stdout, stderr strings.Builder
		run(t.Context(), append([]string{"prove"}, strings.Fields(arguments)...), &stdout, &stderr)
		if diff := cmp.Diff(want, stdout.String()); diff != "" {
			t.Errorf("output of prove %s (-README +command):\n%s%s", arguments, diff, stderr.String())
		}
		return
	}
	t.Error("README.md shows no proof")
}

// TestReadmeProgram: the program on the page is the one that bash .ci/consumer builds outside of this module.
func TestReadmeProgram(t *testing.T) {
	consumer, err := os.ReadFile("../../.ci/consumer")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(consumer), "<<'GO'\n")
	want, _, _ := strings.Cut(rest, "\nGO\n")
	if diff := cmp.Diff(want+"\n", blocks(readme(t), "go")[0]); diff != "" {
		t.Errorf("program in README.md (-.ci/consumer +README):\n%s", diff)
	}
}

// TestReadmeScenario: the scenario that explains the anatomy of one passes.
func TestReadmeScenario(t *testing.T) {
	yaml := blocks(readme(t), "yaml")
	s, err := scenario.Parse("README.md", []byte(yaml[0]))
	if err != nil {
		t.Fatal(err)
	}
	report, err := campaign.Campaign{Scenario: s, Seed: 1}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() {
		t.Errorf("%s\n%s", report.Row(), report.Explain("isr-sim", "README.md"))
	}
	if _, err := scenario.Parse("README.md", []byte("name: faults\nactors: [{name: alice, script: [get /home]}]\n"+yaml[1])); err != nil {
		t.Error(err)
	}
}

// TestReadmeKeys: the tables hold the keys that a scenario file may have, in the order in which errors name them.
func TestReadmeKeys(t *testing.T) {
	text := readme(t)
	for _, test := range []struct{ after, yaml string }{
		{"`10s`, `1h30m`); the others are whole numbers.", "misspelt: 1"},
		{"`cache`:", "cache: {misspelt: 1}"},
		{"An actor:", "actors: [{misspelt: 1}]"},
		{"`bounds`:", "bounds: {misspelt: 1}"},
	} {
		_, err := scenario.Parse("f.yaml", []byte(test.yaml))
		known := regexp.MustCompile(`found key "misspelt", expected one of (.*)\n`).FindStringSubmatch(fmt.Sprint(err))
		if known == nil {
			t.Fatalf("Parse(%q) = %v, want an error that names all keys", test.yaml, err)
		}
		if diff := cmp.Diff(strings.Split(known[1], ", "), column(table(t, text, test.after), 0)); diff != "" {
			t.Errorf("keys after %q (-code +README):\n%s", test.after, diff)
		}
	}
}

// TestReadmeDefaults: what the tables say is used is used.
func TestReadmeDefaults(t *testing.T) {
	text, d := readme(t), scenario.Defaults()
	shown := map[string]string{}
	for _, after := range []string{"`10s`, `1h30m`); the others are whole numbers.", "`cache`:", "`bounds`:"} {
		for _, row := range table(t, text, after) {
			shown[row[0]] = row[1]
		}
	}
	for key, want := range map[string]any{
		"protocol": d.Protocol, "ttl-lag": d.Lag.String(), "replica-lag": d.ReplicaLag, "max-clock-skew": d.Skew, "expect": d.Expect.String(),
		"lease": d.Cache.Lease, "revalidate": d.Cache.Revalidate, "retention": d.Cache.Retention,
		"ttl-buffer": d.Cache.TTLBuffer, "render": d.Cache.Render, "keep-alive": d.Cache.KeepAlive, "contention": "serve-stale", "failure": "serve-last",
		"poll": d.Cache.Poll, "patience": d.Cache.Patience, "attempts": d.Cache.Attempts,
		"schedules": d.Bounds.Schedules, "steps": d.Bounds.Steps, "ticks": d.Bounds.Ticks,
	} {
		var got any = shown[key]
		switch want.(type) {
		case int:
			got, _ = strconv.Atoi(shown[key])
		case time.Duration:
			got, _ = time.ParseDuration(shown[key])
		}
		if got != want {
			t.Errorf("default of %s: README.md says %v (%s), the code %v", key, got, shown[key], want)
		}
	}
}

// TestReadmeLists: what README.md lists is what the code has.
func TestReadmeLists(t *testing.T) {
	text := readme(t)

	var kinds, marks, statements []string
	for _, kind := range ddbfake.FaultKinds() {
		kinds = append(kinds, kind.String())
	}
	var troubles []string
	for _, trouble := range scenario.Troubles() {
		troubles = append(troubles, string(trouble))
	}
	for _, mark := range scenario.Marks() {
		if !slices.Contains(append(kinds, troubles...), string(mark)) {
			marks = append(marks, string(mark))
		}
	}
	for _, inv := range invariant.All() {
		statements = append(statements, inv.Name+": "+inv.Statement)
	}
	if diff := cmp.Diff(kinds, column(table(t, text, "### Faults"), 0)); diff != "" {
		t.Errorf("kinds of fault (-code +README):\n%s", diff)
	}
	if diff := cmp.Diff(troubles, column(table(t, text, "These go wrong beside the store. Their predicates are `actor=`, `nth=` and `times=`."), 0)); diff != "" {
		t.Errorf("troubles (-code +README):\n%s", diff)
	}
	if diff := cmp.Diff(marks, column(table(t, text, "### Marks"), 0)); diff != "" {
		t.Errorf("marks (-code +README):\n%s", diff)
	}
	var shown []string
	for _, row := range table(t, text, "## Verdicts and invariants") {
		shown = append(shown, row[0]+": "+row[1])
	}
	if diff := cmp.Diff(statements, shown); diff != "" {
		t.Errorf("invariants (-code +README):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3"}, column(table(t, text, "## Exit codes"), 0)); diff != "" {
		t.Errorf("exit codes (-code +README):\n%s", diff)
	}

	all := ddbfake.Operations()
	operations := strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
	if words := strings.Join(strings.Fields(text), " "); !strings.Contains(words, "The supported operations are "+operations+".") {
		t.Errorf("README.md does not say: The supported operations are %s.", operations)
	}
}

// TestReadmeLinks: what README.md and CONTRIBUTING.md link to exists.
func TestReadmeLinks(t *testing.T) {
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat("../../" + link[1]); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}
