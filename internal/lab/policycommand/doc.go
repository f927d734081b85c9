// Package policycommand is isr-sim policy: its flags and its printing. Package internal/lab has the figures.
package policycommand
