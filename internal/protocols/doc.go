// Package protocols is the wing of page caches as code: the reference, one with a bug for each mutant, one for each policy of
// expiry, and the translation of other people's rows into the reference's.
package protocols
