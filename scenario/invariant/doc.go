// Package invariant judges what happened: it reads a change log and a history,
// and says which promise of the ISR protocol was broken, by whom and when.
//
//	evidence := invariant.Evidence{Changes: db.Changes(), MaxClockSkew: time.Second}
//	invariant.Judge(evidence, func(inv invariant.Invariant, f invariant.Finding) {
//		fmt.Println(f.Verdict, inv.Name, "-", inv.Statement)
//		fmt.Println(f.Why)
//	})
//
// It needs no simulator: any implementation in any language that writes META and
// LOCK rows into a ddbfake can be judged by its change log. Six invariants need
// nothing else, and also watch a log while it is written (Invariant.Watch).
//
// # Limits
//
// Whose token is whose is read off the log: a lease belongs to the actor that
// put its token into the LOCK row. An actor that comes back after a crash must
// therefore come back under another name, or its past self's requests pass for
// its own. The log must reach back to the beginning of the table: of a lock that
// was there before it, nobody knows the holder.
//
// # Determinism
//
// A check is a function of the evidence alone, and reports the first violation
// in the order of the log; if there is none, the first thing that is unknown.
package invariant
