// Package study is the wing of what one does with many runs: explore worlds for hours, explain the step that decided a
// violation, compare with a real DynamoDB, run nodes in parallel, and test the tester.
package study
