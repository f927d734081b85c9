// Package cli has the parts that the commands of isr-sim share: exit codes and their errors, checks of arguments, the
// wording of wrong flags, and an output that remembers that it failed.
package cli
