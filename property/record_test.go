package property_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/isr-sim/isr-sim/internal/record"
)

// A failed check leaves the record of the run that its file replays.
func TestAFailureLeavesTheRecordOfItsRun(t *testing.T) {
	for _, tc := range []struct{ store, invariant string }{
		{"blind-release", "lock-theft"},
		{"articles, unfenced", "stale-writer"},
	} {
		t.Run(tc.store, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			runChild(t, dir, tc.store, []string{"-rapid.seed=1", "-rapid.shrinktime=1s"}).wantFailure(t, "record: testdata/isr-sim/TestChild.json\n")
			data, err := os.ReadFile(filepath.Join(dir, "testdata", "isr-sim", "TestChild.json"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := record.Read(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if r.Violation == nil || r.Violation.Invariant != tc.invariant || r.Violation.Step == 0 || r.File == "" {
				t.Errorf("the record has %+v, want a violation of %s", r.Violation, tc.invariant)
			}
		})
	}
}
