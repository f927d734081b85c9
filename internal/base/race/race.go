// Package race says whether the race detector is on, for tests only. The detector makes code ten times slower, and
// finds races only where goroutines meet. So repetitions in one goroutine, which look for other bugs, are fewer under
// it. Every check is made in full without it.
package race

// Fewer returns n, and few under the race detector.
func Fewer[T any](n, few T) T {
	if Enabled {
		return few
	}
	return n
}

// OneAtATime skips, under the race detector, a test whose goroutines run one at a time: the detector finds nothing in it.
func OneAtATime(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if Enabled {
		t.Skip("goroutines run one at a time here: the race detector would find nothing, and makes it ten times slower")
	}
}
