// Package subject defines subjects. A subject is the thing that a scenario checks: pages, locks, or idempotent calls.
// Each subject is a folder below this one. Package kernel runs the worlds of any subject, and does not ask which one it
// is.
//
// A subject has verbs for scripts ([Verb]), invariants, marks, and the state that a world keeps for it ([State]).
// [World] and [Node] are what a world and its nodes offer to a subject. [OwnTime] tells the delays and failures of a
// node that are not the fault of the code under test.
package subject
