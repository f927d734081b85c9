// Package base is the wing of packages that any program could use and that know nothing of caches: files that are
// written whole or not at all, states folded into 64 bits, quoting for a shell, and a guess at the word behind a
// misspelt one.
package base
