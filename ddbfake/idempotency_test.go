package ddbfake

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// nothing is the fingerprint of a transaction without actions.
func nothing() fingerprint.Wide { return fingerprint.Wide{} }

// Expired tokens are removed. The others are kept, and their transactions are not done again.
func TestLiveTokensAreKept(t *testing.T) {
	db := New(Options{})
	r := &request{now: fakeclock.Epoch}
	named := func(i int) *string { return aws.String(fmt.Sprint(i)) }
	for i := range minPrune {
		if i == minPrune/2 {
			r.now = r.now.Add(tokenLife)
		}
		db.remember(r, named(i), nothing, nil)
	}
	db.remember(r, named(minPrune), nothing, nil) // one too many
	for i := range minPrune + 1 {
		if _, seen, err := db.seen(r, named(i), nothing); err != nil || seen != (i >= minPrune/2) {
			t.Fatalf("token %d of %d: seen %v, error %v; want the younger half seen", i, minPrune, seen, err)
		}
	}
	if got, want := db.state.tokens.tree.Len(), minPrune/2+1; got != want {
		t.Errorf("%d tokens are kept, want %d", got, want)
	}
}

// Expired tokens are removed before there are many of them.
func TestTokensAreForgotten(t *testing.T) {
	db := New(Options{})
	r := &request{now: fakeclock.Epoch}
	for i := range 10 * minPrune {
		db.remember(r, aws.String(fmt.Sprint(i)), nothing, nil)
		r.now = r.now.Add(time.Second)
	}
	if got, most := db.state.tokens.tree.Len(), 2*minPrune; got > most {
		t.Errorf("%d tokens are kept, want at most %d", got, most)
	}
}
