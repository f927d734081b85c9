// Package rules is the wing of tests about this repository: imports, promised names, checks that linters lack, and the
// fake beside DynamoDB Local. No library imports any of it.
package rules
