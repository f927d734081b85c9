// Package audit judges the history of a real table: what DynamoDB has kept of it in streams, exports and logs. See
// docs/AUDIT.md.
package audit
