package exhaustive

import (
	"encoding/binary"
	"slices"
)

// visited holds the states that an exploration has reached, each with the steps that were asleep when it left the
// state. A state costs about 25 bytes: its fingerprint and the number of its sleep set. There are few different sleep
// sets.
type visited struct {
	known  *visited          // the states that all of a team knew at its latest meeting; nil without a team
	states map[uint64]uint32 // fingerprint to place in sets
	sets   [][]uint64        // sets of step IDs, each sorted; the first is the empty one
	number map[string]uint32 // the number of a set, by its bytes
	bytes  []byte
	ends   map[uint64]bool // fingerprints of states in which runs were over
}

func newVisited() visited {
	return visited{states: map[uint64]uint32{}, sets: [][]uint64{nil}, number: map[string]uint32{},
		ends: map[uint64]bool{}}
}

// asleep returns the steps that were asleep in a state; false if it is new.
func (v *visited) asleep(state uint64) (ids []uint64, seen bool) {
	n, seen := v.states[state]
	if !seen && v.known != nil {
		return v.known.asleep(state)
	}
	return v.sets[n], seen
}

// over notes a state in which a run is over, and reports whether it is known.
func (v *visited) over(state uint64) bool {
	known := v.ends[state] || v.known != nil && v.known.ends[state]
	v.ends[state] = true
	return known
}

// put notes the steps that are asleep when a state is left.
func (v *visited) put(state uint64, ids []uint64) {
	if len(ids) == 0 {
		v.states[state] = 0
		return
	}
	slices.Sort(ids)
	key := v.key(ids)
	n, known := v.number[string(key)]
	if !known {
		n = uint32(len(v.sets))
		v.sets = append(v.sets, ids)
		v.number[string(key)] = n
	}
	v.states[state] = n
}

// key returns the bytes of a set, until the next call.
func (v *visited) key(ids []uint64) []byte {
	v.bytes = v.bytes[:0]
	for _, id := range ids {
		v.bytes = binary.LittleEndian.AppendUint64(v.bytes, id)
	}
	return v.bytes
}

// forget drops the states, but not what others know.
func (v *visited) forget() {
	clear(v.states)
	clear(v.ends)
	clear(v.number)
	v.sets = v.sets[:1]
}
