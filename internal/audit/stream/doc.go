// Package stream follows a table's stream through the SDK, from its oldest record on.
//
//	arn, err := stream.Latest(ctx, dynamodbClient, "cache")
//	for entry, err := range stream.Follow(ctx, streamsClient, arn, stream.Options{Clock: clock, Keep: "kept"}) {
//		...
//	}
//
// Records of one partition key come in their order: a shard is read after its parent. Records of two shards come in any
// order.
//
// # The file that is kept
//
// Options.Keep names a file that gets each record before it is yielded, as one line of JSON: what Lambda would get, and
// the shard's ID. It also gets the gaps, and the ends of shards. The next Follow yields what the file has, and goes on
// from there, so a process may be killed at any moment. Package evidence reads such files, too.
//
// # Gaps
//
// DynamoDB keeps a record for 24 hours. What was lost because it was read too late is a Gap. A shard of which nothing
// has been kept is known to be complete only if it is read within 24 hours after its parent's end or, if that is not
// known, after the last time in the file.
package stream
