// Package lab makes tables, files and plots of experiments with policies, for isr-sim policy.
package lab
