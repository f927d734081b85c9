// Package broken holds every form of loop that the rule must report.
package broken

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

type table map[string]int

func print(w io.Writer, m map[string]int) {
	for name, n := range m { // want `range over a map visits it in random order`
		fmt.Fprintln(w, name, n)
	}
}

func namedType(t table) (names []string) {
	for name := range t { // want `range over a map`
		names = append(names, name)
	}
	return names
}

func iterators(m map[string]int) (sum int) {
	for name := range maps.Keys(m) { // want `maps.Keys visits the map in random order`
		sum += len(name)
	}
	for n := range maps.Values(m) { // want `maps.Values`
		sum += n
	}
	for range maps.All[map[string]int](m) { // want `maps.All`
		sum++
	}
	return sum
}

func collected(m map[string]int) []string {
	return slices.Collect(maps.Keys(m)) // want `maps.Keys visits the map in random order`
}

func later(m map[string]int) func() []string {
	names := maps.Keys(m) // want `maps.Keys`
	return func() []string { return slices.Sorted(names) }
}

func generic[M ~map[K]V, K comparable, V any](m M) (first K) {
	for key := range m { // want `range over a map`
		return key
	}
	return first
}

func noReason(m map[string]int) (sum int) {
	/* want `needs a reason` */ //isrsim:unordered
	for _, n := range m {       // want `range over a map`
		sum += n
	}
	return sum
}

func leftOver(names []string) (sum int) {
	//isrsim:unordered a sum has no order // want `stands above nothing that visits a map`
	for _, name := range names {
		sum += len(name)
	}
	return sum
}
