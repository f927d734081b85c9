package scenario

import "github.com/isr-sim/isr-sim/ddbfake/attr"

// Exchange is one thing that took effect in the store in a run: a call with its
// answer, or a deletion by TTL.
type Exchange struct {
	Input  any // *dynamodb.XxxInput; nil for a deletion by TTL
	Output any
	Err    error
	// Blind says that a fault hid the answer, or a lag made it an old one, so
	// there is nothing to compare.
	Blind bool
	// Swept is the row that TTL deleted.
	Swept attr.Item
}
