// Package live judges the traffic of a ddbfake as it happens. Any program, in any language, that writes the rows of an
// ISR cache into the fake is told at once which invariants it has broken.
//
//	db := ddbfake.New(ddbfake.Options{})
//	checker := live.New(db, live.Options{OnBroken: func(b live.Broken) { fmt.Print(b) }})
//	...                // after each call
//	checker.Look()
//	fmt.Println(checker.Found().Violations)
//
// isr-sim serve --check does this after each request. In a test of any kind, Watch does it, fails the test, and logs
// a Summary of stampedes and stale reads.
//
// # Limits
//
// An invariant is judged by the interleaving that took place: a test that makes one schedule judges one. Package property
// tries thousands.
//
// Invariants that the change log alone decides are checked (invariant.Invariant.Watch); invariants about served pages
// are checked as far as clients tell the history (Checker.Tell). Found.Untold names those that judged nothing. Both are
// checked only on tables whose keys are pk and sk, both strings, or in rows that Options.Rows describes.
//
// The signature of a call tells its actor (ddbfake.Change.Actor). Writers that sign with one name count as one actor,
// which holds the leases of all of them. Over HTTP the time of arrival counts as the time of sending
// (ddbfake.Change.Sent), so the way of a request counts as clock skew.
//
// Changes that the fake has dropped from its log before a Look (ddbfake.Options.KeepChanges) are not known. The checker
// reports a doubt for them.
//
// Every key that was ever written is remembered, at some hundred bytes for each invariant, and so is the history that
// clients tell, within the bounds of Checker.Tell.
//
// A history is believed: a client that keeps a rendering to itself is not found out.
//
// # Determinism
//
// The findings depend on the change log, on what Tell is told, and on the times of Options.Clock alone. A Checker may be used from several goroutines: the changes of a call
// have been judged when a Look that began after the call has returned.
package live
