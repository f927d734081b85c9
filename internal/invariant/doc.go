// Package invariant is the engine of package scenario/invariant, whose documentation says what a check is given and
// what it returns. The evidence, findings and invariants here have further parts that only this module reads:
// operations on stores, harm, and memories for exhaustive searches.
package invariant
