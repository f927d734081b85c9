// Package base is the wing of what any program could use and knows nothing of caches: files that are written whole or not
// at all, states folded into 64 bits, quoting for a shell, the word that was meant by a misspelt one.
package base
