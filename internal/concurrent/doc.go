// Package concurrent runs a protocol's nodes in real parallel, against a store
// that nobody schedules: DynamoDB Local, DynamoDB itself, or the fake. It is the
// check of the checks: what holds under every schedule of the simulator has to
// hold here too, and the bugs that the simulator finds have to show.
//
//	outcome, err := concurrent.Run{
//		Protocol: recipe.Reference(), Client: client, Clock: clockwork.NewRealClock(), Actors: 16, For: time.Minute,
//	}.Do(ctx)
//
// Every node asks for pages, and now and then it stops before a write for longer
// than a lease lasts, as a machine does in a garbage collection, or loses patience
// with an answer. What the nodes were told is then judged.
//
// # Limits
//
// Nothing here is repeatable: the seed decides what the nodes mean to do, and not
// what happens. There is no log of the store's changes, so only invariants on what
// the nodes saw are judged: linearizable, and freshness. A machine that stands
// still for longer than Slack between two readings of its clock can look like a
// violation of freshness.
package concurrent
