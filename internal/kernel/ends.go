package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/trace/request"
)

// With sim.UnreadDeadlines a search assumes that the ttl of LOCK rows is not looked at: by no code of a node, by no
// expression in a request, and by no invariant. This file has the instants at which time then need not stop. It also
// finds the code and the expressions that look after all.

// noteTTL makes time stop at the ttl of a row. If no code looks at it, it matters only that the row may be deleted from
// the second after it on: by the schedule, or by a lag at whose end no time stops (see sweeper.Next).
func (w *world) noteTTL(key, row attr.Item) {
	if at, has := row.Int(defaultTTL); has && w.ttl != defaultTTL {
		w.deadlines.add(at)
	}
	ttl, has := row.Int(w.ttl)
	if !has {
		return
	}
	if sk, _ := key.Str("sk"); rowmap.RoleOf(sk) != rowmap.Lock || !w.unread {
		w.deadlines.add(ttl)
		return
	}
	w.deadlines.unread = insertStops(w.deadlines.unread, ttl-1, ttl+1)
	if w.scenario.Lag.Scheduler || len(w.scenario.CompareLags) > 0 {
		w.deadlines.at = insertStops(w.deadlines.at, ttl+1, ttl+1)
	}
}

// notePassed notes, for a search, the times in a row at which time does not stop: its ttl if TTL never deletes, and
// those of the code's own.
func (w *world) notePassed(row attr.Item) {
	now := w.clock.Now().Add(w.scenario.Skew)
	//isrsim:unordered each by itself
	for name, value := range row {
		at, is := instantOf(value)
		switch {
		case !is || !at.After(now) || at.After(now.AddDate(10, 0, 0)):
		case name == w.ttl:
			if _, number := value.(attr.N); number && w.scenario.Lag == (Lag{Fixed: ddbfake.LagNever}) {
				w.subjects[hooks.NeverDeleted] = true
			}
		case !w.deadlines.near(at):
			w.subjects[hooks.Passed+name] = true
		}
	}
}

// instantOf reads a value that looks like a time of these years, in any unit.
func instantOf(value attr.Value) (at time.Time, is bool) {
	text := ""
	switch v := value.(type) {
	case attr.S:
		text = string(v)
	case attr.N:
		text = v.String()
	}
	for _, unit := range []string{"s", "ms", "us", "ns", "iso8601"} {
		if len(text) < 10 { // as it is since 2001
			break
		}
		if at, is = rowmap.Parse(text, unit); is && at.Year() < 9999 {
			return at, true
		}
	}
	return time.Time{}, false
}

// near says whether time stops within a second of an instant.
func (d *deadlines) near(at time.Time) bool {
	second := func(stop int64) bool { return stop-1 <= at.Unix() && at.Unix() <= stop+1 }
	return slices.ContainsFunc(d.at, second) || slices.ContainsFunc(d.unread, second) ||
		slices.ContainsFunc(d.fine, func(nanos int64) bool { return time.Unix(0, nanos).Sub(at).Abs() <= time.Second })
}

// Idle implements sim.Idle. The last stop of all is not idle: code may compare the clock with an instant of its own,
// such as some time after the end of a lease, and there time is past it.
func (d *deadlines) Idle(t time.Time) bool {
	_, unread := slices.BinarySearch(d.unread, t.Unix())
	_, read := slices.BinarySearch(d.at, t.Unix())
	return unread && !read && !slices.Contains(d.fine, t.UnixNano()) && t.Nanosecond() == 0 && t.Unix() != d.last() &&
		!slices.ContainsFunc(d.windows, t.Equal)
}

// last returns the last second at which time stops if its only reason is a hidden deadline; else 0.
func (d *deadlines) last() int64 {
	n, unread := len(d.at), len(d.unread)
	if unread == 0 || n > 0 && d.at[n-1] >= d.unread[unread-1] {
		return 0
	}
	return d.unread[unread-1]
}

// Veiled implements sim.Veiled by other values for the ttl of LOCK rows: a second from now, now, and a second ago, by
// true time and by the node's clock, for the skipped instants; long ago and not a number, for code that reads it in
// another way.
func (r *storeRequest) Veiled(answer any, now, local time.Time) (veiled []any) {
	a, is := answer.(storeAnswer)
	if !is || !r.node.world.unread {
		return nil
	}
	values := []types.AttributeValue{&types.AttributeValueMemberN{Value: "1"},
		&types.AttributeValueMemberS{Value: "veiled"}}
	around := func(at time.Time) {
		for _, d := range []int64{1, 0, -1} {
			values = append(values, &types.AttributeValueMemberN{Value: strconv.FormatInt(at.Unix()+d, 10)})
		}
	}
	if around(now); r.node.world.skewed {
		around(local)
	}
	for _, ttl := range values {
		out, found, err := request.WithLockTTL(a.out, a.err, ttl)
		if !found {
			return nil
		}
		print, _ := request.AnswerFingerprint(out, err, request.AsItIs)
		veiled = append(veiled, storeAnswer{out, err, print})
	}
	return veiled
}

// ends follows the deadlines of leases and of freshness in rows, for a search that reports the deadlines that it met.
type ends struct {
	met      hooks.Ends // nil if nobody needs them
	standing []standing // replaced, and never changed: moments that are kept share it
}

// endOf names an end by the region and the partition of its row.
type endOf struct {
	region, pk string
	lock       bool // false for the page
}

// standing is the end that a row holds now.
type standing struct {
	row       endOf
	of        hooks.End
	at, exact time.Time // as the row says, and counted from the write without rounding
}

// find returns the deadline in a row, or the zero end.
func (e *ends) find(row endOf) standing {
	for _, s := range e.standing {
		if s.row == row {
			return s
		}
	}
	return standing{}
}

// noteEnd notes the end of a lease or of freshness that a change of a row sets.
func (w *world) noteEnd(c *ddbfake.Change) {
	if w.ends.met == nil {
		return
	}
	pk, _ := c.Key.Str("pk")
	sk, _ := c.Key.Str("sk")
	role := rowmap.RoleOf(sk)
	if role&(rowmap.Page|rowmap.Lock) == 0 {
		return
	}
	row := endOf{c.Region, pk, role == rowmap.Lock}
	was := w.ends.find(row)
	w.ends.standing = slices.DeleteFunc(slices.Clone(w.ends.standing), func(s standing) bool { return s.row == row })
	now := standing{row: row, of: hooks.End{Page: w.pageOf(pk)}, exact: c.Time.Add(w.scenario.Cache.Revalidate)}
	known := false
	if row.lock {
		now.exact = c.Time.Add(w.scenario.Cache.Lease)
		now.at, known = rowmap.Instant(c.After, "lease_expires_at")
		now.of.Actor = w.actorOf(c.Actor)
		token, _ := c.After.Str("lease_token")
		if before, _ := c.Before.Str("lease_token"); before == token && was.of.Actor != "" {
			now.of.Actor = was.of.Actor
		}
	} else {
		now.at, known = w.freshUntil(c.After)
	}
	if known && !w.quiet {
		w.ends.standing = append(w.ends.standing, now)
		w.ends.met.Note(now.of)
	}
}

// meetEnds notes the ends that a request met. It looks at the rows before the changes of the request.
func (w *world) meetEnds(r *storeRequest) {
	if w.ends.met == nil || w.quiet || w.struck != 0 && !takesEffect(w.struck) {
		return
	}
	for _, p := range w.deadlines.parts {
		if p.actor != r.call.Actor && hooks.Rounds(p.end, r.call.Sent, true) {
			w.subjects[hooks.MeetsParts] = true
		}
	}
	region := cmp.Or(r.call.Region, ddbfake.DefaultRegion)
	meet := func(row endOf) {
		if s := w.ends.find(row); s.row == row {
			w.ends.met.Meet(s.of, s.at, s.exact, r.call.Sent)
		}
	}
	w.db.Rows(r.call, func(table string, key map[string]types.AttributeValue) {
		pk, roles := w.rows.place(&table, key)
		if roles.Has(rowmap.Lock) {
			meet(endOf{region, pk, true})
		}
		if roles.Has(rowmap.Page) {
			meet(endOf{region, pk, false})
		}
	})
}

// pageOf names the page of a partition. If there is only one page, the row belongs to it, whatever key the cache gives
// it.
func (w *world) pageOf(pk string) string {
	if name, known := w.keys.NameOf(pk); known {
		return name
	}
	if all := w.keys.all(); len(all) == 1 {
		return all[0].String()
	}
	return pk
}

// actorOf is the actor of a client, without the number of the incarnation: alice for alice.2.
func (w *world) actorOf(client string) string {
	for i := range w.scenario.Actors {
		if name := w.scenario.Actors[i].Name; client == name || strings.HasPrefix(client, name+".") {
			return name
		}
	}
	return client
}
