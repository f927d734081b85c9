// Package base groups the packages that any program could use and that know nothing of caches: files written completely
// or not at all, fingerprints of states, quoting for a shell, suggestions for misspelt words, and so on.
package base
