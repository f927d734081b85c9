// Package audit judges the history of a real table by the promises of package invariant, as far as DynamoDB keeps what
// they need.
//
//	judge, err := audit.New(audit.Options{Promise: invariant.Promise{MaxClockSkew: time.Second}})
//	for ... { judge.Take(&record) }   // in the order of audit.Merge
//	result := judge.Result()
//
// # Limits
//
// Rows do not say who wrote them. The token of a lock stands for its holder: a lock that is replaced by one with
// another token has changed hands. It is not known who removed a lock or published a page, so invariants that ask for
// it are not judged (Result.NotJudged).
//
// Records of one key must come in their order. A record that does not begin where the one before it ended leaves a gap:
// what happened in between is unknown, and counts as a doubt. A change and its undoing that are both missing leave no
// gap, nor do records that are missing at the end.
//
// Times are those of the records, rounded down as the source rounds them. A violation is reported only if it is one
// whatever the fraction was.
//
// Memory grows with the number of rows that exist, and not with the number of records.
package audit
