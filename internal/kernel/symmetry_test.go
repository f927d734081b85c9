package kernel_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/kernel/symmetry"
)

// The names of interchangeable actors are found where a regular expression finds them as words.
func TestNamesAreFoundAsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab1_-. é")), 0, 12, -1)
		names := rapid.Permutation([]string{"a", "a-b", "b", "b.a", "-1"}).Draw(t, "names")
		in, quoted := text.Draw(t, "text"), []string(nil)
		for _, name := range names {
			quoted = append(quoted, regexp.QuoteMeta(name))
		}
		var found [][]int
		symmetric := symmetry.Actors{Names: names}
		for at, end := symmetric.Next(in, 0); at < end; at, end = symmetric.Next(in, end) {
			found = append(found, []int{at, end})
		}
		want := regexp.MustCompile(`\b(`+strings.Join(quoted, "|")+`)\b`).FindAllStringIndex(in, -1)
		if !slices.EqualFunc(found, want, slices.Equal[[]int]) {
			t.Fatalf("%q in %q: found at %v, want %v", names, in, found, want)
		}
	})
}
