//go:build unix

package property

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// processorTime is the processor time that the process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestReplayOfAPipe: a file is read once, so it may be a pipe.
func TestReplayOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "world.yaml")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	world := must.Of(simple().YAML())(t)
	go func() { _ = os.WriteFile(pipe, world, 0o600) }() // it waits for the reader
	Replay(t, pipe, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
}
