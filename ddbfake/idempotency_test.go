package ddbfake

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/fakeclock"
)

// Tokens that expired are thrown out before they become many.
func TestTokensAreForgotten(t *testing.T) {
	db := New(Options{})
	r := &request{now: fakeclock.Epoch}
	for i := range 10 * minPrune {
		db.remember(r, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(fmt.Sprint(i))})
		r.now = r.now.Add(time.Second)
	}
	if got, most := db.state.tokens.tree.Len(), 2*minPrune; got > most {
		t.Errorf("%d tokens are kept, want at most %d", got, most)
	}
}
