// Package pagecache is the code of the reference caches: a Cache on a Store of META and LOCK rows, and recipes A and B,
// which are Stores. Package scenario/isr/recipe has what users may rely on, and says how the caches behave; the parts
// are here because package mutant replaces them one by one.
package pagecache
