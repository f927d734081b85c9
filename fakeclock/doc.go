// Package fakeclock is a deterministic clock for tests: time moves when the test says so, from one deadline to the
// next, and everything due happens in one order.
//
// [Clock] implements [clockwork.Clock], so that code written against that interface runs on it unchanged. [Node] does
// too: it is the clock of one machine among several, with an offset, a drift and steps. [Clock.WithTimeout] makes
// contexts whose deadlines are on the clock.
//
//	clock := fakeclock.New(fakeclock.Epoch)
//	store := NewStore(clock) // takes a clockwork.Clock
//	slow := clock.Node(fakeclock.Drift{Offset: -2 * time.Second, PPM: -200})
//	rival := NewStore(slow)
//
//	clock.Advance(time.Minute) // fires all timers of both, in order
//	for t, ok := clock.Next(); ok && t.Before(end); t, ok = clock.Next() {
//		clock.AdvanceTo(t) // or stop at every deadline
//		check(store, rival)
//	}
//
// # Determinism
//
// Everything that waits on a clock or on its nodes is ordered by (true deadline, order of registration).
// [Clock.Advance] goes from deadline to deadline in that order. While it does,
//
//   - Now is exactly the deadline, not the end of the Advance;
//   - functions of AfterFunc run in the goroutine that called Advance, one after another, and may start, stop and reset
//     timers; timers that they make due within the span fire in the same Advance;
//   - contexts end, with the contexts derived from them, before Advance goes on.
//
// Starting, resetting and every tick of a ticker count as a registration. Nothing here starts a goroutine, reads real
// time or is random, with one exception: package context uses a goroutine to tell a context that its parent was
// cancelled. The Err and Done of such a context do not wait for that goroutine, because they ask the parent; contexts
// derived from it do wait.
//
// # Goroutines
//
// A goroutine that waits for a channel or in Sleep is released when Advance returns, but has not run yet, and Advance
// may have moved further before it runs. If it must see every instant, move with Next and AdvanceTo, and let it settle
// in between. A bubble of testing/synctest is made for that:
//
//	synctest.Test(t, func(t *testing.T) {
//		clock := fakeclock.New(fakeclock.Epoch) // in the bubble, as its channels must be
//		go worker(clock)                        // sleeps, works, sleeps
//		synctest.Wait()                         // it sleeps
//		for t, ok := clock.Next(); ok && t.Before(end); t, ok = clock.Next() {
//			clock.AdvanceTo(t)
//			synctest.Wait() // it has done its work at t, and sleeps again
//		}
//	})
//
// Goroutines released at the same instant run in any order, as always. If the order matters, the test must enforce it,
// or use AfterFunc.
//
// There is no BlockUntil(n) as in package clockwork: it returns when n timers wait, and n timers may also wait before
// one of them is reset.
//
// # Fidelity
//
// Timers and tickers behave as those of package time since Go 1.23, as far as the interface permits. Stop and Reset
// leave no stale value behind, and nothing that is stopped stays in the queue. Differences:
//
//   - an AfterFunc with a duration that is not positive runs in the next Advance, Advance(0) for instance, not in a
//     goroutine of its own;
//   - channels have a buffer of one, so len and cap can tell them from those of package time;
//   - times carry no monotonic reading: see [Node].
//
// The differences from clockwork.FakeClock v0.5.0: there, functions of AfterFunc run in goroutines and see the end of
// the Advance; equal deadlines fire in no stated order; resetting a ticker leaves the old one running; ticks arrive
// after Stop; a negative Advance goes back; there is no next deadline. clockwork.WithTimeout knows its own FakeClock
// only and uses real time with every other Clock, silently, this one included: use [Clock.WithTimeout].
//
// # Limits
//
// A function of AfterFunc that waits for the clock to move waits forever, as the clock waits for it. Functions that
// keep making themselves due now keep Advance from returning. Every tick of a ticker is a step, so with a ticker of a
// nanosecond an Advance of an hour takes long.
package fakeclock
