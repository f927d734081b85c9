package trace_test

import (
	"slices"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/trace/recorder"
	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestLogNumbersEventsFromOne(t *testing.T) {
	var log recorder.Log
	at := time.Unix(100, 0)
	if got := log.Add(history.Event{Time: at, Actor: "a", Kind: history.Asked, Key: "/"}); got != 1 {
		t.Errorf("first Add = %d, want 1", got)
	}
	if got := log.Add(history.Event{Time: at, Actor: "a", Kind: history.Failed, Key: "/"}); got != 2 {
		t.Errorf("second Add = %d, want 2", got)
	}
	for seq, want := range map[int]int{-1: 2, 0: 2, 1: 1, 2: 0, 99: 0} {
		if got := len(log.Since(seq)); got != want {
			t.Errorf("len(Since(%d)) = %d, want %d", seq, got, want)
		}
	}
}

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
