// Package isr defines how the simulator sees a cache with incremental static regeneration on DynamoDB: pages are served
// from the cache while they are fresh, and made again by one machine at a time.
//
// A cache is a [Handler]. The function New of a [Protocol] makes it from a [Config]:
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
// node that is regenerating, and the end of its lease). [TableInput] and [TTLInput] describe the table. If a cache
// keeps other rows, a [Schema] describes them.
//
// # Limits
//
// A cache gets a DynamoDB client, a clock and a body store, and sees nothing of the simulator. So the code that passes
// the checks is the code that runs on AWS.
package isr
