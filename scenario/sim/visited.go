package sim

import (
	"encoding/binary"
	"slices"
)

// visited knows the states that an exploration has been in, each with the steps that were asleep when it was left. A
// state costs about 25 bytes: its fingerprint and the number of its sleep set, of which there are few different ones.
type visited struct {
	states map[uint64]uint32 // fingerprint to place in sets
	sets   [][]uint64        // of step IDs, each sorted; the first is the empty one
	number map[string]uint32 // of a set, by its bytes
	bytes  []byte
}

func newVisited() visited {
	return visited{states: map[uint64]uint32{}, sets: [][]uint64{nil}, number: map[string]uint32{"": 0}}
}

// asleep returns the steps that were asleep in a state; false if it is new.
func (v *visited) asleep(state uint64) (ids []uint64, seen bool) {
	n, seen := v.states[state]
	return v.sets[n], seen
}

// put notes with which steps asleep a state is being left.
func (v *visited) put(state uint64, asleep []option) {
	if len(asleep) == 0 {
		v.states[state] = 0
		return
	}
	ids := make([]uint64, len(asleep))
	for i, m := range asleep {
		ids[i] = m.id
	}
	slices.Sort(ids)
	v.bytes = v.bytes[:0]
	for _, id := range ids {
		v.bytes = binary.LittleEndian.AppendUint64(v.bytes, id)
	}
	n, known := v.number[string(v.bytes)]
	if !known {
		n = uint32(len(v.sets))
		v.sets = append(v.sets, ids)
		v.number[string(v.bytes)] = n
	}
	v.states[state] = n
}
