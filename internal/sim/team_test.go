package sim_test

import (
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/sim"
)

// What the code of one member claims to forget is checked against the outputs of the other members' code.
func TestATeamFindsWhatCodeDoesNotForget(t *testing.T) {
	for asked, want := range map[int]int{6: 6, 7: 0, 8: 1} {
		if got := sim.KeptOf(6, asked); got != want {
			t.Errorf("a team with room for six has %d of %d, want %d", got, asked, want)
		}
	}
	for _, test := range []struct {
		asked []string
		want  string
	}{
		{[]string{"a number", "", "a number"}, ""},
		{[]string{"a number", "", "a name"}, `at step 3 a asked for "a number" and for "a name" after two pasts`},
		{[]string{"a name", "a number", "a name"}, `at step 3 a asked for "a name" and for "a number" after two pasts`},
	} {
		oneByOne, together := sim.Agree(test.asked...)
		for _, err := range []error{oneByOne, together} {
			if test.want == "" && err != nil ||
				test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%q: got the error %v, want %q", test.asked, err, test.want)
			}
		}
	}
}
