package scenario

import (
	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/sim"
)

// stage is what runs leave behind for the next one, one at a time: memory and
// coroutines, which cost a good part of a short run, and nothing that a run could
// tell from new. What an Outcome keeps is never on a stage.
type stage struct {
	pool      sim.Pool
	db        ddbfake.DB
	bodies    map[string][]byte
	bodyLog   []history.Body
	versions  map[page]int   // of the origin's data
	ids       map[string]int // how many names of each kind have been given out
	marks     map[Mark]bool
	history   history.Log
	deadlines deadlines
	world     world

	other *stage // for a run beside this one's; see second
}

func newStage() *stage {
	return &stage{
		bodies: map[string][]byte{}, bodyLog: []history.Body{}, versions: map[page]int{}, ids: map[string]int{}, marks: map[Mark]bool{},
	}
}

// second returns a stage for another run, while what this one's left is still
// looked at.
func (s *stage) second() *stage {
	if s.other == nil {
		s.other = newStage()
	}
	return s.other
}

// dropSecond forgets a stage on which a run broke.
func (s *stage) dropSecond() {
	s.other.close()
	s.other = nil
}

// close ends the coroutines.
func (s *stage) close() {
	s.pool.Close()
	if s.other != nil {
		s.other.close()
	}
}

// clear takes off what the run before has left.
func (s *stage) clear() {
	clear(s.bodies)
	clear(s.versions)
	clear(s.ids)
	clear(s.marks)
	s.bodyLog = s.bodyLog[:0]
	s.history.Reset()
	s.deadlines.at = s.deadlines.at[:0]
}
