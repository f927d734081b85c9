package isr

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Guards are the conditions under which a page is published: what keeps a writer
// that has been overtaken from overwriting what is newer. All nodes of a cache
// have the same.
//
// No single one of them is enough:
//   - the token alone lets a lease be used that is over, as long as nobody has taken it; and until TTL comes, which
//     then decides;
//   - the expiry alone is satisfied by anybody's lease: whoever took over is robbed of lock and page;
//   - the version alone does not ask for a lease: a publish as late as you like goes through if no other came first,
//     and whoever holds the lease by then works in vain;
//   - the order of generated_at alone does not either, and takes clocks for equal: a writer whose clock is ahead
//     shuts out everybody else until their clocks have come as far.
type Guards uint8

// The guards. Token and expiry together are the default, and what the seeds of recipe A ask for.
const (
	GuardToken     Guards = 1 << iota // LOCK carries the publisher's token
	GuardExpiry                       // the lease in LOCK is not over, by the publisher's clock when it sends
	GuardVersion                      // META has the version that was seen before the origin was read; it needs no clock
	GuardMonotonic                    // META was generated earlier, by at least a second
)

// AllGuards is every guard.
const AllGuards = GuardToken | GuardExpiry | GuardVersion | GuardMonotonic

// onLock are the guards whose condition is on LOCK.
const onLock = GuardToken | GuardExpiry

var guardNames = []string{"token", "expiry", "version", "monotonic"}

// String lists the guards: "token+expiry".
func (g Guards) String() string {
	var names []string
	for i, name := range guardNames {
		if g&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, "+")
}

func (g Guards) has(all Guards) bool { return g&all == all }

// The conditions of a publish. The SDK takes pointers, and only reads what they
// lead to. A row whose time is over counts as gone, whether TTL has come or not:
// :gone is the last ttl of which that is true.
var (
	ifHeld         = "lease_expires_at > :now"
	ifVersion      = "version = :seen AND (attribute_not_exists(#ttl) OR #ttl > :gone)"
	ifNoVersion    = "(attribute_not_exists(version) OR #ttl <= :gone)"
	ifOlder        = "(attribute_not_exists(generated_at) OR generated_at < :generated OR #ttl <= :gone)"
	ifVersionOlder = ifVersion + " AND " + ifOlder
	ifFirstOlder   = ifNoVersion + " AND " + ifOlder

	aliasTTL = map[string]string{"#ttl": attrTTL}
)

// onLease is the condition under which a publish deletes LOCK, with its values.
// Who asks nothing of LOCK deletes his own.
func (s *leases) onLease(l Lease) (condition *string, values map[string]types.AttributeValue) {
	switch s.cfg.Guards & onLock {
	case onLock:
		return &ifOwnAndHeld, s.ownAndHeldValues(l)
	case GuardExpiry:
		return &ifHeld, map[string]types.AttributeValue{":now": s.Now().attribute()}
	default:
		return &ifOwn, map[string]types.AttributeValue{":token": text(l.Token)}
	}
}

// onMeta is the condition on META of publishing m, with its values; nil if there
// is none. All of its values are in values, which the caller may add to.
func (s *leases) onMeta(m Meta) (condition *string, values map[string]types.AttributeValue) {
	g := s.cfg.Guards
	if !g.has(GuardVersion) && !g.has(GuardMonotonic) {
		return nil, nil
	}
	values = map[string]types.AttributeValue{":gone": s.gone().attribute()}
	if g.has(GuardMonotonic) {
		values[":generated"] = m.GeneratedAt.attribute()
	}
	if seen := m.Version - 1; g.has(GuardVersion) && seen > 0 {
		values[":seen"] = number(seen)
		if g.has(GuardMonotonic) {
			return &ifVersionOlder, values
		}
		return &ifVersion, values
	}
	switch {
	case g.has(GuardVersion | GuardMonotonic):
		return &ifFirstOlder, values
	case g.has(GuardVersion):
		return &ifNoVersion, values
	default:
		return &ifOlder, values
	}
}
