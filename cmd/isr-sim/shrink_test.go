package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
)

// TestShrinkWritesATestThatPasses builds and runs the Go test that shrink writes, as a package of this module that is
// nowhere on the disk.
func TestShrinkWritesATestThatPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test binary")
	}
	if race.Enabled {
		t.Skip("the test binary is built without the detector")
	}
	dir := t.TempDir()
	scenarioFile, testFile := filepath.Join(dir, "testdata", "shrunk.yaml"), filepath.Join(dir, "shrunk_test.go")
	if err := os.Mkdir(filepath.Dir(scenarioFile), 0o755); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	run(t.Context(), []string{"run", "--protocol", "blind-release", "two-contenders"}, &stdout, &stderr)
	_, line, _ := strings.Cut(stdout.String(), "\nshrink: "+shell.Program()+" ")
	line, _, _ = strings.Cut(line, "\n")
	arguments := append(strings.Fields(strings.ReplaceAll(line, "'", "")), "-o", scenarioFile, "--test", testFile)
	if code := run(t.Context(), arguments, &stdout, &stderr); code != cli.ExitOK {
		t.Fatalf("isr-sim %s: exit code %d\n%s", strings.Join(arguments, " "), code, stderr.String())
	}
	for _, want := range []string{"scenario: " + scenarioFile, "test: " + testFile} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout.String())
		}
	}

	virtual, err := filepath.Abs(filepath.Join("shrunk", "shrunk_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {virtual: testFile}})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "shrunk.test")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlayFile, "-o", binary, "./shrunk")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, output)
	}
	test := exec.CommandContext(t.Context(), binary, "-test.v")
	test.Dir = dir
	output, err := test.CombinedOutput()
	if err != nil || !strings.Contains(string(output), "--- PASS: TestTwoContendersBlindRelease") {
		t.Errorf("the test that was written: %v\n%s", err, output)
	}
}
