// Package study is the wing of experiments with many runs: to explore worlds for hours, to explain the step that
// decided a violation, to compare with a real DynamoDB, to run nodes in parallel, and to test the tester.
package study
