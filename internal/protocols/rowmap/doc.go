// Package rowmap translates the rows of other people's caches, as an isr.Schema says, into the rows META, LOCK, VER#
// and REQ# that checkers know. One row may become two: a page and its lock in one row become META and LOCK of one
// partition, changed by one request.
//
// A translated change has the sequence number of its original, so a finding about it names entries of the log that the
// cache wrote. Times in translated rows are exact: the fraction of a second is in a separate attribute, and Instant
// reads both. For pages that hold only the end of their freshness, there is the attribute fresh_until besides
// generated_at and revalidate_seconds.
package rowmap
