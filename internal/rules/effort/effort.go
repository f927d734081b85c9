// Package effort tells tests how much to do. The race detector makes code ten times slower, and finds races only where
// goroutines share memory; -short is for running the tests after each change of the code; and `go test ./...` has to
// end within minutes. So repetitions of a rule under more seeds, rows or protocols are for the nightly run alone, which
// sets LongVariable.
package effort

import (
	"os"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/race"
)

// LongVariable is the environment variable that makes tests do every repetition.
const LongVariable = "ISRSIM_LONG"

// Fewer returns n in the nightly run, and few otherwise.
func Fewer[T any](n, few T) T {
	if race.Enabled || os.Getenv(LongVariable) == "" || testing.Short() {
		return few
	}
	return n
}

// Quick returns few under -short, and n otherwise.
func Quick[T any](n, few T) T {
	if testing.Short() {
		return few
	}
	return n
}

// NotShort skips, only under -short, a test of half a second or more: together these would make -short last a minute.
// The race detector runs them, because some have several goroutines.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() && !race.Enabled {
		t.Skip("it takes about a second")
	}
}

// Long skips, under -short and the race detector, a test of more than a second.
func Long(t testing.TB) {
	t.Helper()
	switch {
	case race.Enabled:
		t.Skip("the race detector makes it take a minute")
	case testing.Short():
		t.Skip("it takes more than a second")
	}
}

// Nightly skips a test that takes half a minute or more to repeat a rule that shorter tests check.
func Nightly(t testing.TB) {
	t.Helper()
	Long(t)
	if os.Getenv(LongVariable) == "" {
		t.Skipf("it repeats what shorter tests hold; %s=1 has it run, as every night", LongVariable)
	}
}

// OneAtATime skips, under the race detector, a test whose goroutines run one at a time: there the detector finds
// nothing.
func OneAtATime(t testing.TB) {
	t.Helper()
	if race.Enabled {
		t.Skip("goroutines run one at a time here: the race detector would find nothing, and makes it ten times slower")
	}
}
