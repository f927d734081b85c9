// Package property checks other people's ISR stores from their tests: one call draws worlds at random, runs each under
// many schedules, and leaves the smallest failure as a file that replays.
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
// The store is its team's own code, unmodified: it gets a real client of the SDK and a clock, keeps rows with the sort
// keys META and LOCK in the form that package isr describes, and answers Get. It may choose its partition keys, and the
// body may be in META. For rows of any other kind, Check.Rows says what they mean. The reference passes the check: for
// it, newStore returns recipe.New(n.Config).
//
// # What is checked
//
// The invariants of package invariant are checked on each run; see [scenario.Run]. Where the durations of a world allow
// it, the faults of each run stop at its end, and every page must then be in the cache and fresh (liveness): within the
// time that a lease and a rendering take, or within half a lease if no holder can have crashed.
//
// A check fails if the store panics, breaks the rules below, or is not deterministic: one schedule in a hundred is run
// again, except with Goroutines and in parallel tests, and so is each that is not ok. It also fails if it has judged
// nothing: no world published a page or served one as fresh, or no world got to where bugs would be ([Reach]). An
// unknown verdict is also a failure: a LOCK row or a page cannot be read, or a run does not end.
//
// # Effort
//
// A check runs 500 worlds, five for each of rapid's checks, under 20 schedules each ([DefaultSchedules] says why). That
// takes about ten seconds on one core for a store that makes ten requests per page. -rapid.checks and Check.Schedules
// change the numbers; -short runs a fifth of the worlds.
//
// # Locks
//
// A lock or lease library has no pages. CheckLock checks it, whatever its rows and its table look like. It judges by
// what clients ask the lock and what they are told, and by their writes to the resource that the lock guards.
// docs/CHECK.md has the invariants, and says what each of them demands of a lock. The text below about stores holds for
// locks, too.
//
// # More than Get
//
// A store that can do more says so by its methods: Invalidate ([isr.Invalidator]), Regenerate ([isr.Regenerator]) and
// Rollback ([isr.Rollbacker]). In some worlds clients then use these methods, too. If a method returns
// [isr.ErrUnsupported], it is not used again. Such worlds find a fill that overtakes an invalidation, a request that is
// answered twice, and a rollback without a lease. They keep rows of requests and invalidations for a day. A store with
// a method Close() error is closed when its script is over. If a goroutine is left after that, the check fails.
// Check.Tenants is for a store that takes Node.Tenant: in some worlds pages belong to several tenants.
//
// # Failures
//
// As soon as a failure is found, the check prints three lines about it on standard error, and writes it to
// testdata/isr-sim/TestName.yaml, a scenario with a replay entry. So the failure is kept even if the test is
// interrupted. After that rapid looks for the smallest world in which the same invariant is violated. A search then
// looks for a schedule with few context switches in that world (see [campaign.Shrink]), which replaces the first one.
// Both searches together take at most -rapid.shrinktime (30 s; 0s leaves them out), and end with the first run that is
// stuck.
//
// The next check begins with the file, and so does [Replay]; under -v both print its trace, step by step. Commit the
// file to keep it as a test, and delete it to be rid of it. With the flag -isrsim.explain, the test also prints the
// chance of the recorded violation after each step, and the events that it needed. rapid's own file, which is tied to
// the versions of rapid and of this package, is kept only if there is no scenario file.
//
// Each failure is run three times before it is reported. If the runs differ, the report says what the first one
// violated, that it cannot be repeated, and what differed. Then there is no file, because no schedule is sure to lead
// to the failure.
//
// # Determinism
//
// A check depends only on rapid's seed (-rapid.seed; rapid prints the seed of a failure), except that rapid's shrinking
// ends after some real time (-rapid.shrinktime, 30 s). A file's replay depends on nothing but file and store.
//
// Lock clients take tokens and versions of records from crypto/rand. It is seeded for each run from the run's seed (see
// [testing/cryptotest.SetGlobalRandom]), and is random again after the check. This works only in a test that is not
// parallel and has no parallel parent: in a parallel test, a store that reads crypto/rand is not deterministic. Bytes
// that a package reads from crypto/rand only once, or in advance for many runs, do not come from the run's seed. Under
// version 1.0.0 of the FIPS module, none do. math/rand's global functions cannot be seeded.
//
// # Goroutines
//
// A store that has goroutines (a heartbeat for each lease, as lock clients do), timers, channels or context timeouts is
// checked with Check.Goroutines:
//
//	property.Check{Goroutines: true}.Run(t, newStore)
//
// Each schedule then runs in a bubble of testing/synctest. Every call of the client, of Bodies and of Render parks at a
// gate, with the goroutine that made it; when all goroutines of all nodes wait for something, the schedule lets one
// request take effect, one answer arrive, or time move. In traces, alice/b is a second goroutine of alice with a
// request under way.
//
// There is one time, that of package time in the bubble. It begins at [fakeclock.Epoch], and is true time and the time
// of the service. A node's Clock, with its timers and tickers, shows this time with the error of the node's clock.
// Package time itself and timeouts of contexts have no error. Clock.Sleep is a step of the schedule, and takes one each
// time.
//
// A node's end, or a crash, ends the context that Get was called with, and calls the store's Close() error, if it has
// that method. Close should end the store's goroutines, because all of them must end. Calls of a node that is down
// return [sim.ErrNodeDown]; a goroutine that still makes calls is ended after some fifty of them. A run ends when its
// scripts have ended and no request is under way. If the context of a call ends while the request is under way, the
// goroutine gets the context's error, and the request may take effect or not.
//
// # Limits
//
// Without Check.Goroutines, a store under test does its work in the goroutine that called it. The store may start
// goroutines that only compute: when its call is over, they end or wait before another node goes on. The check fails
// if such a goroutine calls the client, the clock, Bodies or Render, or if the store waits for a channel on which no
// goroutine sends. To wait for time, the store must use Clock.Sleep: the clock's timers, tickers and After are
// refused. So are waits by package time, contexts with a timeout, and calls from a function of time.AfterFunc within
// an hour of package time. If such a function makes no call, it never runs, and the check does not notice it. Nodes
// must not share a mutex that is held during a call, nor channels made outside of newStore: a run that waits for one
// is given up after 5 s. Package time stands still at its year 2000. If a store reads time.Now instead of the node's
// clock and writes the result into a row, the check says so.
//
// Nodes share no memory: what a store keeps in a package's variable may hide races between nodes. With
// Check.Goroutines, the check fails if one node waits in such a variable until another node goes on.
//
// With Check.Goroutines:
//
//   - The Go runtime, and not the schedule, decides three things: the order in
//     which goroutines of one node use their memory between two calls; which of two
//     timers of package time fires first if both are set for the same instant
//     (timers of the node's Clock never are); and which case a select takes when
//     several are ready. If one of them matters to a store, the store is not
//     deterministic, and is reported as such where it fails. An example: two
//     heartbeats wake at the same instant of package time and both read
//     crypto/rand. It is not decided which of them gets which bytes.
//   - If a goroutine holds a mutex during a call, and another goroutine waits for
//     the mutex, Go's bubble does not notice this wait
//     (https://github.com/golang/go/issues/77687). The check notices it after a few
//     milliseconds. No time passes until the mutex is unlocked: what the holder
//     waits for comes first, so a pause of the holder ends early, and so does the
//     latency of an answer. This is the same in each run. If the holder itself
//     waits for time to pass (a sleep), nothing can go on, which is reported.
//   - A bubble does not notice waits for sockets, files, and channels made outside
//     of newStore either. A run with such a wait is given up after 5 s, and any
//     other run that does not end is given up after 20 s. The goroutines of these
//     runs stay. If this happens while a failure is being made smaller, the
//     shrinking ends.
//   - A pause delays a node's answers and Clock.Sleep, but not its timers: a
//     request that a timer makes the node send is under way at once.
//   - A panic in a goroutine that the store started ends the test's process, as
//     everywhere in Go. Go's message names the node and the command of its script,
//     as labels of the goroutine; so do our own messages about goroutines.
//   - The invariant linearizable has no operations to judge.
//
// While it runs, a check makes Go collect garbage less often (GC percent 800, memory limit 1 GiB), unless GOGC or
// GOMEMLIMIT is set.
//
// rapid registers flags and this package imports package testing: import it from tests only. A test that calls it
// cannot itself be in a bubble of testing/synctest.
package property
