package recorder_test

import (
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/recorder"
)

func TestATimelineIsInOrderOfTimeAndThenOfAdding(t *testing.T) {
	var all recorder.Timeline
	now := time.Unix(0, 0)
	all.Add(now.Add(time.Second), "later")
	all.Add(now, "first")
	all.Add(now, "second")
	if got, want := all.Lines(), []string{"first", "second", "later"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
