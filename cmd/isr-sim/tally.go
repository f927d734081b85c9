package main

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// tally counts what campaigns came to.
type tally struct {
	passed, violated, vacuous, unknown, unexpected int
}

func (t *tally) add(r *scenario.Report) {
	switch {
	case r == nil: // it broke off
		t.unknown++
	case r.Passed():
		t.passed++
	case r.Verdict == invariant.Unknown:
		t.unknown++
	case r.Verdict == invariant.Violated:
		t.violated++
	case r.Vacuous():
		t.vacuous++
	default:
		t.unexpected++
	}
}

// String is one line: "10 scenarios: 8 as expected, 2 violated".
func (t tally) String() string {
	var parts []string
	total := 0
	for _, p := range []struct {
		count int
		what  string
	}{
		{t.passed, "as expected"}, {t.violated, "violated"}, {t.vacuous, "vacuous"},
		{t.unexpected, "expected a violation and found none"}, {t.unknown, "unknown"},
	} {
		total += p.count
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return fmt.Sprintf("%d scenarios: %s", total, strings.Join(parts, ", "))
}
