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
// each version and META as the pointer; its Rollback goes back to an older version. Invalidate ends the freshness of a
// page. Regenerate makes a page once for an idempotency key; a row REQ# holds the outcome. [References] has both
// recipes, each under two sets of guards.
//
// A publish is guarded by the token of the lease and its end. In the references whose names end in "guarded", it is
// also guarded by META's version and by the time at which its page was generated.
//
// # Limits
//
// All nodes of a cache must have the same recipe, the same guards and the same TTLBuffer. A lease is refreshed only
// when the renderer calls keepAlive. A rendering must take less than TTLBuffer and less than Retention: after that, the
// row that shows that another publish has overtaken it may be gone. A condition of DynamoDB cannot read a clock, so a
// lease is judged by the sender's clock at the time of sending.
//
// Invalidate needs the guard by version. Under the guard by time, a page can be published at most once a second, and a
// node whose clock is behind cannot publish until its clock has caught up with the time of the page. After an
// invalidation, that may take as long as the clocks differ. Until then, the node serves its new pages as stale.
//
// A rollback lasts until the page is made again. If a body cannot be stored, the page is not published, and the cache
// does not try to store the body again. The cache never deletes bodies. The answer to a Regenerate is kept for
// Retention, so its body must be kept as long.
//
// # TTL
//
// TTL deletes rows hours or days after their time, or at once: nothing may depend on it. So a row META, VER# or REQ#
// counts as gone from a TTLBuffer before its ttl on, whether or not it still exists, both in reads and in the
// conditions of writes. This rule holds as long as no request is under way for longer than TTLBuffer. The guard by
// version need not check the ttl, because a version is never used twice. The ttl of LOCK is a TTLBuffer after the end
// of its lease. If another program writes a row without a ttl, the row never counts as gone. If a ttl is less than a
// TTLBuffer after the end of the freshness window, it shortens the window.
//
// # Conflicts
//
// DynamoDB refuses a write to a row while a transaction works on the same row, and its SDKs do not retry such a write.
// So the cache sends the writes of a holder (refresh, publish, release), of an invalidation and of REQ# up to four
// times, within 350 ms by the node's clock. Their guards are judged again each time. An acquire treats a conflict as a
// held lease.
//
// # Lost answers
//
// If an answer was lost, the SDK sends the request again, although the first attempt may have succeeded. An acquire
// recognises its row by the token. A transaction has an idempotency token, which the SDK sets. An invalidation may
// count twice, which costs at most one more rendering. A regeneration that is sent again finds its own REQ# row, begun
// or answered. If an error leaves the outcome open, a read decides which page is served.
//
// # Time
//
// Rows hold epoch seconds. The present time is rounded down and an expiry is rounded up, so a lease never lasts less
// than its duration. generated_at is taken before the origin is read.
package recipe
