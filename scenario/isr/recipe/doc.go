// Package recipe has the reference implementations of incremental static regeneration on DynamoDB, for tests and for
// use.
//
//	cache, err := recipe.New(isr.Config{
//		Client: dynamodb.NewFromConfig(cfg), // or a client of ddbfake
//		Clock:  clockwork.NewRealClock(),
//		Bodies: bodies,
//		Render: render,
//		Tokens: uuid.NewString,
//	})
//	served, err := cache.Get(ctx, "/home")
//
// # Protocols
//
// Recipe A ([New]) keeps the page in META; one transaction puts META and deletes LOCK. Recipe B keeps a row VER# for
// each version and META as the pointer; its Rollback goes back to an older version. Invalidate closes the freshness
// window of a page. Regenerate makes a page once for an idempotency key; a row REQ# holds the outcome. [References] has
// both recipes, each under two sets of guards.
//
// A publish is guarded: by the token of the lease and its end, and in the references whose names end in "guarded" also
// by META's version and by the time of its generation.
//
// # Limits
//
// All nodes of a cache must have the same recipe, the same guards and the same TTLBuffer. A lease is refreshed only
// when the renderer calls keepAlive. A rendering must take less than TTLBuffer and Retention: after that, no row is
// left that shows which publish has overtaken it. DynamoDB conditions see no clock, so a lease is judged by the
// sender's clock at the time of sending.
//
// Invalidate needs the guard by version. Under the guard by time, a page can be published once a second, and a node
// whose clock is behind cannot publish until it has caught up with the page: after an invalidation, that may take as
// long as the clocks differ. Until then, the node serves its new pages as stale.
//
// A rollback lasts until the page is made again. A body that cannot be stored is not published, and is not stored
// again; bodies are never deleted here. The answer to a Regenerate is kept for Retention, so its body must be kept as
// long.
//
// # TTL
//
// TTL deletes rows hours or days after their time, or at once: nothing may depend on it. So a row of META, VER# or REQ#
// counts as gone a TTLBuffer before its ttl, whether it is there or not, in reads and in the conditions of writes. This
// rule holds as long as no request is under way for longer than TTLBuffer. A version is never used twice, so the guard
// by version does not ask for the ttl. The ttl of LOCK is a TTLBuffer after the end of its lease. Rows that other
// programs write without a ttl are never gone; a ttl that leaves less than TTLBuffer beyond the window shortens the
// window.
//
// # Conflicts
//
// DynamoDB refuses a write while a transaction is at the same row, and its SDKs leave such a refusal to the caller.
// Writes of a holder (refresh, publish, release), of an invalidation and of REQ# are then sent up to four times within
// 350 ms of the node's clock, and their guards are judged again each time. An acquire treats a conflict as a held
// lease.
//
// # Lost answers
//
// If an answer was lost, the SDK sends the request again, and may meet its own success. An acquire recognises its row
// by the token. A transaction has an idempotency token, which the SDK sets. An invalidation may count twice, which
// costs a rendering at most. A regeneration that is sent again finds its own REQ# row, begun or answered. Where an
// error leaves the outcome open, a read decides which page is served.
//
// # Time
//
// Rows hold epoch seconds. "Now" rounds down and an expiry rounds up, so a lease lasts at least its duration.
// generated_at is taken before the origin is read.
package recipe
