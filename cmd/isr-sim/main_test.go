package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
	"github.com/isr-sim/isr-sim/internal/race"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"isr-sim": main})
}

// TestScripts runs the scripts of testdata/script, which need Go and nothing else.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SCENARIOS", strconv.Itoa(len(fixtures.Names())))
			return setupServer(env)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		Condition:           condition,
	})
}

// TestDynamoDBLocal runs the scripts of testdata/dynamodb-local, which need a Docker engine.
func TestDynamoDBLocal(t *testing.T) {
	ddblocal.ForTest(t) // skips with the reason where there is none, or fails if there must be one
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/dynamodb-local",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands,
		// A script starts with an empty environment: let it find the engine that this test has found.
		Setup: func(env *testscript.Env) error {
			for _, variable := range os.Environ() {
				if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "DOCKER_") ||
					strings.HasPrefix(name, "TESTCONTAINERS_") || name == "HOME" || name == "XDG_RUNTIME_DIR" {
					env.Setenv(name, value)
				}
			}
			env.Setenv("REPLAYS", race.Fewer("20", "2"))
			env.Setenv("A_WHILE", race.Fewer("10s", "6s"))
			return nil
		},
	})
}

// condition answers the scripts' [conditions].
func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
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
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if trace := goTrace.FindString(ts.ReadFile(stream)); trace != "" {
			ts.Fatalf("%s shows a user what only we should see: %q", stream, trace)
		}
	}
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

// printed makes a script's command printed-NAME CODE [ARGUMENTS]: it runs the command of that name which the last
// output printed, as a shell does, with more arguments, and asserts its exit code.
func printed(name string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 1 {
			ts.Fatalf("usage: printed-%s CODE [ARGUMENTS]", name)
		}
		line := regexp.MustCompile(`(?m)^` + name + `: (isr-sim ` + name + ` .*)$`).FindStringSubmatch(ts.ReadFile("stdout"))
		if line == nil {
			ts.Fatalf("the last output has no %s line", name)
		}
		exits(ts, false, []string{args[0], "sh", "-c", strings.Join(append(line[1:2:2], args[1:]...), " ")})
	}
}

// TestInterrupt sends a real signal, once the command has begun.
func TestInterrupt(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "isr-sim", "run", "--schedules", "1000000000", "two-contenders", "paused-writer")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		if strings.HasPrefix(lines.Text(), "scenario ") { // the header, right before the first campaign
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitUnknown {
		t.Errorf("exit code %d, want %d", got, exitUnknown)
	}
	if want := regexp.MustCompile(`(?m)^unknown: two-contenders under recipe-a: interrupted after \d+ of 1000000000 schedules$`); !want.MatchString(printed.String()) {
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
	if got := run(t.Context(), []string{"list"}, full, &stderr); got != exitUnknown {
		t.Errorf("exit code %d, want %d", got, exitUnknown)
	}
	if !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("got errors %q, want the reason", stderr.String())
	}
}

// TestScriptsAreRead: a script that is in the wrong folder would pass by never running.
func TestScriptsAreRead(t *testing.T) {
	all, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if folder := filepath.Base(filepath.Dir(file)); filepath.Ext(file) != ".txtar" ||
			folder != "script" && folder != "dynamodb-local" {
			t.Errorf("%s is run by no test", file)
		}
	}
}
