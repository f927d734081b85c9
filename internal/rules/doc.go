// Package rules is the wing of tests about this repository: which package may import which, which names are promised, what
// linters do not see, and the fake beside DynamoDB Local. No library imports any of it.
package rules
