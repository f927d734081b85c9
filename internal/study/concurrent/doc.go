// Package concurrent runs a protocol's nodes in real parallel, against a store without a scheduler: DynamoDB Local,
// DynamoDB itself, or the fake. It checks the simulator's checks: a promise that holds under every schedule of the
// simulator must also hold here, and a bug that the simulator finds must also be found here.
//
//	outcome, err := concurrent.Run{
//		Protocol: recipe.Reference(), Client: client, Table: "cache", Clock: clockwork.NewRealClock(),
//		Actors: 16, For: time.Minute,
//	}.Do(ctx)
//
// Every node asks for pages. Now and then a node stops waiting for an answer, or stands still before a write for longer
// than a lease, like a machine during garbage collection. The answers that the nodes got are then judged.
//
// # Limits
//
// No run is repeatable: the seed decides what the nodes try to do, but not the order of events. There is no log of the
// store's changes, so only the invariants on the nodes' own observations are judged: linearizable and freshness. A
// machine that stands still for longer than Slack between two readings of its clock can look like a violation of
// freshness.
package concurrent
