// Package isr is the reference implementation of incremental static
// regeneration on DynamoDB: recipe A, one META row and one LOCK row a key.
//
//	cache, err := isr.New(isr.Config{
//		Client: dynamodb.NewFromConfig(cfg), // or a client of ddbfake
//		Clock:  clockwork.NewRealClock(),
//		Bodies: bodies,
//		Render: render,
//		Tokens: uuid.NewString,
//	})
//	served, err := cache.Get(ctx, "/home")
//
// It sees a DynamoDB client, a clock and a body store, and nothing of the
// simulator: what passes its checks is the code that would run on AWS.
//
// # Limits
//
// Recipe A only: no version rows, no idempotency rows, no invalidation. A lease
// is refreshed only when the renderer calls keepAlive. DynamoDB conditions see
// no clock, so a lease is judged by the clock of whoever sends the request, at
// the time of sending.
//
// # Conflicts
//
// DynamoDB refuses a write while a transaction is at the same row, and its SDKs
// leave such a refusal to the caller. A holder's write (refresh, publish,
// release) is then sent up to four times within 350 ms of the node's clock, each
// time under guards judged anew; an acquire takes a conflict for a held lease.
//
// # Time
//
// Rows hold epoch seconds. "Now" rounds down and an expiry rounds up, so a lease
// lasts at least its duration. generated_at is taken before the origin is read.
package isr
