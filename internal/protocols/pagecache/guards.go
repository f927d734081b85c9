package pagecache

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/guard"
)

// AllGuards is the set of all guards.
const AllGuards = guard.Token | guard.Expiry | guard.Version | guard.Monotonic

// onLock are the guards with a condition on LOCK.
const onLock = guard.Token | guard.Expiry

func has(g, all guard.Set) bool { return g&all == all }

// These are the conditions of a publish. The SDK takes pointers, and only reads through them.
//
// TTL may have deleted the row that was seen. A missing row is no sign of another publish or an invalidation, because
// either would have left a row with another version: a count begins at the present second. So this guard depends
// neither on TTL nor on a clock. For the other guard, a row whose time is over counts as gone, whether TTL has deleted
// it or not: :gone is the last ttl that counts as gone.
var (
	ifHeld         = "lease_expires_at > :now"
	ifVersion      = "(version = :seen OR attribute_not_exists(pk))"
	ifNoVersion    = "attribute_not_exists(version)"
	ifOlder        = "(attribute_not_exists(generated_at) OR generated_at < :generated OR #ttl <= :gone)"
	ifVersionOlder = ifVersion + " AND " + ifOlder
	ifFirstOlder   = ifNoVersion + " AND " + ifOlder

	aliasTTL = map[string]string{"#ttl": attrTTL}
)

// onLease is the condition under which a publish deletes LOCK, with its values. Without a condition on LOCK, a holder
// deletes only its own lock.
func (s *leases) onLease(l Lease) (condition *string, values map[string]types.AttributeValue) {
	switch s.Guards & onLock {
	case onLock:
		return &ifOwnAndHeld, s.ownAndHeldValues(l)
	case guard.Expiry:
		return &ifHeld, map[string]types.AttributeValue{":now": s.Now().attribute()}
	default:
		return &ifOwn, map[string]types.AttributeValue{":token": text(l.Token)}
	}
}

// metaGuard is the condition of a publish on META; nil means no condition.
type metaGuard struct {
	condition *string
	names     map[string]string
	values    map[string]types.AttributeValue
}

// onMeta is the condition on META for publishing m. The caller may add to values.
func (s *leases) onMeta(l Lease, m Meta) metaGuard {
	g := s.Guards
	if !has(g, guard.Version) && !has(g, guard.Monotonic) {
		return metaGuard{}
	}
	values := map[string]types.AttributeValue{}
	if l.Seen > 0 && has(g, guard.Version) {
		values[":seen"] = number(l.Seen)
	}
	if !has(g, guard.Monotonic) {
		if l.Seen > 0 {
			return metaGuard{&ifVersion, nil, values}
		}
		return metaGuard{&ifNoVersion, nil, nil} // DynamoDB refuses an empty map of values
	}
	values[":generated"], values[":gone"] = m.GeneratedAt.attribute(), s.gone().attribute()
	switch {
	case !has(g, guard.Version):
		return metaGuard{&ifOlder, aliasTTL, values}
	case l.Seen > 0:
		return metaGuard{&ifVersionOlder, aliasTTL, values}
	default:
		return metaGuard{&ifFirstOlder, aliasTTL, values}
	}
}
