// Package isr defines a cache with incremental static regeneration on DynamoDB, as the simulator sees it: pages are
// served from the cache while they are fresh, and made again by one machine at a time.
//
// A cache is a [Handler], made from a [Config] by the New of a [Protocol]:
//
//	protocol := isr.Protocol{
//		Name:    "ours",
//		Summary: "the cache of our shop",
//		New:     func(cfg isr.Config) (isr.Handler, error) { return shop.NewCache(cfg.Client, cfg.Clock) },
//	}
//
// Package recipe has the reference caches. Package property checks a cache from a Go test.
//
// # Rows
//
// Rows of one page share a partition ([PartitionKey]): META (the page and the time of its generation) and LOCK (the
// node that is regenerating, and the end of its lease). [TableInput] and [TTLInput] describe the table.
// A [Schema] describes the rows of a cache that keeps others.
//
// # Limits
//
// The package sees a DynamoDB client, a clock and a body store, and nothing of the simulator: the code that passes its
// checks is the code that runs on AWS.
package isr
