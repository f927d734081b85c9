package scenario

import (
	"slices"

	"github.com/isr-sim/isr-sim/ddbfake"
)

// Mark names an event that a run can reach. A campaign that never reaches the marks of its scenario has tested nothing,
// and fails.
type Mark string

// The marks, in the order in which reports print them. Every kind of fault, and every fault of a dependency, is a mark
// too, by its own name.
const (
	Published   Mark = "published"    // META showed another page than before
	ServedFresh Mark = "served-fresh" // a page was served that the cache held to be fresh

	LockTakenOver   Mark = "lock-taken-over"  // a lease that was over was taken by another node
	LockRefused     Mark = "lock-refused"     // an acquire met a lease that was held
	PublishRefused  Mark = "publish-refused"  // a publish found that its lease was lost
	OwnCommitMet    Mark = "own-commit-met"   // a lock's put, sent again after a lost response, met its own row
	ServedStale     Mark = "served-stale"     // a page was served that the cache knew to be stale
	ExpiredRowRead  Mark = "expired-row-read" // a row was read past its ttl, not deleted yet
	TTLDeletion     Mark = "ttl-deletion"     // TTL deleted a row
	LeaseRefreshed  Mark = "lease-refreshed"  // a holder extended its lease
	RolledBack      Mark = "rolled-back"      // a page went back to an older version
	PageInvalidated Mark = "page-invalidated" // a client was told that a page is not fresh any more
	RequestRepeated Mark = "request-repeated" // a regeneration found that it had been asked for before
	NodePaused      Mark = "pause"            // a node stopped and ran on later
	NodeCrashed     Mark = "crash"            // a node lost its memory
	NodeRestarted   Mark = "restart"          // a crashed node came back
	ClockSet        Mark = "clock-step"       // a node's clock was set
	SkewBroken      Mark = "skew-broken"      // a node's clock was off by more than promised
	CutOff          Mark = cutOffKind         // a request of a machine that is cut off did not arrive
	SlowAnswer      Mark = latencyKind        // an answer was late
	OrphanTookPlace Mark = "orphaned-request" // a request took effect after its sender had crashed

	HoldTaken      Mark = "hold-taken"      // a script's hold took its lock
	HoldContended  Mark = "hold-contended"  // a lock was asked for while another node's script held it
	HoldTakenOver  Mark = "hold-taken-over" // a lock was taken although an earlier holder had not given it back
	HoldLost       Mark = "hold-lost"       // a holder was told that it had lost its lock
	HoldExtended   Mark = "hold-extended"   // a holder got another lease
	GuardedWritten Mark = "guarded-write"   // a holder wrote what its lock guards
	GuardedRefused Mark = "guarded-refused" // a late write was refused for its fencing token
	GuardedLate    Mark = "guarded-late"    // a late write took effect, which no lock without fencing tokens can prevent
)

// Marks returns every mark in the order in which reports print them.
func Marks() []Mark { return slices.Clone(allMarks) }

var allMarks = func() []Mark {
	marks := []Mark{
		Published, ServedFresh, LockTakenOver, LockRefused, PublishRefused, OwnCommitMet, ServedStale, ExpiredRowRead, TTLDeletion, LeaseRefreshed,
		RolledBack, PageInvalidated, RequestRepeated, NodePaused, NodeCrashed, NodeRestarted, ClockSet, SkewBroken, CutOff, SlowAnswer, OrphanTookPlace,
		HoldTaken, HoldContended, HoldTakenOver, HoldLost, HoldExtended, GuardedWritten, GuardedRefused, GuardedLate,
	}
	for _, kind := range ddbfake.FaultKinds() {
		marks = append(marks, Mark(kind.String()))
	}
	for _, fault := range DependencyFaults() {
		marks = append(marks, Mark(fault))
	}
	return marks
}()
