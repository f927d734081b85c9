// Package rules groups the tests of this repository itself: imports, promised names, checks that linters lack, and the
// fake compared with DynamoDB Local. No library imports any of it.
package rules
