// Package locks checks lock libraries as they are: cirello.io/dynamolock/v2, and
// the leases of github.com/vmware/vmware-go-kcl-v2 and of
// github.com/benbjohnson/litestream in S3. docs/NODES.md says what was found.
package locks

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/property"
)

type library struct {
	check   property.LockCheck
	newLock func(property.Machine) (property.Lock, error)
}

// libraries are the locks, and what they promise.
var libraries = map[string]library{
	"dynamolock": {dynamoCheck, newDynamoLock},
	"kcl":        {shardCheck, newShardLease},
}

// The variables that say what TestLock does: a library is checked, or replays a
// file. A check that must fail can only be watched from another process.
const (
	libraryVariable = "LOCK"
	fileVariable    = "LOCK_FILE"
)

// TestLock checks a library: LOCK=dynamolock go test -run '^TestLock$' .
func TestLock(t *testing.T) {
	name := os.Getenv(libraryVariable)
	if name == "" {
		t.Skip("set LOCK to dynamolock, kcl or, with -tags nightly, litestream: all are accused, see TestFindings")
	}
	library, known := libraries[name]
	if !known {
		t.Fatalf("LOCK=%s, expected dynamolock, kcl or, with -tags nightly, litestream", name)
	}
	if file := os.Getenv(fileVariable); file != "" {
		library.check.Replay(t, file, library.newLock)
		return
	}
	library.check.Run(t, library.newLock)
}

// finding is a known finding in a library: a scenario, and what the violation says.
type finding struct {
	library, file string
	want          []string
}

var findings = []finding{
	{"dynamolock", "dynamolock-own-lock", []string{"free-lock: ",
		"alice waited 22s for lock job while nobody else could hold it; its terms allow 2s"}},
	{"dynamolock", "dynamolock-heartbeat",
		[]string{"kept-lease: ", "alice was told to have lost lock job, which extends itself, although"}},
	{"kcl", "kcl-own-lease",
		[]string{"free-lock: ", "alice was refused lock job, which nobody else could hold", "lease not acquired"}},
}

// TestFindings replays the known findings in the libraries: each is a scenario
// in which they break a promise, and without its fault they do not.
func TestFindings(t *testing.T) {
	for _, found := range findings {
		t.Run(found.file, func(t *testing.T) {
			file := "testdata/" + found.file + ".yaml"
			replayed := replay(t, found.library, file)
			for _, want := range append(found.want, "violated: "+found.file) {
				if !strings.Contains(replayed, want) {
					t.Errorf("the output lacks %q; got\n%s", want, replayed)
				}
			}
			if not := "had sent no request"; strings.Contains(replayed, not) {
				t.Errorf("the output has %q; got\n%s", not, replayed)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, rest, _ := strings.Cut(string(data), "faults:\n")
			_, after, _ := strings.Cut(rest, "bounds:\n")
			calm := t.TempDir() + "/calm.yaml"
			if err := os.WriteFile(calm, []byte(before+"bounds:\n"+after), 0o600); err != nil {
				t.Fatal(err)
			}
			if passed := replay(t, found.library, calm); !strings.Contains(passed, "passes under 1 schedules") {
				t.Errorf("without the fault:\n%s", passed)
			}
		})
	}
}

// replay runs TestLock on a file, in a process and a directory of its own.
func replay(t *testing.T, library, file string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(file, "/") {
		file = here + "/" + file
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestLock$", "-test.v", "-rapid.shrinktime=0s")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), libraryVariable+"="+library, fileVariable+"="+file)
	output, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(output)
}
