// Package isr says what a cache with incremental static regeneration on DynamoDB
// is to the simulator: pages are served from the cache while they are fresh, and
// made again by one machine at a time.
//
// A cache is a [Handler], made from a [Config] by the New of a [Protocol]:
//
//	protocol := isr.Protocol{
//		Name:    "ours",
//		Summary: "the cache of our shop",
//		New:     func(cfg isr.Config) (isr.Handler, error) { return shop.NewCache(cfg.Client, cfg.Clock) },
//	}
//
// Package recipe has the reference caches. Package property checks a cache from a
// Go test.
//
// # Rows
//
// Rows of one page share a partition ([PartitionKey]): META (what was generated,
// and when) and LOCK (who is regenerating, and until when). [TableInput] and
// [TTLInput] describe the table.
//
// # Limits
//
// The package sees a DynamoDB client, a clock and a body store, and nothing of the
// simulator: what passes its checks is the code that would run on AWS. It imports
// package history for the one type of Config.Observe, plain values that say what a
// node did to its store: a checker needs them in the same form from every cache.
package isr
