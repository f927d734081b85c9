package invariant_test

import (
	"maps"
	"time"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// t0 is when the logs begin; times in them count from here.
var t0 = time.Unix(2_000_000_000, 0).UTC()

// in is the time d after t0 in whole seconds, the form that rows hold.
func in(d time.Duration) int64 { return t0.Add(d).Unix() }

// changeLog is a change log written by hand. It keeps the rows, so that each change holds the row before it.
type changeLog struct {
	changes   []ddbfake.Change
	rows      map[place]attr.Item
	table, pk string
	region    string
	now, sent time.Time
	requests  int
	withinTx  bool
}

type place struct{ region, table, pk, sk string }

func newLog() *changeLog {
	l := &changeLog{rows: map[place]attr.Item{}}
	return l.on("cache", "CACHE#1").at(0)
}

// on moves to another key.
func (l *changeLog) on(table, pk string) *changeLog {
	l.table, l.pk = table, pk
	return l
}

// at moves to a time; later changes are sent and take effect there.
func (l *changeLog) at(d time.Duration) *changeLog {
	l.now = t0.Add(d)
	l.sent = l.now
	return l
}

// together makes one request of the following changes.
func (l *changeLog) together(parts func()) *changeLog {
	l.requests++
	l.withinTx = true
	parts()
	l.withinTx = false
	return l
}

// write changes a row of the key; a nil item deletes it.
func (l *changeLog) write(actor, sk string, item attr.Item) *changeLog {
	if !l.withinTx {
		l.requests++
	}
	return l.append(ddbfake.Change{Request: l.requests, Sent: l.sent, Actor: actor}, sk, item)
}

// sweep lets TTL delete a row.
func (l *changeLog) sweep(sk string) *changeLog {
	return l.append(ddbfake.Change{Cause: ddbfake.CauseTTL, Sent: l.now}, sk, nil)
}

func (l *changeLog) append(c ddbfake.Change, sk string, item attr.Item) *changeLog {
	at := place{l.region, l.table, l.pk, sk}
	c.Seq, c.Time, c.Region, c.Table = len(l.changes)+1, l.now, l.region, l.table
	c.Key = attr.Item{"pk": attr.S(l.pk), "sk": attr.S(sk)}
	c.Before, c.After = l.rows[at], item
	l.rows[at] = item
	l.changes = append(l.changes, c)
	return l
}

// lock writes LOCK, given the writer, the token and the end.
func (l *changeLog) lock(actor, token string, until time.Duration) *changeLog {
	return l.write(actor, "LOCK", attr.Item{"lease_token": attr.S(token), "lease_expires_at": attr.Int(in(until))})
}

// unlock deletes LOCK.
func (l *changeLog) unlock(actor string) *changeLog { return l.write(actor, "LOCK", nil) }

// meta puts META alone.
func (l *changeLog) meta(actor, body string) *changeLog {
	return l.write(actor, "META", attr.Item{
		"s3_key": attr.S(body), "generated_at": attr.Int(l.sent.Unix()), "revalidate_seconds": attr.Int(60),
	})
}

// page puts META alone. The given attributes are added to the usual ones, or replace them.
func (l *changeLog) page(actor, body string, with attr.Item) *changeLog {
	return l.write(actor, "META", l.row(body, with))
}

// row holds the attributes that META and VER rows share.
func (l *changeLog) row(body string, with attr.Item) attr.Item {
	row := attr.Item{
		"s3_key": attr.S(body), "generated_at": attr.Int(l.sent.Unix()), "revalidate_seconds": attr.Int(60),
	}
	maps.Copy(row, with)
	return row
}

// swap is the transaction of recipe B: it puts a version and the pointer to it, and deletes the lock.
func (l *changeLog) swap(actor, version string) *changeLog {
	return l.together(func() { l.version(actor, version).point(actor, version, l.sent.Sub(t0)).unlock(actor) })
}

// version puts a VER row whose body has the version's name.
func (l *changeLog) version(actor, version string) *changeLog {
	return l.write(actor, "VER#"+version, l.row(version, nil))
}

// point makes META lead to a version that was generated at the given time after t0, for an hour from now.
func (l *changeLog) point(actor, version string, generated time.Duration) *changeLog {
	return l.write(actor, "META", attr.Item{
		"current_sk": attr.S("VER#" + version), "generated_at": attr.Int(in(generated)),
		"revalidate_seconds": attr.Int(60), "ttl": attr.Int(l.now.Unix() + 3600),
	})
}

// rollback is the transaction that sets the pointer back.
func (l *changeLog) rollback(actor, version string, generated time.Duration) *changeLog {
	return l.together(func() { l.point(actor, version, generated).unlock(actor) })
}

// publish is the transaction of recipe A.
func (l *changeLog) publish(actor, body string) *changeLog {
	return l.together(func() { l.meta(actor, body).unlock(actor) })
}

const (
	second = time.Second
	nano   = time.Nanosecond
)
