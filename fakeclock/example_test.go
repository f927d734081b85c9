package fakeclock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/isr-sim/isr-sim/fakeclock"
)

const clockFormat = "15:04:05.000"

func Example() {
	clock := fakeclock.New(fakeclock.Epoch)
	show := func(what string) func() {
		return func() { fmt.Println(clock.Now().Format(clockFormat), what) }
	}
	clock.AfterFunc(2*time.Second, show("second"))
	clock.AfterFunc(time.Second, func() {
		show("first")()
		clock.AfterFunc(time.Second, show("third: registered after the second"))
	})
	clock.Advance(time.Minute)
	show("end")()
	// Output:
	// 00:00:01.000 first
	// 00:00:02.000 second
	// 00:00:02.000 third: registered after the second
	// 00:01:00.000 end
}

// A lease of 30 seconds, and two machines that disagree about when it ends.
func ExampleClock_Node() {
	clock := fakeclock.New(fakeclock.Epoch)
	holder := clock.Node(fakeclock.Drift{Offset: -2 * time.Second}) // two seconds behind
	rival := clock.Node(fakeclock.Drift{PPM: 50_000})               // five percent fast

	expires := clock.Now().Add(30 * time.Second)
	until, _ := holder.TrueTime(expires)
	from, _ := rival.TrueTime(expires)
	fmt.Println("the holder thinks it holds until", until.Format(clockFormat))
	fmt.Println("the rival thinks it may take it from", from.Format(clockFormat))

	clock.AdvanceTo(from)
	fmt.Println("both at once:", holder.Now().Before(expires) && !rival.Now().Before(expires))
	// Output:
	// the holder thinks it holds until 00:00:32.000
	// the rival thinks it may take it from 00:00:28.571
	// both at once: true
}

// A step moves the time that the node shows, but no timer.
func ExampleNode_Step() {
	clock := fakeclock.New(fakeclock.Epoch)
	node := clock.Node(fakeclock.Drift{})
	timer := node.NewTimer(10 * time.Second)
	clock.Advance(4 * time.Second)
	node.Step(time.Hour)
	fmt.Println("node", node.Now().Format(clockFormat), "true", node.True().Format(clockFormat))
	clock.Advance(6 * time.Second)
	fmt.Println("fired at", (<-timer.Chan()).Format(clockFormat))
	// Output:
	// node 01:00:04.000 true 00:00:04.000
	// fired at 01:00:10.000
}

func ExampleClock_WithTimeout() {
	clock := fakeclock.New(fakeclock.Epoch)
	ctx, cancel := clock.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	clock.Advance(2 * time.Second)
	fmt.Println(ctx.Err())
	clock.Advance(time.Second)
	fmt.Println(ctx.Err())
	// Output:
	// <nil>
	// context deadline exceeded
}

// A heartbeat and a lease: what is the state after each instant at which something happens?
func ExampleClock_Next() {
	clock := fakeclock.New(fakeclock.Epoch)
	beats := 0
	var beat func()
	beat = func() {
		if beats++; beats < 3 {
			clock.AfterFunc(10*time.Second, beat)
		}
	}
	clock.AfterFunc(10*time.Second, beat)
	lease, cancel := clock.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	for t, ok := clock.Next(); ok; t, ok = clock.Next() {
		clock.AdvanceTo(t)
		fmt.Println(t.Format(clockFormat), "beats:", beats, "lease:", lease.Err())
	}
	// Output:
	// 00:00:10.000 beats: 1 lease: <nil>
	// 00:00:20.000 beats: 2 lease: <nil>
	// 00:00:25.000 beats: 2 lease: context deadline exceeded
	// 00:00:30.000 beats: 3 lease: context deadline exceeded
}
