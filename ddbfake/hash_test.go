package ddbfake

import (
	"bytes"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// The hash of a set does not depend on the order of its elements.
func TestHashOfSets(t *testing.T) {
	one, two := attr.Int(1).Number, attr.Int(2).Number
	for _, pair := range [][2]attr.Value{
		{attr.SS{"p", "q"}, attr.SS{"q", "p"}},
		{attr.NS{one, two}, attr.NS{two, one}},
		{attr.BS{{1}, {2}}, attr.BS{{2}, {1}}},
	} {
		var a, b printer
		a.attribute(pair[0])
		b.attribute(pair[1])
		if !bytes.Equal(a, b) {
			t.Errorf("%v: got %x and %x, want them the same", pair[0], a, b)
		}
	}
}
