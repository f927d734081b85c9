package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/jobs"
	"github.com/isr-sim/isr-sim/internal/cli/terminal"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"isr-sim": main}) }

// TestScripts runs the scripts of testdata/script, which need only Go.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: must.Of(filepath.Abs("testdata/script"))(t), // commands change the folder of this process
		Setup: func(env *testscript.Env) error {
			env.Setenv("SCENARIOS", strconv.Itoa(len(fixtures.Names())))
			env.Setenv("DOCKER_HOST", "unix:///nonexistent")
			env.Values[environKey{}] = env.Vars
			return setupServer(env)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Condition:           condition,
	})
}

// condition answers the scripts' [conditions].
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
	case "long":
		return effort.Fewer(true, false), nil
	case "race":
		return race.Enabled, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// commands are the scripts' commands, in addition to those of testscript.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits":           exits,
	"fill":            fill,
	"every-scenario":  everyScenario,
	"printed-replay":  printed("replay"),
	"printed-shrink":  printed("shrink"),
	"printed-explain": printed("explain"),
	"serve":           serveCmd,
	"ends":            endsCmd,
	"request":         requestCmd,
	"shown":           shownCmd,
}

// exits runs a command and asserts its exit code: exits CODE COMMAND... Nothing that a user does may end in a panic.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, said := 0, ""
	if vars, ok := ts.Value(environKey{}).([]string); ok && args[1] == "isr-sim" && !apart(want, args[2:]) {
		got = inThisProcess(ts, vars, args[2:])
		said = fmt.Sprint(ts.Stdout(), "\n", ts.Stderr())
	} else {
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			failed, ok := errors.AsType[*exec.ExitError](err)
			if !ok {
				ts.Fatalf("%v", err)
			}
			got = failed.ExitCode()
		}
		said = ts.ReadFile("stdout") + "\n" + ts.ReadFile("stderr")
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	if trace := goTrace.FindString(said); trace != "" {
		ts.Fatalf("it shows a user what only we should see: %q", trace)
	}
}

// environKey is the key of the variables with which a script begins, if its commands run in this process.
type environKey struct{}

// apart reports whether a command needs a separate process: it waits for programs, reads the standard input, has the
// environment of the SDK, or asks which engine there is, which a process finds out only once.
func apart(want int, args []string) bool {
	return slices.Contains(args, "-") || want != cli.ExitUsage && slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--exec" || strings.HasPrefix(arg, "exec ") || arg == "serve" || arg == "concurrent" ||
			arg == "dynamodb-local" || arg == "--keep"
	})
}

// process is held while a command has this process to itself: its folder, its environment, its name.
var process sync.Mutex

// inThisProcess runs isr-sim in a script's folder and environment, and returns the exit code. The start of a process
// costs more than most of the scripts' commands.
func inThisProcess(ts *testscript.TestScript, vars, args []string) int {
	process.Lock()
	defer process.Unlock()
	dir, err := os.Getwd()
	ts.Check(err)
	called, processors, undo := os.Args[0], runtime.GOMAXPROCS(0), []func() error(nil)
	defer func() {
		for _, undone := range slices.Backward(undo) {
			ts.Check(undone())
		}
		os.Args[0] = called
		runtime.GOMAXPROCS(processors)
		ts.Check(os.Chdir(dir))
	}()
	os.Args[0] = "isr-sim"
	// Other scripts begin meanwhile, and read PATH: variables that do not differ stay untouched.
	for _, v := range append(jobs.Variables(), vars...) {
		name, _, _ := strings.Cut(v, "=")
		before, is := os.LookupEnv(name)
		if now := ts.Getenv(name); now != before || !is {
			undo = append(undo, func() error {
				if is {
					return os.Setenv(name, before)
				}
				return os.Unsetenv(name)
			})
			ts.Check(os.Setenv(name, now))
		}
	}
	if n, err := strconv.Atoi(ts.Getenv("GOMAXPROCS")); err == nil {
		runtime.GOMAXPROCS(n)
	}
	ts.Check(os.Chdir(ts.MkAbs(".")))
	return run(context.Background(), args, ts.Stdout(), ts.Stderr())
}

// goTrace matches the output of a Go program that panics.
var goTrace = regexp.MustCompile(`(?m)^(panic:|fatal error:|goroutine \d+).*|.*\.go:\d+.*`)

// fill writes a file whose second line is very long: fill FILE BYTES. The first line names a scenario.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FILE BYTES")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	const head = "name: long\nabout: "
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(head+strings.Repeat("x", size-len("about: "))+"\n"), 0o600))
}

// everyScenario asserts that the last output has a line for each embedded scenario: every-scenario REST, a regular
// expression for the text after the name.
func everyScenario(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: every-scenario REST")
	}
	stdout := ts.ReadFile("stdout")
	for _, name := range fixtures.Names() {
		line := regexp.MustCompile(`(?m)^ *` + regexp.QuoteMeta(name) + args[0])
		if !line.MatchString(stdout) {
			ts.Fatalf("no line of the output matches %s", line)
		}
	}
}

// printed makes a script's command printed-NAME CODE [ARGUMENTS]. It takes the command of that name from the last
// output, runs it as a shell does, with the further arguments, and asserts its exit code.
func printed(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: printed-%s CODE [ARGUMENTS]", name)
		}
		line := regexp.MustCompile(`(?m)^` + name + `: (isr-sim ` + name +
			` .*)$`).FindStringSubmatch(ts.ReadFile("stdout"))
		if line == nil {
			ts.Fatalf("the last output has no %s line", name)
		}
		exits(ts, false, []string{args[0], "sh", "-c", strings.Join(append(line[1:2:2], args[1:]...), " ")})
	}
}

// TestInterrupt sends a real signal, once the command has begun.
func TestInterrupt(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "isr-sim", "run", "--schedules", "1000000000",
		"two-contenders", "paused-writer")
	stdout := must.Of(cmd.StdoutPipe())(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	must.OK(t, cmd.Start())
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		if strings.HasPrefix(lines.Text(), "scenario ") { // the header, right before the first campaign
			must.OK(t, cmd.Process.Signal(syscall.SIGINT))
		}
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != cli.ExitUnknown {
		t.Errorf("exit code %d, want %d", got, cli.ExitUnknown)
	}
	if want := regexp.MustCompile(
		`(?m)^unknown: two-contenders under recipe-a: interrupted after \d+ of 1000000000 schedules$`,
	); !want.MatchString(printed.String()) {
		t.Errorf("got output\n%s\nwant a line that matches %s", printed.String(), want)
	}
	if want := "isr-sim: interrupted in scenario 1 of 2 (two-contenders)\n"; stderr.String() != want {
		t.Errorf("got errors %q, want %q", stderr.String(), want)
	}
	if strings.Contains(printed.String(), "paused-writer") {
		t.Errorf("got output\n%s\nwant nothing of the second scenario", printed.String())
	}
}

// TestUnwritableOutput: the exit code is not 0 if the output goes to a full disk.
func TestUnwritableOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here:", err)
	}
	defer full.Close()
	var stderr strings.Builder
	if got := run(t.Context(), []string{"list"}, full, &stderr); got != cli.ExitUnknown {
		t.Errorf("exit code %d, want %d", got, cli.ExitUnknown)
	}
	if !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("got errors %q, want the reason", stderr.String())
	}
}

// TestScriptsAreRead: a script in the wrong folder would pass by never running.
func TestScriptsAreRead(t *testing.T) {
	all := must.Of(filepath.Glob("testdata/*/*"))(t)
	for _, file := range all {
		if folder := filepath.Base(filepath.Dir(file)); filepath.Ext(file) != ".txtar" ||
			folder != "script" && folder != "dynamodb-local" {
			t.Errorf("%s is run by no test", file)
		}
	}
}

func TestVersion(t *testing.T) {
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123abcd"}
	for _, test := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "(devel) go1.26"},
		{&debug.BuildInfo{}, "(devel) go1.26"},
		{&debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, "v0.1.0 go1.26"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}},
			"(devel) go1.26, commit 0123abcd"},
		{&debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}},
			"(devel) go1.26, commit 0123abcd, modified"},
	} {
		if got := version(test.info, "go1.26"); got != test.want {
			t.Errorf("%+v: got %q, want %q", test.info, got, test.want)
		}
	}
}

// On a terminal with 80 columns no line is wider, except commands to copy, and no word is lost.
func TestTextFitsATerminal(t *testing.T) {
	effort.Long(t)
	mini := filepath.Join(t.TempDir(), "mini.yaml")
	if err := os.WriteFile(mini, []byte(`name: mini
actors: [{name: alice, script: [get /home]}, {name: bob, script: [get /home]}]
bounds: {ticks: 1}
cache: {lease: 1s, attempts: 1, patience: 1}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--schedules", "10"},
		{"--help"},
		{"list"},
		{"run", "--schedules", "500", "--protocol", "blind-publish", "paused-writer", "two-contenders"},
		{"prove", "--protocol", "recipe-a", mini},
		{"prove", "--protocol", "blind-release", "prove-two-writers"},
		{"explain", "--tails", "5", "--protocol", "blind-publish", "--seed", "17911839290282890590", "--choices",
			"0000000000", "paused-writer"},
	} {
		var stdout, stderr, narrow bytes.Buffer
		run(t.Context(), args, &stdout, &stderr)
		fit := terminal.Fit(&narrow, 80)
		must.Done(t)(fit.Write(stdout.Bytes()))
		must.OK(t, fit.Close())
		wide := 0
		for _, line := range strings.Split(narrow.String(), "\n") {
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "replay: ") &&
				!strings.HasPrefix(line, "shrink: ") {
				wide++
				t.Errorf("%q: a line of %d characters: %s", args, utf8.RuneCountInString(line), line)
			}
		}
		if stdout.Len() == 0 {
			t.Errorf("%q printed nothing: %s", args, &stderr)
		}
		if got, want := strings.Fields(narrow.String()),
			strings.Fields(stdout.String()); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: other words on a narrow terminal:\n%s", args, &narrow)
		}
	}
}

// The help of each command fits into narrow terminals: no line is longer, no word is cut or lost, and an example can
// still be copied. A word that is longer than the terminal gets its own line.
func TestHelpFits(t *testing.T) {
	helpOf := func(path []string, width int) string {
		var out strings.Builder
		root := newRoot(&out, io.Discard)
		root.SetOut(&out)
		cli.FitHelp(root, width)
		root.SetArgs(append(path, "--help"))
		must.OK(t, root.ExecuteContext(t.Context()))
		return out.String()
	}
	words := func(text string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(text, " \\\n", "\n")), " ")
	}
	var check func(cmd *cobra.Command, path []string)
	check = func(cmd *cobra.Command, path []string) {
		whole := helpOf(path, 0)
		for _, width := range []int{60, 80} {
			fitted := helpOf(path, width)
			for line := range strings.Lines(fitted) {
				line = strings.TrimSuffix(line, "\n")
				if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%v at %d columns: %q", path, width, line)
				}
			}
			if words(fitted) != words(whole) {
				t.Errorf("%v at %d columns has other words:\n%s", path, width, fitted)
			}
		}
		for _, c := range cmd.Commands() {
			if moved[c.Name()] != "" && !cmd.HasParent() {
				continue // the command has no help
			}
			check(c, append(slices.Clone(path), c.Name()))
		}
	}
	check(newRoot(io.Discard, io.Discard), nil)
}
