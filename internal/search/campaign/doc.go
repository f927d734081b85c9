// Package campaign makes many runs of a scenario, and shrinks the one that fails. It computes all that the command
// prints about them.
package campaign
