package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/jobs"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/selftest"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// The tests in this file compare README.md and the pages of docs with the code; bash .ci/readme runs their commands.

// page returns the text of README.md, or of a page of docs.
func page(t *testing.T, name string) string {
	t.Helper()
	if name != "README.md" {
		name = "docs/" + name
	}
	text := must.Of(os.ReadFile("../../" + name))(t)
	return string(text)
}

// blocks returns the code blocks of a language.
func blocks(page, language string) (all []string) {
	for _, found := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, found[1])
	}
	return all
}

// table returns the cells of the first table below a line, such as a heading, without header and backquotes.
func table(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		t.Fatalf("the page has no line %q", heading)
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
	t.Fatalf("the page has no table below %q", heading)
	return nil
}

func column(rows [][]string, i int) []string {
	cells := make([]string, len(rows))
	for j, row := range rows {
		cells[j] = row[i]
	}
	return cells
}

// shown is a command of a page, with the output that the page shows.
type shown struct{ command, output string }

// examples returns the commands of a page whose output it shows, in the order of the page: text blocks that begin with
// "$ go run ./cmd/isr-sim", and text blocks right behind a block of sh, which show the output of its last command.
func examples(page string) (all []shown) {
	for _, found := range regexp.MustCompile("(?s)\n(?:```sh\n([^`]*?)\n```\n\n)?```text\n(.*?\n)```\n").
		FindAllStringSubmatch(page, -1) {
		command, output := "", found[2]
		if rest, ok := strings.CutPrefix(output, "$ "); ok {
			command, output, _ = strings.Cut(rest, "\n")
		} else if lines := strings.Split(strings.TrimSpace(found[1]), "\n"); found[1] != "" {
			command = lines[len(lines)-1]
		}
		command, _, _ = strings.Cut(command, " # ")
		if arguments, ok := strings.CutPrefix(command, "go run ./cmd/isr-sim"); ok &&
			!strings.HasPrefix(arguments, " serve") {
			all = append(all, shown{strings.TrimSpace(strings.ReplaceAll(arguments, "'", "")), output})
		}
	}
	return all
}

// difference compares an output with the one on a page: a line "..." stands for any number of lines.
func difference(want, got string) string {
	parts := strings.Split("\n"+want, "\n...\n")
	rest := "\n" + got
	for i, part := range parts {
		if i > 0 && part != "" {
			part = "\n" + part
		}
		before, after, found := strings.Cut(rest, part)
		if !found || i == 0 && before != "" {
			return changes(want, got)
		}
		if rest = after; !strings.HasSuffix(part, "\n") && part != "" {
			rest = "\n" + strings.TrimPrefix(after, "\n")
		}
	}
	if last := parts[len(parts)-1]; rest != "" && rest != "\n" && last != "" {
		return changes(want, got)
	}
	return ""
}

// changes shows the lines that differ, with a few lines of context.
func changes(want, got string) string {
	lines := func(text string) []string { return strings.Split(text, "\n") }
	if diff := cmp.Diff(lines(want), lines(leaveOut(want, got))); diff != "" {
		return diff
	}
	return cmp.Diff(want, got) // the difference is within what the page leaves out
}

// leaveOut abbreviates an output as the page does: it keeps as many lines before the first "..." and after the last
// one, and the page's lines between them.
func leaveOut(want, got string) string {
	shown, all := strings.Split(want, "\n"), strings.Split(got, "\n")
	first := slices.Index(shown, "...")
	if first < 0 {
		return got
	}
	last := len(shown) - 1
	for shown[last] != "..." {
		last--
	}
	head, tail := min(first, len(all)), len(shown)-1-last
	return strings.Join(slices.Concat(all[:head], shown[first:last+1], all[max(len(all)-tail, head):]), "\n")
}

// rewriting is go test ./cmd/isr-sim -run TestDocsShowRealOutput -docs.update.
var rewriting = flag.Bool("docs.update", false, "write the outputs that the pages show anew")

// rewrite puts an output into a page.
func rewrite(t *testing.T, name, want, got string) {
	file := filepath.Join(docsDir, name)
	if name == "README.md" {
		file = filepath.Join(docsDir, "..", name)
	}
	text := string(must.Of(os.ReadFile(file))(t))
	must.OK(t, os.WriteFile(file, []byte(strings.Replace(text, want, leaveOut(want, got), 1)), 0o644))
}

// TestDocsShowRealOutput runs the commands whose output the pages show, and compares. A test binary is not called
// isr-sim, so the commands in the output are put into the reader's form.
func TestDocsShowRealOutput(t *testing.T) {
	effort.Long(t)
	printed := map[string]string{} // by command: two pages may show the same command
	for name, want := range map[string]int{
		"README.md": 2, "TUTORIAL.md": 4, "CI.md": 1, "FAKE.md": 1,
	} {
		t.Run(name, func(t *testing.T) {
			all := examples(page(t, name))
			if len(all) != want {
				t.Errorf("%s shows the output of %d commands, want %d", name, len(all), want)
			}
			t.Chdir(t.TempDir())
			for _, example := range all {
				if strings.Contains(example.command, "dynamodb-local") {
					ddblocal.ForTest(t) // skips where there is no Docker
				}
				var stderr strings.Builder
				got, known := printed[example.command]
				if !known {
					got = printedBy(t, example.command, &stderr)
					printed[example.command] = got
				}
				for _, command := range []string{"replay: ", "shrink: "} {
					got = strings.ReplaceAll(got, "\n"+command+shell.Program()+" ",
						"\n"+command+"go run ./cmd/isr-sim ")
				}
				got = strings.TrimRight(got, "\n") + "\n"
				if diff := difference(example.output, got); diff != "" && *rewriting {
					rewrite(t, name, example.output, got)
				} else if diff != "" {
					t.Errorf("output of isr-sim %s (-%s +command):\n%s%s\nif it is meant: go test ./cmd/isr-sim "+
						"-run TestDocsShowRealOutput -docs.update", example.command, name, diff, stderr.String())
				}
			}
		})
	}
}

// printedBy runs a command of a page. Of the command that runs all scenarios, the page shows only the first row, so
// except at night the other scenarios have fewer schedules.
func printedBy(t *testing.T, command string, stderr *strings.Builder) string {
	t.Helper()
	ran := func(args ...string) (int, string) {
		var stdout strings.Builder
		return run(t.Context(), args, &stdout, stderr), stdout.String()
	}
	if command != "" {
		_, got := ran(strings.Fields(command)...)
		return got
	}
	code, got := ran(effort.Fewer(nil, []string{"--schedules", "200"})...)
	wantEveryScenario(t, code, got, stderr.String())
	_, first := ran("run", fixtures.Names()[0])
	lines := strings.SplitAfter(got, "\n")
	return strings.Join(append(strings.SplitAfter(first, "\n")[:3], lines[3:]...), "")
}

// TestDocsPicture: the picture in README.md is what the commands draw of the run in README.md, made smaller.
func TestDocsPicture(t *testing.T) {
	effort.Long(t)
	t.Chdir(t.TempDir())
	for _, command := range []struct {
		line string
		code int
	}{
		{"run --protocol blind-publish --record run.json paused-writer", 1},
		{"shrink --record shrunk.json -o shrunk.yaml run.json", 0},
		{"report --format svg -o report.svg shrunk.json", 0},
	} {
		if code := run(t.Context(), strings.Fields(command.line), io.Discard, io.Discard); code != command.code {
			t.Fatalf("isr-sim %s: exit code %d, want %d", command.line, code, command.code)
		}
	}
	file := filepath.Join(docsDir, "report.svg")
	got, want := must.Of(os.ReadFile("report.svg"))(t), must.Of(os.ReadFile(file))(t)
	switch {
	case string(got) == string(want):
	case *rewriting:
		must.OK(t, os.WriteFile(file, got, 0o644))
	default:
		t.Error("docs/report.svg is another picture: go test ./cmd/isr-sim -run TestDocsPicture -docs.update")
	}
}

// wantEveryScenario: without arguments every embedded scenario runs on the embedded fake, each under its own protocol,
// a reference. Each has a row. One row is violated, and says that this is expected.
func wantEveryScenario(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if code != 0 || stderr != "" {
		t.Errorf("without arguments: exit code %d, want 0, and nothing said beside it:\n%s", code, stderr)
	}
	for _, name := range fixtures.Names() {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) +
			` +recipe-[ab](-guarded|-home)? +[0-9]+ +[0-9]+ +(ok|violated: lock-theft, as expected) +[a-z]`)
		if !row.MatchString(stdout) {
			t.Errorf("without arguments: no line matches %s", row)
		}
	}
	last := regexp.MustCompile(`\ntwo-regions +recipe-a .*violated: lock-theft, as expected .*\n` +
		`  not judged, left out by the scenario: linearizable\n[0-9]+ scenarios: [0-9]+ as expected\n$`)
	if !last.MatchString(stdout) || strings.Count(stdout, "violated: ") != 1 || strings.Contains(stdout, "vacuous") {
		t.Errorf("without arguments: want two-regions alone to be violated, in its row, and the sum at the end:\n%s",
			strings.Join(regexp.MustCompile(`(?m)^.*(violated|vacuous|expected).*$`).FindAllString(stdout, -1), "\n"))
	}
}

// shownCmd asserts that a page of docs shows an output: shown PAGE stdout|stderr. Typed lines, the address of the
// server, the status of an answer and empty lines are not compared.
func shownCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shown PAGE stdout|stderr")
	}
	text, err := os.ReadFile(filepath.Join(docsDir, args[0]))
	ts.Check(err)
	printed := func(s string) string {
		return regexp.MustCompile(`(?m)^(\$ .*|\{"endpoint".*|\^C|[1-5][0-9][0-9]|)\n`).ReplaceAllString(s, "")
	}
	output := printed(ts.ReadFile(args[1]))
	for _, block := range blocks(string(text), "text") {
		if printed(block) == output {
			return
		}
	}
	ts.Fatalf("docs/%s does not show\n%s", args[0], output)
}

// docsDir is the folder of the pages. It is absolute, because a script runs elsewhere.
var docsDir = func() string {
	dir, err := filepath.Abs("../../docs")
	if err != nil {
		panic(err)
	}
	return dir
}()

// TestDifference: the comparison of the pages notices an additional line, a missing one, and a different one.
func TestDifference(t *testing.T) {
	const got = "a\nb\nc\nd\n"
	for _, want := range []string{
		"a\nb\nc\nd\n", "a\n...\nd\n", "...\nb\n...\n", "...\nb\n...\nd\n", "a\n...\n", "...\nc\nd\n",
	} {
		if diff := difference(want, got); diff != "" {
			t.Errorf("difference(%q, %q) = %s, want none", want, got, diff)
		}
	}
	for _, want := range []string{"a\nb\nc\n", "b\nc\nd\n", "a\nb\nd\n", "a\n...\nc\n", "b\n...\nd\n",
		"...\nd\n...\nc\n", "...\nx\n...\n", "a\nb\nc\nd\ne\n"} {
		if difference(want, got) == "" {
			t.Errorf("difference(%q, %q) finds none", want, got)
		}
	}
	// It shows the lines that differ, not the whole list. The page gets the same lines of the new output.
	list := func(sum string) string { return "seed 1\n" + strings.Repeat("a row\n", 50) + sum }
	want := "seed 1\n...\n50 rows\n"
	if diff := difference(want, list("51 rows\n")); strings.Contains(diff, "a row") ||
		!strings.Contains(diff, "51 rows") {
		t.Errorf("one line that differs is shown as\n%s", diff)
	}
	if diff := difference(list("50 rows\n"), list("51 rows\n")); strings.Count(diff, "a row") > 4 {
		t.Errorf("one line of a whole output that differs is shown as\n%s", diff)
	}
	if got := leaveOut(want, list("51 rows\n")); got != "seed 1\n...\n51 rows\n" {
		t.Errorf("the page would show\n%s", got)
	}
}

// TestDocsRunWhatTheyShow: docs/TUTORIAL.md runs the commands that the run in README.md prints.
func TestDocsRunWhatTheyShow(t *testing.T) {
	tutorial := page(t, "TUTORIAL.md")
	printed := regexp.MustCompile(`(?m)^(?:replay|shrink): (.*) paused-writer$`).FindAllStringSubmatch(
		page(t, "README.md"), -1)
	if len(printed) != 2 {
		t.Errorf("README.md shows %d commands that a run prints, want 2", len(printed))
	}
	for _, command := range printed {
		if !strings.Contains(tutorial, "\n```sh\n"+command[1]) {
			t.Errorf("docs/TUTORIAL.md does not run the command that README.md shows: %s", command[1])
		}
	}
}

// TestDocsEngines: the table lists the variables of the engines that explore knows.
func TestDocsEngines(t *testing.T) {
	var listed []string
	for _, row := range table(t, page(t, "CI.md"), "## Many machines: shards and merge") {
		listed = append(listed, regexp.MustCompile(`[A-Z_]{5,}`).FindAllString(row[1], 2)...)
	}
	if diff := cmp.Diff(jobs.Variables(), listed); diff != "" {
		t.Errorf("variables of engines (-code +docs/CI.md):\n%s", diff)
	}
}

// TestDocsProgram: the program on the page is the one that bash .ci/consumer builds outside of this module.
func TestDocsProgram(t *testing.T) {
	consumer := must.Of(os.ReadFile("../../.ci/consumer"))(t)
	_, rest, _ := strings.Cut(string(consumer), "<<'GO'\n")
	want, _, _ := strings.Cut(rest, "\nGO\n")
	if diff := cmp.Diff(want+"\n", blocks(page(t, "FAKE.md"), "go")[0]); diff != "" {
		t.Errorf("program (-.ci/consumer +docs/FAKE.md):\n%s", diff)
	}
}

// TestDocsScenario: the scenario that explains the anatomy of one passes.
func TestDocsScenario(t *testing.T) {
	yaml := blocks(page(t, "SCENARIOS.md"), "yaml")
	s := scenariotest.Parsed(t, yaml[0])
	report := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Seed: 1})
	if !report.Passed() {
		t.Errorf("%s\n%s", prose.Row(report), prose.Report(report, "isr-sim", "SCENARIOS.md"))
	}
	for _, text := range yaml[1:] { // parts of a file
		whole := "name: part\n" + text
		if !strings.Contains(text, "actors:") {
			whole += "actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]\n"
		}
		if _, err := spec.Parse("SCENARIOS.md", []byte(whole)); err != nil {
			t.Error(err)
		}
	}
}

// TestDocsKeys: the tables hold the keys that a scenario file may have, in the order in which errors name them.
func TestDocsKeys(t *testing.T) {
	text := page(t, "SCENARIOS.md")
	for _, test := range []struct{ after, yaml string }{
		{"## Keys", "misspelt: 1"},
		{"### The cache", "cache: {misspelt: 1}"},
		{"### Actors", "actors: [{misspelt: 1}]"},
		{"### Bounds", "bounds: {misspelt: 1}"},
	} {
		_, err := spec.Parse("f.yaml", []byte(test.yaml))
		known := regexp.MustCompile(`found key "misspelt", expected one of (.*)\n`).FindStringSubmatch(fmt.Sprint(err))
		if known == nil {
			t.Fatalf("Parse(%q) = %v, want an error that names all keys", test.yaml, err)
		}
		if diff := cmp.Diff(strings.Split(known[1], ", "), column(table(t, text, test.after), 0)); diff != "" {
			t.Errorf("keys after %q (-code +docs):\n%s", test.after, diff)
		}
	}
}

// TestDocsDefaults: the defaults in the tables are the same as in the code.
func TestDocsDefaults(t *testing.T) {
	text, d := page(t, "SCENARIOS.md"), spec.Defaults()
	shown := map[string]string{}
	for _, after := range []string{"## Keys", "### The cache", "### Bounds"} {
		for _, row := range table(t, text, after) {
			shown[row[0]] = row[1]
		}
	}
	for key, want := range map[string]any{
		"protocol": d.Protocol, "ttl-lag": d.Lag.String(), "region-lag": d.RegionLag.String(),
		"replica-lag": d.ReplicaLag, "max-clock-skew": d.Skew, "expect": d.Expect.String(),
		"lease": d.Cache.Lease, "revalidate": d.Cache.Revalidate, "retention": d.Cache.Retention,
		"ttl-buffer": d.Cache.TTLBuffer, "render": d.Cache.Render, "keep-alive": d.Cache.KeepAlive,
		"contention": "serve-stale", "failure": "serve-last",
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
			t.Errorf("default of %s: docs/SCENARIOS.md says %v (%s), the code %v", key, got, shown[key], want)
		}
	}
}

// TestDocsLists: the lists of the pages are the same as in the code.
func TestDocsLists(t *testing.T) {
	text := page(t, "SCENARIOS.md")

	var kinds, marks, statements []string
	for _, kind := range ddbfake.FaultKinds() {
		kinds = append(kinds, kind.String())
	}
	troubles := mark.DependencyFaults()
	for _, mark := range spec.Marks() {
		if !slices.Contains(append(kinds, troubles...), string(mark)) {
			marks = append(marks, string(mark))
		}
	}
	for _, inv := range invariant.All() {
		statements = append(statements, inv.Name+": "+inv.Statement)
	}
	if diff := cmp.Diff(kinds,
		column(table(t, text, "## Faults"), 0)); diff != "" {
		t.Errorf("kinds of fault (-code +docs):\n%s", diff)
	}
	if diff := cmp.Diff(troubles, column(
		table(t, text, "### Faults of the body store and the origin"), 0)); diff != "" {
		t.Errorf("troubles (-code +docs):\n%s", diff)
	}
	if diff := cmp.Diff(marks, column(table(t, text, "## Marks"), 0)); diff != "" {
		t.Errorf("marks (-code +docs):\n%s", diff)
	}
	var shown []string
	for _, row := range table(t, page(t, "INVARIANTS.md"), "## The statements") {
		shown = append(shown, row[0]+": "+row[1])
	}
	if diff := cmp.Diff(statements, shown); diff != "" {
		t.Errorf("invariants (-code +docs):\n%s", diff)
	}
	for _, other := range []struct {
		heading string
		all     []invariant.Invariant
	}{
		{"### Locks: what is judged", invariant.OfLocks()},
		{"### Idempotency layers: what is judged", invariant.OfCalls()},
	} {
		var statements, shown []string
		for _, inv := range other.all {
			statements = append(statements, inv.Name+": "+inv.Statement)
		}
		for _, row := range table(t, page(t, "CHECK.md"), other.heading) {
			shown = append(shown, row[0]+": "+row[1])
		}
		if diff := cmp.Diff(statements, shown); diff != "" {
			t.Errorf("docs/CHECK.md, %s (-code +docs):\n%s", other.heading, diff)
		}
	}
	var formats, named []string
	var walk func(of *cobra.Command)
	walk = func(of *cobra.Command) {
		if f := of.Flags().Lookup("format"); f != nil && f.Value.Type() == "stringArray" && of.HasParent() {
			formats = append(formats, strings.TrimPrefix(of.CommandPath(), "isr-sim "))
		}
		for _, c := range of.Commands() {
			walk(c)
		}
	}
	walk(newRoot(&cli.Output{}, io.Discard))
	_, list, _ := strings.Cut(page(t, "CI.md"), "\n## Results for machines\n")
	list, _, _ = strings.Cut(list, "write their results")
	for _, found := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(list, -1) {
		named = append(named, strings.TrimSuffix(strings.Join(strings.Fields(found[1]), " "), " --check"))
	}
	slices.Sort(formats)
	slices.Sort(named)
	if diff := cmp.Diff(formats, named); diff != "" {
		t.Errorf("commands with --format (-code +docs/CI.md):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0", "1", "2", "3"},
		column(table(t, page(t, "CI.md"), "## Exit codes"), 0)); diff != "" {
		t.Errorf("exit codes (-code +docs):\n%s", diff)
	}

	all := ddbfake.Operations()
	operations := strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
	if words := strings.Join(strings.Fields(page(t, "FAKE.md")), " "); !strings.Contains(words,
		"The supported operations are "+operations+".") {
		t.Errorf("docs/FAKE.md does not say: The supported operations are %s.", operations)
	}
}

// pages are the names of all pages, from the root of the repository.
func pages(t *testing.T) []string {
	t.Helper()
	all := must.Of(filepath.Glob("../../docs/*.md"))(t)
	for i, path := range all {
		all[i] = "docs/" + filepath.Base(path)
	}
	return append(all, "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
}

// outsideCode returns a page without its blocks of code.
func outsideCode(text string) string {
	return regexp.MustCompile("(?s)\n```.*?\n```\n").ReplaceAllString("\n"+text, "\n")
}

// anchors are the names by which links name a page's headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{"": true}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(outsideCode(text), -1) {
		name := strings.ToLower(strings.ReplaceAll(heading[1], " ", "-"))
		all[regexp.MustCompile(`[^a-z0-9_-]`).ReplaceAllString(name, "")] = true
	}
	return all
}

// TestDocsLinks: every page is linked from README.md, and the targets of all links exist.
func TestDocsLinks(t *testing.T) {
	linked := map[string]bool{"README.md": true}
	for _, name := range pages(t) {
		text := must.Of(os.ReadFile("../../" + name))(t)
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(
			regexp.MustCompile("`[^`\\n]*`").ReplaceAllString(outsideCode(string(text)), "`code`"), -1,
		) {
			path, anchor, _ := strings.Cut(link[1], "#")
			target := filepath.Join(filepath.Dir("../../"+name), path)
			if path == "" {
				target = "../../" + name
			}
			found, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() {
				err = nil
			}
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case !anchors(string(found))[anchor]:
				t.Errorf("%s: %s has no heading #%s", name, path, anchor)
			case name == "README.md":
				linked[path] = true
			}
		}
	}
	for _, name := range pages(t) {
		if !linked[name] {
			t.Errorf("README.md has no link to %s", name)
		}
	}
}

// TestDocsWidth: prose is wrapped at 120 columns. Tables are not.
func TestDocsWidth(t *testing.T) {
	for _, name := range pages(t) {
		text := must.Of(os.ReadFile("../../" + name))(t)
		for line := range strings.Lines(outsideCode(string(text))) {
			if width := utf8.RuneCountInString(strings.TrimSpace(line)); width > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s: a line of %d columns, want at most 120: %s", name, width, line)
			}
		}
	}
	if lines := strings.Count(page(t, "README.md"), "\n"); lines > 250 {
		t.Errorf("README.md has %d lines, want at most 250: the rest belongs into docs", lines)
	}
}

// TestDocsSize: the pages stay short enough to be read. If one grows, another must shrink.
func TestDocsSize(t *testing.T) {
	all := append(pages(t), "SECURITY.md", "clients/js/README.md", "clients/python/README.md",
		"examples/hold/README.md")
	words, count := 0, 0
	for _, name := range all {
		words += len(strings.Fields(string(must.Of(os.ReadFile("../../" + name))(t))))
		if name == "README.md" || strings.HasPrefix(name, "docs/") {
			count++
		}
	}
	if words > 45_000 || count > 14 {
		t.Errorf("the documents have %d words, README.md and docs %d pages; want at most 45000 and 14", words, count)
	}
}

// TestDocsArchitecture: the map has every package, the promised packages are the ones that other modules can import,
// and each question leads to a file that has the answer.
func TestDocsArchitecture(t *testing.T) {
	text := page(t, "ARCHITECTURE.md")
	const module = "github.com/isr-sim/isr-sim/"
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.Name}}", "./...")
	list.Dir = "../.."
	output, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %v", list, err)
	}
	var promised, others []string
	for line := range strings.Lines(string(output)) {
		path, name, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, module)), " ")
		if strings.HasPrefix(path, "clients/") { // files for programs
			continue
		}
		if name == "main" || strings.HasPrefix(path, "examples/") ||
			slices.Contains(strings.Split(path, "/"), "internal") {
			others = append(others, path)
		} else {
			promised = append(promised, path)
		}
	}
	var listed []string
	for _, row := range table(t, text, "## Packages that are promised") {
		listed = append(listed, packageOf(t, row))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(promised, listed); diff != "" {
		t.Errorf("packages (-go list +docs/ARCHITECTURE.md):\n%s", diff)
	}
	said := map[string]string{} // by wing
	for _, row := range table(t, text, "## Packages that may change") {
		said[packageOf(t, row)] = row[1]
	}
	for _, path := range others {
		wing := path
		for said[wing] == "" && strings.Contains(wing, "/") {
			wing = filepath.Dir(wing)
		}
		name := regexp.MustCompile(`(^| )` + filepath.Base(path) + ` `)
		if said[wing] == "" || wing != path && !name.MatchString(said[wing]) {
			t.Errorf("docs/ARCHITECTURE.md does not say what %s is for", path)
		}
	}

	questions := table(t, text, "## Where is it?")
	if len(questions) < 20 {
		t.Errorf("docs/ARCHITECTURE.md answers %d questions, want at least 20", len(questions))
	}
	for _, row := range questions {
		name, link := linkOf(row[1])
		file, err := os.ReadFile("../../" + name)
		switch {
		case link != "../"+name:
			t.Errorf("docs/ARCHITECTURE.md: %s leads to %s", name, link)
		case err != nil:
			t.Errorf("docs/ARCHITECTURE.md: %s %v", row[0], err)
		case !strings.Contains(string(file), row[2]):
			t.Errorf("docs/ARCHITECTURE.md: %s In %s there is no %s", row[0], name, row[2])
		}
	}
	for _, file := range regexp.MustCompile(`\[([^]]+)\]\(([^)]+\.go)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.HasSuffix(file[2], "/"+file[1]) {
			t.Errorf("docs/ARCHITECTURE.md: %s leads to %s", file[1], file[2])
		}
	}
}

// packageOf returns the package of a row of the map. The row must state the package's purpose and its forbidden
// knowledge.
func packageOf(t *testing.T, row []string) string {
	t.Helper()
	name, link := linkOf(row[0])
	if link != "../"+name {
		t.Errorf("docs/ARCHITECTURE.md: %s leads to %s", name, link)
	}
	if len(row) != 3 || row[1] == "" || row[2] == "" {
		t.Errorf("docs/ARCHITECTURE.md: %s says %q, want what it is for and what it must not know", name, row[1:])
	}
	return name
}

// linkOf returns the text of a link and where it leads.
func linkOf(cell string) (text, target string) {
	text, target, _ = strings.Cut(strings.TrimPrefix(cell, "["), "](")
	return text, strings.TrimSuffix(target, ")")
}

// TestDocsAdapter: the adapter in README.md is the test of examples/pages, which go test runs.
func TestDocsAdapter(t *testing.T) {
	want := must.Of(os.ReadFile("../../examples/pages/cache_test.go"))(t)
	got := blocks(page(t, "README.md"), "go")
	if len(got) != 1 {
		t.Fatalf("README.md has %d Go programs, want the adapter alone", len(got))
	}
	if diff := cmp.Diff(string(want), got[0]); diff != "" {
		t.Errorf("adapter (-examples/pages +README.md):\n%s", diff)
	}
	if lines := strings.Count(got[0], "\n"); lines > 40 {
		t.Errorf("the adapter has %d lines, want at most 40", lines)
	}
}

// TestDocsFailure: README.md shows how examples/pages fails when its publish deletes LOCK without a condition. The
// time that the test took and the lines of package property are not compared.
func TestDocsFailure(t *testing.T) {
	effort.Long(t)
	const source = "../../examples/pages/cache.go"
	cache, err := os.ReadFile(source)
	must.OK(t, err)
	broken := string(cache)
	const condition = `
			ConditionExpression: aws.String("lease_token = :mine AND lease_expires_at > :now"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":mine": text(token), ":now": number(c.Now().Unix()),
			},`
	if strings.Count(broken, condition) != 1 {
		t.Fatalf("%s has the condition %d times, want once", source, strings.Count(broken, condition))
	}
	broken = strings.Replace(broken, condition, "", 1)
	dir := t.TempDir()
	original, err := filepath.Abs(source)
	must.OK(t, err)
	replaced := filepath.Join(dir, "cache.go")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: replaced}})
	must.OK(t, err)
	for path, text := range map[string]string{replaced: broken, filepath.Join(dir, "overlay.json"): string(overlay)} {
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	binary := filepath.Join(dir, "pages.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", binary, "-overlay",
		filepath.Join(dir, "overlay.json"), "./pages")
	build.Dir = "../../examples"
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, output)
	}
	test := exec.CommandContext(t.Context(), binary, "-test.run=TestCache", "-rapid.seed=2")
	test.Dir = dir
	output, err := test.Output() // not stderr: it has the first failure that is found, and the page shows the smallest
	if err == nil {
		t.Fatalf("the check finds nothing\n%s", output)
	}
	masked := func(s string) string {
		s = regexp.MustCompile(`\([0-9.]+s\)`).ReplaceAllString(s, "(N)")
		s = regexp.MustCompile(`check\.go:[0-9]+:`).ReplaceAllString(s, "check.go:N:")
		return regexp.MustCompile(`(?m)^ +$`).ReplaceAllString(s, "")
	}
	for _, block := range blocks(page(t, "README.md"), "text") {
		if strings.HasPrefix(block, "--- FAIL: ") {
			if diff := difference(masked(block+"...\n"), masked(string(output))); diff != "" {
				t.Errorf("what the check prints (-README.md +go test):\n%s", diff)
			}
			return
		}
	}
	t.Error("README.md shows no failure of a check")
}

// TestDocsKits: the kits' pages show the run that the command finds in a cache whose publish has no condition.
func TestDocsKits(t *testing.T) {
	var stderr strings.Builder
	said := printedBy(t, "check --protocol blind-publish --seed 12 --keep "+t.TempDir(), &stderr)
	for kit, node := range map[string]string{"js": "exec node cache.node.mjs", "python": "exec python3 node.py"} {
		text := string(must.Of(os.ReadFile("../../clients/" + kit + "/README.md"))(t))
		_, shown, _ := strings.Cut(text, "violated: ")
		shown, _, _ = strings.Cut(shown, "\nscenario: ")
		want := "violated: " + regexp.QuoteMeta(strings.Replace(shown, node, "blind-publish", 1))
		if !regexp.MustCompile(strings.ReplaceAll(want, `\.\.\.`, `fresh until \S+`)).MatchString(said) {
			t.Errorf("clients/%s/README.md shows\n%s\nwant what the command prints:\n%s%s", kit, shown, said, &stderr)
		}
	}
}

// TestDocsCheckRows: the rows that README.md asks for are the rows of docs/INVARIANTS.md.
func TestDocsCheckRows(t *testing.T) {
	attributes := func(text string) []string {
		return regexp.MustCompile(`[a-z]+_[a-z0-9_]+|\bttl\b|\betag\b`).FindAllString(text, -1)
	}
	asked := map[string][]string{}
	var row string
	for _, cells := range table(t, page(t, "README.md"), "## Check your own cache in five minutes") {
		if cells[0] != "" {
			row = cells[0]
		}
		asked[row] = append(asked[row], attributes(cells[1])...)
	}
	for _, cells := range table(t, page(t, "INVARIANTS.md"), "## The rows") {
		want := attributes(cells[1])
		slices.Sort(want)
		slices.Sort(asked[cells[0]])
		if len(asked[cells[0]]) > 0 && !slices.Equal(want, asked[cells[0]]) {
			t.Errorf("attributes of %s: README.md has %v, docs/INVARIANTS.md %v", cells[0], asked[cells[0]], want)
		}
	}
}

// TestDocsPolicies: the table has every policy, and the invariants that it breaks.
func TestDocsPolicies(t *testing.T) {
	effort.NotShort(t)
	if race.Enabled {
		t.Skip("it runs two thousand schedules")
	}
	s := must.Of(catalog.Load("steady-reads"))(t)
	var want [][]string
	for _, p := range policyprotocol.All() {
		want = append(want, []string{p.Name, p.Summary, broken(t, s, p)})
	}
	got := table(t, page(t, "INVARIANTS.md"), "## Policies of expiry, as protocols")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policies (-code +docs/INVARIANTS.md):\n%s", diff)
	}
}

// broken lists the invariants that a policy breaks.
func broken(t *testing.T, s *spec.Scenario, p isr.Protocol) string {
	t.Helper()
	if p.Breaks == "" {
		r := scenariotest.Ran(t, campaign.Campaign{Scenario: s, Protocol: p, Seed: 1, Schedules: 200})
		if r.Verdict != invariant.OK {
			return r.Summary()
		}
		return "nothing"
	}
	caught := scenariotest.Ran(t, selftest.Mutation{Mutant: p, Scenarios: []*spec.Scenario{s}, Seed: 1})
	var names []string
	for _, inv := range invariant.All() {
		if _, is := caught.First[inv.Name]; is {
			names = append(names, inv.Name)
		}
	}
	return strings.Join(names, ", ")
}
