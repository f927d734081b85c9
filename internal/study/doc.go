// Package study has the experiments with many runs. They explore worlds for hours, explain which step decided a
// violation, compare the fake with a real DynamoDB, run nodes in parallel, and test the tester.
package study
