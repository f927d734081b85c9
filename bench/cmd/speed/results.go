package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// measurement is one figure of one benchmark.
type measurement struct{ benchmark, unit string }

// figures are the results of the rounds, in order.
type figures []float64

// parseResults reads what the benchmarks of all rounds have printed: a name, a count of iterations, and pairs of value
// and unit.
//
// Source: https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md
func parseResults(text string) (map[measurement]figures, error) {
	all := map[measurement]figures{}
	for line := range strings.Lines(text) {
		name, isResult := strings.CutPrefix(line, "Benchmark")
		fields := strings.Fields(name)
		if !isResult || len(fields) < 4 {
			continue
		}
		for pair := range slices.Chunk(fields[2:], 2) {
			value, err := strconv.ParseFloat(pair[0], 64)
			if err != nil || len(pair) < 2 {
				return nil, fmt.Errorf("cannot read the benchmark line %q", line)
			}
			key := measurement{fields[0], pair[1]}
			all[key] = append(all[key], value)
		}
	}
	return all, nil
}

// median returns the middle figure, or the mean of the two in the middle.
func (f figures) median() float64 {
	sorted := slices.Sorted(slices.Values(f))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
