package pagecache_test

import (
	"context"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// A cache on the fake: one page made, served while it is fresh, and made again.
func ExampleCache() {
	ctx := context.Background()
	clock := fakeclock.New(fakeclock.Epoch)
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	if err := createTable(ctx, db); err != nil { // pk and sk, both strings; TTL on ttl
		fmt.Println(err)
		return
	}
	rendered := 0
	cache, err := pagecache.New(isr.Config{
		Client: db.As("alice"),
		Clock:  clock,
		Bodies: scenariotest.Bodies{}, // a map here, S3 elsewhere
		Table:  "cache",
		Tokens: counting("alice"),
		Render: func(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
			rendered++
			return fmt.Appendf(nil, "%s, made %d times", key, rendered), nil
		},
		Revalidate: time.Minute,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 4 {
		served, err := cache.Get(ctx, "/home")
		fmt.Printf("%s: %s, fresh: %v, %v\n", clock.Now().Format(time.TimeOnly), served.Body, served.Fresh, err)
		clock.Advance(30 * time.Second)
	}
	// Output:
	// 00:00:00: /home, made 1 times, fresh: true, <nil>
	// 00:00:30: /home, made 1 times, fresh: true, <nil>
	// 00:01:00: /home, made 2 times, fresh: true, <nil>
	// 00:01:30: /home, made 2 times, fresh: true, <nil>
}
