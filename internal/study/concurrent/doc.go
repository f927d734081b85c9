// Package concurrent runs a protocol's nodes in real parallel, against a store without a scheduler: DynamoDB Local,
// DynamoDB itself, or the fake. It checks the checks: a promise that holds under every schedule of the simulator must
// also hold here, and bugs that the simulator finds must show here.
//
//	outcome, err := concurrent.Run{
//		Protocol: recipe.Reference(), Client: client, Clock: clockwork.NewRealClock(), Actors: 16, For: time.Minute,
//	}.Do(ctx)
//
// Every node asks for pages. Now and then it loses patience with an answer, or stops before a write for longer than a
// lease lasts, as a machine does in a garbage collection. The answers that the nodes got are then judged.
//
// # Limits
//
// No run is repeatable: the seed decides the nodes' intentions, and not the course of events. There is no log of the
// store's changes, so only invariants on the nodes' observations are judged: linearizable, and freshness. A machine
// that stands still for longer than Slack between two readings of its clock can look like a violation of freshness.
package concurrent
