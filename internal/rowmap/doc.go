// Package rowmap translates the rows of other people's caches into the rows META, LOCK, VER# and REQ# that checkers
// know, as an isr.Schema says. One row may become two: a page and a lock in one row become META and LOCK of one
// partition, changed by one request.
//
// A translated change has the sequence number of the change that it comes from, so a finding about it names entries of
// the log that the cache has written. Numbers of seconds in translated rows may have a fraction, which Instant reads.
// The attribute fresh_until stands beside generated_at and revalidate_seconds, for pages that hold the end of their
// freshness only.
package rowmap
