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
// keys META and LOCK as package isr does, and answers Get. Its partition keys are its own, and the body may be in META.
// For rows of any other kind, Check.Rows says what they mean.
// The reference passes: newStore is then recipe.New(n.Config).
//
// # What is checked
//
// The invariants of package invariant, on each run; see [scenario.Run]. Where the durations of a world allow it, the
// faults of each run stop at its end, and every page must then be in the cache and fresh (liveness): within the time
// that a lease and a rendering take, or within half a lease where no holder can have crashed.
//
// A check fails if the store panics, breaks the rules below, or is not deterministic. It also fails if it has judged
// nothing: no world published a page or served one as fresh, or no world got to where bugs would be ([Reach]). An
// unknown verdict is a failure: a LOCK row or a page that cannot be read, or a run without end.
//
// # Effort
//
// A check runs 500 worlds, five for each of rapid's checks, under 20 schedules each ([DefaultSchedules] says why): some
// ten seconds on one core for a store that takes ten requests a page. -rapid.checks and Check.Schedules change that;
// -short runs a fifth of the worlds.
//
// # Locks
//
// A lock or lease library has no pages. CheckLock checks it, whatever its rows and its table look like. It judges by
// the questions and answers of its clients, and by their writes to the resource that the lock guards. docs/LOCKS.md has
// the invariants, and the demands of each on a lock. The text below about stores holds for locks, too.
//
// # More than Get
//
// A store that can do more says so by its methods: Invalidate ([isr.Invalidator]), Regenerate ([isr.Regenerator]) and
// Rollback ([isr.Rollbacker]). In some worlds clients then ask for that, too; a store that returns [isr.ErrUnsupported]
// is not asked again. Such worlds find a fill that overtakes an invalidation, a request that is answered twice, and a
// rollback without a lease. Rows of requests and invalidations are kept for a day there. A store with a method Close()
// error is closed when its script is over. A goroutine that is left then fails the check. Check.Tenants is for a store
// that takes Node.Tenant: in some worlds pages belong to several tenants.
//
// # Failures
//
// A failure is told on standard error as soon as it is found, in three lines, and is left as
// testdata/isr-sim/TestName.yaml, a scenario with a replay entry: it is there even if the test is interrupted. After
// that rapid looks for the smallest world in which the same invariant is violated. A search then looks for a schedule
// with few context switches in that world (see [campaign.Shrink]), which replaces the first one. Both together take
// -rapid.shrinktime at most (30 s; 0s leaves them out), and end with the first run that is stuck.
//
// The next check begins with the file, and so does [Replay]; under -v both print its trace, step by step. Commit the
// file to keep it as a test, and delete it to be rid of it. With the flag -isrsim.explain, the test also prints the
// chance of the recorded violation after each step, and the events that it needed. rapid's own file, which is tied to the versions
// of rapid and of this package, stays only where there is no scenario file.
//
// Each failure is run three times before it is reported. If the runs differ, the report says what the first one
// violated, that it cannot be repeated, and what differed; there is no file then, for no schedule leads there.
//
// # Determinism
//
// A check is a function of rapid's seed (-rapid.seed; rapid prints the one that failed), except that the clock on the
// wall may end rapid's shrinking (-rapid.shrinktime, 30 s). A file's replay depends on nothing but file and store.
//
// crypto/rand, from which lock clients take tokens and the versions of records, is seeded for each run from the run's
// seed (see [testing/cryptotest.SetGlobalRandom]), and is random again after the check. This works only in a test that
// is not parallel and has no parallel parent: in a parallel test, such a store is not deterministic. Bytes that a
// package reads from crypto/rand once, or ahead for many runs, do not come from the run's seed; nor does anything under
// version 1.0.0 of the FIPS module. math/rand's global functions cannot be seeded.
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
// There is one time: package time's in the bubble, which begins at [fakeclock.Epoch], is true time, and the service's.
// A node's Clock reads it with the node's error, and has timers and tickers; package time itself, and timeouts of
// contexts, have none. Clock.Sleep is a step of the schedule, and takes one each time.
//
// A node's end, or a crash, ends the context that Get was called with. If the store has a method Close() error, that is
// called too; it should end the store's goroutines, as they must all come to an end. Calls of a node that is down return
// [sim.ErrNodeDown]; a goroutine that goes on calling is ended after some fifty. A run ends when its scripts have ended
// and no request is under way. If the context of a call ends while the request is under way, the goroutine gets the
// context's error, and the request may take effect or not.
//
// # Limits
//
// Without Check.Goroutines, a store under test does its work in the goroutine that called it. It may start goroutines
// that only compute, and wait for them; a goroutine that calls the client, the clock, Bodies or Render fails the check,
// and so does a wait for a channel on which no goroutine sends. It waits by Clock.Sleep: the clock's timers, tickers
// and After are refused. Nodes must not share a mutex that is held over a call, nor channels made outside of newStore:
// such a run is given up after 5 s. Package time stands still at its year 2000. If a store reads time.Now instead of
// the node's clock and writes the result into a row, the check says so.
//
// With Check.Goroutines:
//
//   - What goroutines of one node do to their memory between two calls is decided
//     by the Go runtime, and so is which of two timers of package time, set for one
//     instant, fires first (those of the node's Clock never share one), and which
//     case a select takes when several are ready. A store on which that matters is
//     not deterministic, and is reported as such where it fails. Two heartbeats
//     that wake at one instant of package time and both read crypto/rand matter:
//     which of them gets which bytes is not decided.
//   - A mutex that a goroutine holds over a call, while another waits for it, is
//     not a wait that a bubble knows of (https://github.com/golang/go/issues/77687).
//     The check finds out within a second, makes that run again, and from then on
//     looks at the states of all goroutines before each step, which takes longer.
//     Time does not pass while a goroutine waits for a mutex: a pause of its holder
//     ends early, and a mutex that is held over a wait for time is a deadlock, and
//     reported as such.
//   - Sockets, files, and channels made outside of newStore are no waits that a
//     bubble knows of either. Such a run is given up after 5 s, and any other that
//     does not end after 20 s; their goroutines stay. While a failure is being made
//     smaller, that ends the shrinking.
//   - A pause holds up a node's answers and Clock.Sleep, and not its timers: what
//     they make it send is under way at once.
//   - A panic in a goroutine that the store started ends the test's process, as
//     everywhere in Go. Go's message names the node and the command of its script,
//     as labels of the goroutine; so do our own messages about goroutines.
//   - The check of linearizability sees no operations.
//
// While it runs, a check makes Go collect garbage less often (GC percent 800, memory limit 1 GiB), unless GOGC or
// GOMEMLIMIT is set.
//
// rapid registers flags and this package imports package testing: import it from tests only. A test that calls it
// cannot itself be in a bubble of testing/synctest.
package property
