package main

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/scenario/invariant"
)

// tally counts what campaigns came to.
type tally struct {
	passed, violated, vacuous, unknown, unexpected int
}

func (t *tally) add(passed bool, verdict invariant.Verdict, vacuous bool) {
	switch {
	case passed:
		t.passed++
	case verdict == invariant.Unknown:
		t.unknown++
	case verdict == invariant.Violated:
		t.violated++
	case vacuous:
		t.vacuous++
	default:
		t.unexpected++
	}
}

func (t *tally) total() int { return t.passed + t.violated + t.vacuous + t.unknown + t.unexpected }

// String is one line: "10 scenarios: 8 as expected, 2 violated".
func (t tally) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{
		{t.passed, "as expected"}, {t.violated, "violated"}, {t.vacuous, "vacuous"},
		{t.unexpected, "expected a violation and found none"}, {t.unknown, "unknown"},
	} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return fmt.Sprintf("%d scenarios: %s", t.total(), strings.Join(parts, ", "))
}
