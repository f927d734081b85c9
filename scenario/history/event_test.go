package history_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestLogNumbersEventsFromOne(t *testing.T) {
	var log history.Log
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

func TestEventPrintsWhatItCarriesAndNothingElse(t *testing.T) {
	for _, test := range []struct {
		event history.Event
		want  string
	}{
		{history.Event{Kind: history.Asked, Key: "/home"}, "asked /home"},
		{history.Event{Kind: history.Served, Key: "/home", As: history.Fresh, Body: "r1"}, "served /home as fresh body r1"},
		{history.Event{Kind: history.Served, Key: "/home", As: history.Stale, Body: "r1"}, "served /home as stale body r1"},
		{history.Event{Kind: history.Failed, Key: "/home", Note: "timeout"}, "failed /home: timeout"},
		{history.Event{Kind: history.Stepped, Note: "+3s"}, "clock-stepped: +3s"},
		{history.Event{}, "Kind(0)"},
	} {
		if diff := cmp.Diff(test.want, test.event.String()); diff != "" {
			t.Errorf("%#v prints otherwise (-want +got):\n%s", test.event, diff)
		}
	}
}
