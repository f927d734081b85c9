package schedules

import (
	"slices"
	"testing"

	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
)

// TestMissing: without its basic marks a campaign has judged nothing, whatever its scenario declares.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		of                      string
		declared, reached, want []kernel.Mark
	}{
		{"pages", nil, nil, []kernel.Mark{mark.Published, mark.ServedFresh}},
		{"pages", nil, []kernel.Mark{mark.PublishRefused, mark.ServedStale}, nil},
		{"locks", nil, nil, []kernel.Mark{mark.HoldTaken}},
		{"locks", []kernel.Mark{mark.HoldTaken, mark.HoldLost}, nil, []kernel.Mark{mark.HoldTaken, mark.HoldLost}},
		{"calls", []kernel.Mark{mark.NodePaused}, []kernel.Mark{mark.CallAnswered}, []kernel.Mark{mark.NodePaused}},
	} {
		got := Missing(list.Called(c.of), c.declared, func(m kernel.Mark) bool { return slices.Contains(c.reached, m) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, of which %v was reached: got %v, want %v", c.of, c.reached, got, c.want)
		}
	}
}
