// Package campaign makes many runs of a scenario, and shrinks the one that fails, with all that the command prints of them.
// Package scenario/campaign is its door for programs, and documents it.
package campaign
