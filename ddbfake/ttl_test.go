package ddbfake_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// due returns a ttl this long after fakeclock.Epoch.
func due(after time.Duration) types.AttributeValue {
	return n(fmt.Sprint(fakeclock.Epoch.Add(after).Unix()))
}

// Expired rows are read, matched, updated and returned like any other, and TTL checks again before it deletes.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ttl-expired-items.html
func TestExpiredRowsLive(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.enableTTL()
	w.put(with(key("a", "b"), "ttl", due(0), "v", n("1")))
	w.clock.Advance(time.Minute)
	rows := w.db.Expired()
	if want := []ddbfake.Row{
		{Region: ddbfake.DefaultRegion, Table: "cache", Key: fromSDK(t, key("a", "b")), Due: fakeclock.Epoch},
	}; fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v", rows, want)
	}
	query, err := w.c.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String("cache"), KeyConditionExpression: aws.String("pk = :a"),
		ExpressionAttributeValues: values{":a": s("a")},
	})
	if err != nil || query.Count != 1 {
		t.Errorf("Query: got %v, %v, want the row", query, err)
	}
	_, err = w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), ConditionExpression: aws.String("v = :one"),
		UpdateExpression: aws.String("SET #ttl = :later"), ExpressionAttributeNames: map[string]string{"#ttl": "ttl"},
		ExpressionAttributeValues: values{":one": n("1"), ":later": due(time.Hour)},
	})
	if err != nil {
		t.Fatalf("conditional update: %v", err)
	}
	if w.db.Sweep(rows[0]) || w.get(key("a", "b")) == nil {
		t.Error("raising the ttl in time did not save the row")
	}
	if got := w.db.Expired(); len(got) != 0 {
		t.Errorf("still expired after raising the ttl: %v", got)
	}
	if w.db.Sweep(ddbfake.Row{Table: "nowhere", Key: rows[0].Key}) ||
		w.db.Sweep(ddbfake.Row{Table: "cache", Key: attr.Item{}}) {
		t.Error("swept a row that is not there")
	}
	w.clock.Advance(2 * time.Hour)
	if got := w.db.SweepExpired(); got != 1 || w.get(key("a", "b")) != nil {
		t.Errorf("SweepExpired: got %d, want 1 and the row gone", got)
	}
	if w.db.Sweep(rows[0]) {
		t.Error("swept a row twice")
	}
}

func TestSweepOrder(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	table(t, w.db, "bodies", "pk", "S", "sk", "S")
	must.Done(t)(w.c.UpdateTimeToLive(t.Context(), ttlOn("bodies")))
	w.put(with(key("b", "x"), "ttl", due(1*time.Second)), with(key("a", "x"), "ttl", due(1*time.Second)),
		with(key("c", "x"), "ttl", due(0)))
	// TTL also deletes rows that were written before it was enabled.
	w.enableTTL()
	must.Done(t)(w.c.PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String("bodies"), Item: with(key("z", "x"), "ttl", due(1*time.Second))}))
	w.clock.Advance(time.Minute)
	var got []string
	for _, r := range w.db.Expired() {
		pk, _ := r.Key.Str("pk")
		got = append(got, r.Table+"/"+pk)
	}
	want := []string{"cache/c", "bodies/z", "cache/a", "cache/b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("by due time, table, key (-want +got):\n%s", d)
	}
	if got := w.db.SweepExpired(); got != 4 {
		t.Errorf("swept %d, want 4", got)
	}
}

// The same thing happens under every lag: a row has a ttl one hour after the start.
func TestLags(t *testing.T) {
	for _, tc := range []struct {
		lag     ddbfake.Lag
		deleted time.Duration // after the start; 0: never
		expired bool          // whether Sweep would
	}{
		{ddbfake.LagManual, 0, true},
		{ddbfake.LagNever, 0, false},
		{ddbfake.LagAtOnce, time.Hour + time.Second, true},
		{ddbfake.LagFixed(10 * time.Minute), time.Hour + time.Second + 10*time.Minute, true},
		{ddbfake.LagFixed(6 * 365 * 24 * time.Hour), 0, true},
	} {
		t.Run(tc.lag.String(), func(t *testing.T) {
			w := newWorld(t, tc.lag)
			w.enableTTL()
			w.put(with(key("a", "b"), "ttl", due(time.Hour)))
			start := w.db.Snapshot()
			if tc.deleted == 0 {
				w.clock.Advance(time.Hour + time.Second)
				if got := len(w.db.Expired()) == 1; got != tc.expired {
					t.Errorf("expired: got %v, want %v", got, tc.expired)
				}
				if got := w.db.SweepExpired() == 1; got != tc.expired {
					t.Errorf("swept: got %v, want %v", got, tc.expired)
				}
				w.db.Restore(start)
				w.clock.Advance(24 * time.Hour)
				if w.get(key("a", "b")) == nil {
					t.Error("deleted although it is never to be")
				}
				return
			}
			w.clock.AdvanceTo(fakeclock.Epoch.Add(tc.deleted - 1))
			if w.get(key("a", "b")) == nil {
				t.Error("deleted too early")
			}
			w.clock.Advance(1)
			if w.get(key("a", "b")) != nil {
				t.Error("not deleted in time")
			}
			// Two days pass without a call. The log still has the time at which the row was deleted.
			w.db.Restore(start)
			w.clock.Advance(48 * time.Hour)
			changes := w.db.Changes()
			last := changes[len(changes)-1]
			want := fmt.Sprintf("%d ttl %q %v", 0, "", fakeclock.Epoch.Add(tc.deleted))
			if got := fmt.Sprintf("%d %v %q %v", last.Request, last.Cause, last.Actor, last.Time); got != want {
				t.Errorf("change: got %s, want %s", got, want)
			}
			if last.After != nil || !last.Before.Equal(fromSDK(t, with(key("a", "b"), "ttl", due(time.Hour)))) ||
				!last.Key.Equal(fromSDK(t, key("a", "b"))) {
				t.Errorf("change: got key %v, before %v, after %v", last.Key, last.Before, last.After)
			}
		})
	}
}

// Under LagAtOnce, a row that is expired when it is written is deleted at once, and the log stays in the order of time.
func TestLagOfRowsBornExpired(t *testing.T) {
	w := newWorld(t, ddbfake.LagAtOnce)
	w.enableTTL()
	w.clock.Advance(time.Hour)
	w.put(with(key("a", "b"), "ttl", due(time.Minute)))
	if w.get(key("a", "b")) != nil {
		t.Error("the row is still there")
	}
	changes := w.db.Changes()
	if len(changes) != 2 || changes[1].Cause != ddbfake.CauseTTL || changes[1].Time.Before(changes[0].Time) {
		t.Errorf("got %v, want a write and then a deletion", changes)
	}
}

// Rows that expired before TTL was enabled are deleted when it is enabled. At equal instants, the order is that of
// tables and keys.
func TestLagOfEnabling(t *testing.T) {
	w := newWorld(t, ddbfake.LagAtOnce)
	table(t, w.db, "bodies", "pk", "S", "sk", "S")
	w.put(with(key("b", "x"), "ttl", due(0)), with(key("a", "x"), "ttl", due(0)))
	must.Done(t)(w.c.PutItem(t.Context(),
		&dynamodb.PutItemInput{TableName: aws.String("bodies"), Item: with(key("z", "x"), "ttl", due(2*time.Hour))}))
	w.put(with(key("c", "x"), "ttl", due(2*time.Hour)))
	w.clock.Advance(time.Hour)
	for _, name := range []string{"cache", "bodies"} {
		must.Done(t)(w.c.UpdateTimeToLive(t.Context(), ttlOn(name)))
	}
	w.clock.Advance(24 * time.Hour)
	var got []string
	for _, c := range w.db.ChangesSince(4) {
		pk, _ := c.Key.Str("pk")
		got = append(got, fmt.Sprintf("%s/%s at %v", c.Table, pk, c.Time.Sub(fakeclock.Epoch)))
	}
	want := []string{"cache/a at 1h0m0s", "cache/b at 1h0m0s", "bodies/z at 2h0m1s", "cache/c at 2h0m1s"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("deletions (-want +got):\n%s", d)
	}
}

func TestSetLag(t *testing.T) {
	w := newWorld(t, ddbfake.LagNever)
	w.enableTTL()
	w.put(with(key("a", "b"), "ttl", due(0)))
	w.clock.Advance(time.Hour)
	if w.db.SweepExpired() != 0 || w.db.Sweep(ddbfake.Row{Table: "cache", Key: fromSDK(t, key("a", "b"))}) {
		t.Error("swept under never")
	}
	w.db.SetLag(ddbfake.LagAtOnce)
	if w.get(key("a", "b")) != nil {
		t.Error("not deleted under at-once")
	}
}

func TestParseLag(t *testing.T) {
	for _, l := range []ddbfake.Lag{{}, ddbfake.LagManual, ddbfake.LagNever, ddbfake.LagAtOnce, ddbfake.LagFixed(0),
		ddbfake.LagFixed(-1), ddbfake.LagFixed(36*time.Hour + time.Millisecond),
		ddbfake.LagUniform(time.Minute, 48*time.Hour), ddbfake.LagUniform(-1, -2),
		ddbfake.LagExponential(10 * time.Minute), ddbfake.LagExponential(0),
		ddbfake.LagPerItem("lag_seconds"), ddbfake.LagPerItem("two words")} {
		if got, err := ddbfake.ParseLag(l.String()); err != nil || got != l {
			t.Errorf("%v: got %v, %v after a round trip", l, got, err)
		}
	}
	const forms = "manual, never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or per-item with the name of " +
		"an attribute"
	for _, tc := range []struct{ text, want string }{
		{"", `ttl lag "": want ` + forms},
		{"soon", `ttl lag "soon": want ` + forms},
		{"never 1m", `ttl lag "never 1m": want ` + forms},
		{"uniform 1m", `ttl lag "uniform 1m": want ` + forms},
		{"uniform 2m 1m", `ttl lag "uniform 2m 1m": 1m is less than 2m; want the shortest lag first`},
		{"uniform -1m 1m", `ttl lag "uniform -1m 1m": -1m is negative; want zero or more`},
		{"exponential -1m", `ttl lag "exponential -1m": -1m is negative; want zero or more`},
		{"exponential 0s", `ttl lag "exponential 0s": the mean is zero; want more, or at-once`},
		{"exponential", `ttl lag "exponential": want ` + forms},
		{`per-item ""`, `ttl lag "per-item \"\"": "" names no attribute`},
		{`per-item "open`, `ttl lag "per-item \"open": found "open, want a closing quote`},
		{"fixed ten", `ttl lag "fixed ten": "ten" is not a duration such as 10m or 48h`},
		{"fixed -1m", `ttl lag "fixed -1m": -1m is negative; want zero or more`},
	} {
		if _, err := ddbfake.ParseLag(tc.text); err == nil || err.Error() != tc.want {
			t.Errorf("got %v, want %s", err, tc.want)
		}
	}
}

// NextDeletion returns the first instant at which a row is gone, and there is one until the last row is gone.
func TestNextDeletion(t *testing.T) {
	for _, tc := range []struct {
		lag  ddbfake.Lag
		want []time.Duration // since the epoch; the rows are due after 10 s and 20 s
	}{
		{ddbfake.LagManual, nil},
		{ddbfake.LagNever, nil},
		{ddbfake.LagAtOnce, []time.Duration{11 * time.Second, 21 * time.Second}},
		{ddbfake.LagFixed(time.Hour), []time.Duration{time.Hour + 11*time.Second, time.Hour + 21*time.Second}},
		{ddbfake.LagFixed(6 * 365 * 24 * time.Hour), nil}, // by then TTL takes both ttls for mistakes
	} {
		w := lagWorld(t, tc.lag, 0, 0)
		w.put(with(key("a", "1"), "ttl", due(10*time.Second)),
			with(key("a", "2"), "ttl", due(20*time.Second)), key("a", "3"))
		var got []time.Duration
		for at, ok := w.db.NextDeletion(w.clock.Now()); ok; at, ok = w.db.
			NextDeletion(w.clock.Now()) {
			rows := len(w.db.Items("cache"))
			w.clock.AdvanceTo(at.Add(-1))
			if n := len(w.db.Items("cache")); n != rows {
				t.Fatalf("%v: %d of %d rows are left before %v", tc.lag, n, rows, at)
			}
			w.clock.AdvanceTo(at)
			if n := len(w.db.Items("cache")); n != rows-1 {
				t.Fatalf("%v: %d of %d rows are left at %v", tc.lag, n, rows, at)
			}
			got = append(got, at.Sub(fakeclock.Epoch))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%v: deletions (-want +got):\n%s", tc.lag, diff)
		}
	}
}

// Every row is deleted at the time that NextDeletion returned, even under a random lag.
func TestNextDeletionOfRandomLags(t *testing.T) {
	for _, lag := range []ddbfake.Lag{ddbfake.LagUniform(time.Minute, time.Hour), ddbfake.LagExponential(time.Hour)} {
		w := lagWorld(t, lag, 7, 50)
		gone := 0
		for at, ok := w.db.NextDeletion(w.clock.Now()); ok; at, ok = w.db.
			NextDeletion(w.clock.Now()) {
			w.clock.AdvanceTo(at)
			w.db.Items("cache")
			order, _ := w.deletions()
			if len(order) <= gone {
				t.Fatalf("%v: no row goes at %v", lag, at)
			}
			gone = len(order)
		}
		if gone != 50 {
			t.Errorf("%v: %d of 50 rows were said to go", lag, gone)
		}
	}
}
