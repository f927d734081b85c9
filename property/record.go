package property

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/record"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// record writes the record of a failed run, with its explanation if there is one, beside its file, and says where it is.
func (r runner) record(world *scenario.Scenario, replay scenario.Replay, x *record.Explanation, file string) string {
	g := r.guard(&answers{}, world)
	made, err := inside(r, func(ctx context.Context) (*record.Record, error) {
		return record.Of(ctx, scenario.Run{
			Scenario: world, Protocol: g.protocol(r.name, r.newStore), Seed: replay.Seed, Strategy: sim.Replay(replay.Choices),
			Options: r.options(),
		}, toolVersion())
	})
	var text bytes.Buffer
	if err == nil {
		made.Explanation = x
		err = made.Write(&text)
	}
	to := strings.TrimSuffix(file, filepath.Ext(file)) + ".json"
	if err == nil {
		err = atomicfile.Write(filepath.FromSlash(to), text.Bytes(), 0o664)
	}
	if err != nil {
		return fmt.Sprintf("the run could not be recorded: %v\n", err)
	}
	return fmt.Sprintf("record: %s\n", to)
}

// toolVersion is the version of this module in the test's program.
func toolVersion() string {
	const module = "github.com/isr-sim/isr-sim"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "(devel)"
}
