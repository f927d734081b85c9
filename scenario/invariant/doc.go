// Package invariant judges a run: it reads a change log and a history, and says which promise of the ISR protocol was
// broken, by which actor and when.
//
//	evidence := invariant.Evidence{Changes: db.Changes(), MaxClockSkew: time.Second}
//	invariant.Judge(evidence, func(inv invariant.Invariant, f invariant.Finding) {
//		fmt.Println(f.Verdict, inv.Name, "-", inv.Statement)
//		fmt.Println(f.Why)
//	})
//
// It needs no simulator: any implementation in any language that writes META and LOCK rows into a ddbfake can be judged
// by its change log. Six invariants need nothing but the log, and can also watch a log while it is written
// (Invariant.Watch). If a cache has other rows, describe them in Evidence.Schema.
//
// # Limits
//
// The log says who holds a token: a lease belongs to the actor that put its token into the LOCK row. So an actor that
// comes back after a crash must have another name. Otherwise the requests that it sent before the crash are taken for
// new ones. The log must reach back to the beginning of the table: the holder of a lock that is older than the log is
// not known.
//
// # Determinism
//
// A check depends on the evidence alone. It reports the first violation in the order of the log, or the first doubt if
// there is no violation.
package invariant
