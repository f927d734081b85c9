// Package rowmap translates the rows of other people's caches into the rows META, LOCK, VER# and REQ# that checkers
// know, as an isr.Schema says. One row may become two: a page and a lock in one row become META and LOCK of one
// partition, changed by one request.
//
// A translated change has the sequence number of the change that it comes from, so a finding about it names entries of
// the log that the cache has written. Times in translated rows are exact: the fraction of a second stands in an
// attribute of its own, and Instant reads both. The attribute fresh_until stands beside generated_at and
// revalidate_seconds, for pages that hold the end of their freshness only.
package rowmap
