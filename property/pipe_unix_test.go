//go:build unix

package property

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// TestReplayOfAPipe: a file may be a pipe, because it is read only once.
func TestReplayOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "world.yaml")
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	s := simple()
	s.Bounds.Schedules = 1
	world := must.Of(s.YAML())(t)
	go func() { _ = os.WriteFile(pipe, world, 0o600) }() // it waits for the reader
	Replay(t, pipe, func(n Node) (isr.Handler, error) { return recipe.New(n.Config) })
}
