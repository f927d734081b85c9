package strategy

import (
	"math/rand/v2"
)

// moments are steps of a run, drawn at random before it begins. They are counted in steps and not in choices. The
// number of choices differs a lot from run to run, and the number of steps much less, so that one run is a fair
// estimate for others. A moment without a choice counts at the next choice.
type moments struct {
	left []int // by the number of steps before each
	step int
}

// drawMoments draws n moments of a run of about expectedSteps steps.
func drawMoments(rng *rand.Rand, n, expectedSteps int) moments {
	m := moments{left: make([]int, n)}
	for i := range m.left {
		m.left[i] = rng.IntN(max(expectedSteps, 1))
	}
	return m
}

// pass notes that a step has been taken.
func (m *moments) pass() { m.step++ }

// come returns the number of moments that have come since its last call.
func (m *moments) come() int {
	kept := m.left[:0]
	for _, at := range m.left {
		if at > m.step {
			kept = append(kept, at)
		}
	}
	n := len(m.left) - len(kept)
	m.left = kept
	return n
}
