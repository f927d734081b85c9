// Package policy answers questions about lifetimes with figures: how fresh a cache is under a policy, how cheap, and
// how many readers render at once.
//
// An [Experiment] plays a [Workload] (reads of keys and changes of their data, on virtual time) against a cache that
// keeps its rows by a [Policy]. A policy has two parts: a [Lifetime] decides how long a stored value is fresh, and a
// [Refresh] decides who renders a value that is no longer fresh, and what the other readers get meanwhile. One run
// gives a [Result]; [Experiment.Repeat] runs several seeds and gives every [Measure] with its confidence interval.
//
// # Limits
//
// A request to the store takes a fixed time and never fails, and its effect is seen by the next request: this package
// counts, and the simulator of package scenario judges what happens between the requests. Nodes have one exact clock.
//
// One seed gives one result, on any number of cores. Exponential draws are made of integers alone, so they are the same
// on every machine. Pareto delays and Zipf's weights go through math.Pow, whose last bit may differ between families of
// processors; delays are cut to microseconds, so a difference appears about once in 10^9 draws.
package policy
