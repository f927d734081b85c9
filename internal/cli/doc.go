// Package cli has the parts that the commands of isr-sim share: exit codes and their errors, checks of arguments, the
// messages about wrong flags, and an output that remembers a failure.
package cli
