// Package subject says what a subject is: what a scenario checks, such as pages, locks, or idempotent calls. Each
// subject is a folder below this one. Package scenario runs the worlds of any subject, and does not ask which one it
// is.
//
// A subject has verbs for scripts ([Verb]), invariants, marks, and the state that a world keeps for it ([State]). What
// a world and its nodes offer to it is in [World] and [Node]. [OwnTime] says for which delays and failures of a node
// the code under test is not to blame.
package subject
