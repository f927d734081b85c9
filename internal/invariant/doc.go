// Package invariant is the engine of package scenario/invariant, whose documentation says what a check is given and
// what it says. Here, evidence, findings and invariants also have what only this module reads: operations on stores,
// harm, and memories for exhaustive searches.
package invariant
