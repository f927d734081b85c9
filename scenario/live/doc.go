// Package live judges the traffic of a ddbfake as it happens: whoever writes the
// rows of an ISR cache into it, in whatever language, is told at once what it has
// broken.
//
//	db := ddbfake.New(ddbfake.Options{})
//	checker := live.New(db, live.Options{Told: func(b live.Broken) { fmt.Print(b) }})
//	...                // after each call
//	checker.Look()
//	fmt.Println(checker.Found().Violations)
//
// It is what isr-sim serve --check does after each request.
//
// # Limits
//
// Only the invariants that the change log alone decides are checked
// (invariant.Invariant.Watch), and only on tables whose keys are pk and sk, both
// strings. Actors are told apart by what the calls were signed with
// (ddbfake.Change.Actor): of writers under one name, a lease of one is a lease of
// all. Over HTTP a call was sent when it arrived (ddbfake.Change.Sent): what it took
// to arrive counts as clock skew. What was there before the checker, and what the fake has dropped from its
// log between two Looks (ddbfake.Options.KeepChanges), it does not know, and says so.
//
// Every key that was ever written is remembered, at some hundred bytes for each invariant.
//
// # Determinism
//
// What is found depends on the change log alone. A Checker may be used from several
// goroutines; what a call has changed is judged when a Look that began after it
// has returned.
package live
