package policy

import (
	"math"
	"slices"
)

// Keys is how reads are spread over keys: [Uniform] or [Zipf].
type Keys interface{ weights() []float64 }

// Uniform reads each of this many keys equally often.
type Uniform int

func (u Uniform) weights() []float64 { return slices.Repeat([]float64{1}, max(1, int(u))) }

// Zipf reads the k-th most popular of Keys keys in proportion to 1/k^Exponent. Exponent 0 is uniform; pages of large
// sites are near 0.8 to 1.
type Zipf struct {
	Keys     int
	Exponent float64
}

func (z Zipf) weights() []float64 {
	w := make([]float64, max(1, z.Keys))
	for k := range w {
		w[k] = math.Pow(float64(k+1), -z.Exponent)
	}
	return w
}

// picker picks keys by their weights in constant time.
//
// Source: M. D. Vose, A linear algorithm for generating random numbers with a given distribution, 1991.
type picker struct {
	chance []uint32 // of a column's own key, in 2^-32
	alias  []uint32 // the key that shares the column
}

func pickerOf(keys Keys) picker {
	if keys == nil {
		return picker{}
	}
	return newPicker(keys.weights())
}

func newPicker(weights []float64) picker {
	n := len(weights)
	if n == 1 {
		return picker{}
	}
	var sum float64
	for _, w := range weights {
		sum += w
	}
	p := picker{chance: make([]uint32, n), alias: make([]uint32, n)}
	share := make([]float64, n)
	var small, large []int
	for i, w := range weights {
		share[i] = w / sum * float64(n)
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		p.chance[s], p.alias[s] = uint32(share[s]*(1<<32)), uint32(l)
		if share[l] -= 1 - share[s]; share[l] < 1 {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, i := range append(small, large...) {
		p.chance[i], p.alias[i] = math.MaxUint32, uint32(i)
	}
	return p
}

// pick draws a key.
func (p picker) pick(r *Random) int {
	if len(p.chance) == 0 {
		return 0
	}
	draw := r.source.Uint64()
	// The high half picks the column, the low half decides between the two keys in it.
	column := (draw >> 32) * uint64(len(p.chance)) >> 32
	if draw&math.MaxUint32 <= uint64(p.chance[column]) {
		return int(column)
	}
	return int(p.alias[column])
}
