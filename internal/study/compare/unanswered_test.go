package compare_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/study/compare"
)

// TestCompareIsNotFooledByNoAnswer: a store that goes away, or a caller who loses patience, ends the comparison with an
// error, and is not a difference.
func TestCompareIsNotFooledByNoAnswer(t *testing.T) {
	runs := recorded(t, "two-contenders", 1, 2)
	for _, test := range []struct {
		name   string
		cancel bool
		want   error
	}{
		{"the store goes away", false, &ddbfake.NetworkError{Operation: "GetItem"}},
		{"the caller is interrupted", true, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			db, calls := ddbfake.New(ddbfake.Options{}), 0
			client := ddbfake.NewClient(func(ctx context.Context, c ddbfake.Call) (any, error) {
				if calls++; calls > 5 { // CreateTable and four requests
					if test.cancel {
						cancel()
					}
					return nil, test.want
				}
				return db.Do(ctx, c)
			})
			c, err := compare.Run(ctx, client, runs, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), "compare run 1: request 5") {
				t.Errorf("got error %q, want it to say how far it came", err)
			}
			if len(c.Differences) > 0 {
				t.Errorf("got the differences %v, want none", c.Differences)
			}
		})
	}
}
