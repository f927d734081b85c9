// Package protocols has page caches as code: the reference, a broken cache for each mutant, a cache for each policy of
// expiry, and the translation of other people's rows into the reference's.
package protocols
