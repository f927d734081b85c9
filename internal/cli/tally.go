package cli

import (
	"fmt"
	"strings"

	"github.com/isr-sim/isr-sim/internal/invariant"
)

// Tally counts campaigns by their results. The zero Tally is empty.
type Tally struct {
	passed, violated, vacuous, unknown, unexpected int
}

// Add counts a campaign.
func (t *Tally) Add(passed bool, verdict invariant.Verdict, vacuous bool) {
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

// Total returns how many campaigns there were.
func (t *Tally) Total() int { return t.passed + t.violated + t.vacuous + t.unknown + t.unexpected }

// String is one line: "10 scenarios: 8 as expected, 2 violated".
func (t *Tally) String() string {
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
	return fmt.Sprintf("%d scenarios: %s", t.Total(), strings.Join(parts, ", "))
}
