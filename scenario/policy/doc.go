// Package policy keeps the values of a program in a [Cache] on virtual time, by the policies of isr-sim policy.
//
// A [Policy] has two parts: a [Lifetime] says how long a stored value is fresh, and a [Refresh] says who renders a
// value that is no longer fresh, and what the other readers get meanwhile. The command measures policies on workloads,
// with stores, tiers, prices and dashboards.
//
// The same seed gives the same result, on any number of cores.
package policy
