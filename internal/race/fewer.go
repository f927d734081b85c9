// Package race says whether the race detector is on, for tests only. It makes
// code ten times slower, and finds what it looks for where goroutines meet: what
// is repeated in one goroutine for the sake of other bugs is repeated less often
// under it. Every check is made in full without it.
package race

// Fewer returns n, and few under the race detector.
func Fewer[T any](n, few T) T {
	if Enabled {
		return few
	}
	return n
}
