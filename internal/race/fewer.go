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
