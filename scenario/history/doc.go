// Package history holds what each client of a cache saw: when it asked for a page, the page that it was served and the
// cache's claim about that page, and the crashes and pauses of its node.
//
// The change log of the store says what was written; a history says what was decided. An invariant such as freshness
// needs both, because a cache that serves a stale page as fresh has written nothing wrong.
//
//	events := []history.Event{
//		{Seq: 1, Time: t, Actor: "alice", Kind: history.Asked, Key: "/home"},
//		{Seq: 2, Time: t, Actor: "alice", Kind: history.Served, Key: "/home", As: history.Fresh, Body: "render-1"},
//	}
//
// # Limits
//
// Times are true times. No node knows true times: only a simulator, or an observer of all nodes, can write a history. A
// Failed event means "may have happened": if the answer to a request is lost, no client knows whether the request took
// effect.
//
// # Determinism
//
// A history uses neither a clock nor randomness. Its events print the same text on every machine.
package history
