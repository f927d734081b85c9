// Package history records what each client of a cache saw: when it asked, what
// it was served and as what, and what happened to its node meanwhile.
//
// The change log of the store says what was written; a history says what was
// decided. An invariant such as freshness needs both, because a cache that
// serves a stale page as fresh has written nothing wrong.
//
//	var log history.Log
//	log.Add(history.Event{Time: t, Actor: "alice", Kind: history.Asked, Key: "/home"})
//	log.Add(history.Event{Time: t, Actor: "alice", Kind: history.Served, Key: "/home",
//		As: history.Fresh, Body: "render-1"})
//
// # Limits
//
// Times are true times, which no node knows; only a simulator, or an observer
// of all nodes, can write a history. A Failed event means "may have happened":
// a request whose answer was lost is in doubt for ever.
//
// # Determinism
//
// A history has no clock and no randomness of its own. Events keep the order in
// which they were added, and print the same text on every machine.
package history
