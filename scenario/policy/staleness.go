package policy

import "time"

// Staleness returns the two figures that are often taken for one, for data that changes at a rate a second (Poisson)
// and values that are kept for an absolute lifetime. atExpiry is the chance that the data has changed when the lifetime
// ends, 1 - exp(-WT); the rule of thumb for it is WT. overReads is the share of hits that see outdated data,
// 1 - (1 - exp(-WT))/(WT): reads come at all times of the lifetime, and early ones are rarely too late.
func Staleness(changes float64, lifetime time.Duration) (atExpiry, overReads float64) {
	t := lifetime.Seconds()
	return outdatedAtExpiry(changes, t), 1 - freshShare(changes*t)
}
