// Package good holds the loops that the rule must pass over.
package good

import (
	"cmp"
	"maps"
	"slices"
)

func sorted(m map[string]int) (sum int) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		sum += m[name]
	}
	for _, n := range slices.SortedFunc(maps.Values(m), cmp.Compare) {
		sum += n
	}
	return sum
}

func withReason(m map[string]int) (sum int) {
	//isrsim:unordered a sum has no order
	for _, n := range m {
		sum += n
	}
	for _, n := range m { //isrsim:unordered a sum has no order
		sum += n
	}
	//isrsim:unordered a sum has no order, whatever
	// the map may be
	for _, n := range m {
		sum += n
	}
	return sum
}

func notMaps(list []int, text string, n int, ch chan int) (sum int) {
	for _, i := range list {
		sum += i
	}
	for _, r := range text {
		sum += int(r)
	}
	for i := range n {
		sum += i
	}
	for i := range ch {
		sum += i
	}
	for i := range slices.Values(list) {
		sum += i
	}
	return sum
}
