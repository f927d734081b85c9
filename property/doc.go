// Package property checks other people's ISR stores from their tests: one call
// draws worlds at random, runs each under many schedules, and leaves the smallest
// failure as a file that replays.
//
//	func TestStore(t *testing.T) {
//		property.CheckStore(t, func(n property.Node) (isr.Handler, error) {
//			return mycache.New(mycache.Options{
//				DynamoDB: n.Client, // a *dynamodb.Client
//				Table:    n.Table, Clock: n.Clock, Bodies: n.Bodies, Render: n.Render, NewToken: n.Tokens,
//				Revalidate: n.Revalidate, Lease: n.Lease,
//			})
//		})
//	}
//
// The store is its team's own code, unmodified: it gets a real client of the SDK
// and a clock, keeps the rows META and LOCK as package isr does, and answers Get.
// The reference passes: newStore is then isr.New(n.Config).
//
// # What is checked
//
// The invariants of package invariant, on each run; see [scenario.Run]. Beside
// them a check fails if the store panics, breaks the rules below, is not
// deterministic, or if no world got to where bugs would be ([Reach]). An unknown
// verdict is a failure: a LOCK row that cannot be read, or a run without end.
//
// # Failures
//
// The smallest failure is left as testdata/isr-sim/TestName.yaml, a scenario with
// a replay entry: the smallest world that rapid came to, and in it a schedule with
// few context switches (see [scenario.Shrink]). The next check begins with it, and so does [Replay]; under -v
// both print its trace, step by step. Commit the file to keep it as a test, and
// delete it to be rid of it. rapid leaves its own file too, which is tied to the
// versions of rapid and of this package.
//
// # Determinism
//
// A check is a function of rapid's seed (-rapid.seed; rapid prints the one that
// failed), except that the clock on the wall may end rapid's shrinking
// (-rapid.shrinktime, 30 s). A file's replay depends on nothing but file and store.
//
// # Limits
//
// A store under test does its work in the goroutine that called it. It may start
// goroutines that only compute, and wait for them; one that calls the client, the
// clock, Bodies or Render fails the check, and so does waiting for a channel on
// which nobody sends. A store waits by Clock.Sleep: the clock's timers, tickers
// and After are refused. Nodes must not share a mutex that is held over a call,
// nor channels made outside of newStore: nothing notices that the run is stuck
// until the test's own timeout.
//
// What is checked is safety: a world does not say by when a page must be fresh
// (liveness), which a scenario does with settle.
//
// Package time stands still at its year 2000 while a store runs. Who reads
// time.Now instead of the node's clock will be told of stale writes.
//
// rapid registers flags and this package imports package testing: import it from
// tests only. A test that calls it cannot itself be in a bubble of testing/synctest.
package property
