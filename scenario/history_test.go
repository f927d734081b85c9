package scenario_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/scenario/history"
)

func TestEventPrintsWhatItCarriesAndNothingElse(t *testing.T) {
	for _, test := range []struct {
		event history.Event
		want  string
	}{
		{history.Event{Kind: history.Asked, Key: "/home"}, "asked /home"},
		{history.Event{Kind: history.Served, Key: "/home", As: history.Fresh, Body: "r1"},
			"served /home as fresh body r1"},
		{history.Event{Kind: history.Served, Key: "/home", As: history.Stale, Body: "r1"},
			"served /home as stale body r1"},
		{history.Event{Kind: history.Failed, Key: "/home", Note: "timeout"}, "failed /home: timeout"},
		{history.Event{Kind: history.Stepped, Note: "+3s"}, "clock-stepped: +3s"},
		{history.Event{}, "Kind(0)"},
	} {
		if diff := cmp.Diff(test.want, test.event.String()); diff != "" {
			t.Errorf("%#v prints otherwise (-want +got):\n%s", test.event, diff)
		}
	}
}
