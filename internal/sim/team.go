package sim

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// team is what the histories of several searchers share.
type team struct {
	same map[fingerprint.Hash]output
	most int               // bounds same
	code sync.Mutex        // held while code of actors runs
	in   func(call func()) // see Within
}

// mostOfTeam is the default of Histories.Most for a team. Its code is in this process and cheap to run again, and each
// collection of garbage reads all that is remembered.
const mostOfTeam = 1 << 13

// Divide shares the size limit and the knowledge of m with other, empty memories: those of searchers that may run at
// the same time.
func (m *Histories) Divide(others []*Histories) {
	t := &team{same: m.same, most: cmp.Or(m.Most, MostHistories)}
	if t.same == nil {
		t.same = map[fingerprint.Hash]output{}
	}
	m.same, m.team, m.Most = nil, t, cmp.Or(m.Most, mostOfTeam)/(1+len(others))
	for _, o := range others {
		o.team, o.Most = t, m.Most
	}
}

// Meet tells the rest of the team which output of the code follows each state that it gave to Proc.Forget. An error
// says that the code of two of them contradicts Proc.Forget. No code runs then.
func (m *Histories) Meet() error {
	t := m.team
	for _, of := range slices.Sorted(maps.Keys(m.same)) {
		is := m.same[of]
		if err := t.same[of].differs(is); err != nil {
			return err
		}
		t.same[of] = is
	}
	if clear(m.same); len(t.same) > t.most { // a full memory is emptied
		clear(t.same)
	}
	return nil
}

// Within has all code of a team's actors run in the goroutine in which in calls its parameter, until f returns.
func (m *Histories) Within(in func(call func()), f func()) {
	m.team.in = in
	f()
	m.team.in = nil
}

// Alone calls f while no actor's code runs for the others of a team.
func (m *Histories) Alone(f func()) {
	if t := m.team; t != nil {
		t.code.Lock()
		defer t.code.Unlock()
		if t.in != nil {
			t.in(f)
			return
		}
	}
	f()
}

// Runs counts the runs of code, each from one park to the next.
func (m *Histories) Runs() int { return m.runs }

// Len counts what is remembered.
func (m *Histories) Len() int { return len(m.next) + len(m.same) }
