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
	GuardVersion                      // META has the version that was seen before the origin was read (Lease.Seen); it needs no clock
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
// lead to.
//
// A row that was seen may have been deleted by TTL since, and counts for no less: a
// publish or an invalidation would have left one. It has another version then,
// because a count begins at the present second. So this guard depends neither on
// TTL nor on a clock. For the other one, a row whose time is over counts as gone,
// whether TTL has come or not: :gone is the last ttl of which that is true.
var (
	ifHeld         = "lease_expires_at > :now"
	ifVersion      = "(version = :seen OR attribute_not_exists(pk))"
	ifNoVersion    = "attribute_not_exists(version)"
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

// metaGuard is the condition on META of a publish; a nil condition is none.
type metaGuard struct {
	condition *string
	names     map[string]string
	values    map[string]types.AttributeValue
}

// onMeta is the condition on META of publishing m. The caller may add to values.
func (s *leases) onMeta(l Lease, m Meta) metaGuard {
	g := s.cfg.Guards
	if !g.has(GuardVersion) && !g.has(GuardMonotonic) {
		return metaGuard{}
	}
	values := map[string]types.AttributeValue{}
	if l.Seen > 0 && g.has(GuardVersion) {
		values[":seen"] = number(l.Seen)
	}
	if !g.has(GuardMonotonic) {
		if l.Seen > 0 {
			return metaGuard{&ifVersion, nil, values}
		}
		return metaGuard{&ifNoVersion, nil, nil} // DynamoDB wants no values rather than an empty map of them
	}
	values[":generated"], values[":gone"] = m.GeneratedAt.attribute(), s.gone().attribute()
	switch {
	case !g.has(GuardVersion):
		return metaGuard{&ifOlder, aliasTTL, values}
	case l.Seen > 0:
		return metaGuard{&ifVersionOlder, aliasTTL, values}
	default:
		return metaGuard{&ifFirstOlder, aliasTTL, values}
	}
}
