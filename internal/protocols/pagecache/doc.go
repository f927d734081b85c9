// Package pagecache is the code of the reference caches: a Cache on a Store of META and LOCK rows, and recipes A and B,
// which are Stores. Package scenario/isr/recipe is the part that users may rely on, and says how the caches behave. The
// code is here because package mutant replaces parts of it one by one.
package pagecache
