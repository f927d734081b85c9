package scenario_test

import (
	"errors"
	"testing"

	"github.com/isr-sim/isr-sim/internal/scenariotest"
	"github.com/isr-sim/isr-sim/scenario"
)

func TestARecordedRunNeedsAReplayEntryAndAKnownProtocol(t *testing.T) {
	s := scenariotest.Embedded(t, "paused-writer")
	if _, err := s.Recorded(); !errors.Is(err, scenario.ErrNotRecorded) {
		t.Errorf("error %v, want ErrNotRecorded", err)
	}
	s.Replay = &scenario.Replay{Protocol: "mine"}
	if _, err := s.Recorded(); err == nil {
		t.Error("a run was made of an unknown protocol")
	}
}
