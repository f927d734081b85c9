// Package live judges the traffic of a ddbfake as it happens. The rows of an ISR cache may come from any program, in
// any language. The program's user learns at once which invariants it has broken.
//
//	db := ddbfake.New(ddbfake.Options{})
//	checker := live.New(db, live.Options{OnBroken: func(b live.Broken) { fmt.Print(b) }})
//	...                // after each call
//	checker.Look()
//	fmt.Println(checker.Found().Violations)
//
// isr-sim serve --check does this after each request. In any test, Watch does it. It also fails the test, and logs a
// Summary of stampedes and stale reads. WatchStream judges a real table by its stream.
//
// # Limits
//
// An invariant is judged only for the interleaving that took place: a test that makes one schedule judges one schedule.
// Package property tries thousands.
//
// Invariants that need only the change log are checked (invariant.Invariant.Watch). Invariants about served pages are
// checked as far as clients tell the history (Checker.Tell). Found.Untold names the invariants that judged nothing.
// Both kinds are checked only in tables whose keys are pk and sk, both strings, or in rows that Options.Rows describes.
//
// The signature of a call names its actor (ddbfake.Change.Actor). Writers that sign with the same name count as one
// actor, which holds the leases of all of them. Over HTTP the time of arrival counts as the time of sending
// (ddbfake.Change.Sent), so the time for which a request is under way counts as clock skew.
//
// Changes that the fake dropped from its log before a Look (ddbfake.Options.KeepChanges) are not known. The checker
// reports a doubt for them.
//
// Every key that was ever written is remembered, at some hundred bytes for each invariant, and so is the history that
// clients tell, within the bounds of Checker.Tell.
//
// The checker believes a history. If a client does not report a rendering, nobody notices.
//
// # Determinism
//
// The findings depend only on the change log, on what Tell is told, and on the times of Options.Clock. A Checker may be
// used from several goroutines: a Look that begins after a call has returned judges the changes of that call before it
// returns.
package live
