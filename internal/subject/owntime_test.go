package subject

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// A request that could never succeed excuses nothing that a lock does later. It excuses only a refusal that follows
// from it at once.
func TestARequestThatIsWrongExcusesLittle(t *testing.T) {
	for _, wrong := range []error{
		&smithy.GenericAPIError{Code: "ValidationException"}, &types.ResourceNotFoundException{},
		&smithy.GenericAPIError{Code: "SerializationException"},
	} {
		var o OwnTime
		o.Attempted("", time.Time{}, wrong)
		if o.Troubled(0, false) || !o.Troubled(0, true) {
			t.Errorf("%v: excuses a loss: %v, excuses a refusal: %v; want a refusal alone", wrong,
				o.Troubled(0, false), o.Troubled(0, true))
		}
		o.Attempted("", time.Time{}, nil)
		if o.Troubled(0, true) {
			t.Errorf("%v excuses a refusal after a request that was right", wrong)
		}
	}
	var o OwnTime
	o.Attempted("", time.Time{}, &types.ProvisionedThroughputExceededException{})
	o.Attempted("", time.Time{}, nil)
	if !o.Troubled(0, false) {
		t.Error("a request that was throttled is no excuse")
	}
}
