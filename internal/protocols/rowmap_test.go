package protocols_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// one is a cache with one row per page, and its own names.
var one = isr.Schema{Rows: []isr.Row{{
	Partition: "id = page#{key}", Body: "html", Generated: "updated_at ms", Token: "locked_by",
	Expires: "locked_until ms", TTL: "expires",
}}}

type items = attr.Item

func s(text string) attr.S { return attr.S(text) }
func n(i int64) attr.N     { return attr.Int(i) }

// decimal is a number with a fraction.
func decimal(text string) attr.N {
	number, err := attr.ParseNumber(text)
	if err != nil {
		panic(err)
	}
	return attr.N{Number: number}
}

// with returns an item with the key's attributes added.
func with(key, row attr.Item) attr.Item {
	if row == nil {
		return nil
	}
	all := attr.Item{}
	for name, v := range key {
		all[name] = v
	}
	for name, v := range row {
		all[name] = v
	}
	return all
}

// fractions are the names of attributes with the fractions of times.
var fractions = regexp.MustCompile(`"(\w+\.nanos)"`)

// story is a change log written by hand.
type story struct {
	t    *testing.T
	rows *rowmap.Translator
	last map[string]attr.Item
	seq  int
	now  time.Time

	log, translated []ddbfake.Change
}

func newStory(t *testing.T, schema isr.Schema) *story {
	t.Helper()
	m := must.Of(rowmap.New(schema))(t)
	l := &story{t: t, rows: m.Translator(), last: map[string]attr.Item{}, now: time.Unix(1000, 0)}
	t.Cleanup(func() {
		if diff := cmp.Diff(l.translated, m.Log(l.log), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the log as a whole (-by its changes +whole):\n%s", diff)
		}
	})
	return l
}

// write changes a row, and returns the translated changes in one line each.
func (l *story) write(actor, table string, key, row attr.Item) []string {
	l.t.Helper()
	l.seq++
	c := ddbfake.Change{Seq: l.seq, Request: l.seq, Actor: actor, Time: l.now, Sent: l.now, Table: table, Key: key,
		Before: l.last[table+key.String()], After: with(key, row)}
	l.last[table+key.String()] = c.After
	var lines []string
	l.goElsewhere(c)
	of := l.rows.Append(nil, &c)
	l.log, l.translated = append(l.log, c), append(l.translated, of...)
	for _, to := range of {
		if to.Seq != l.seq || to.Request != l.seq || to.Actor != actor {
			l.t.Errorf("change %d became change %d of request %d by %s", l.seq, to.Seq, to.Request, to.Actor)
		}
		pk, _ := to.Key.Str("pk")
		sk, _ := to.Key.Str("sk")
		pk = strings.NewReplacer(isr.PartitionKey("", "/a"), "/a", isr.PartitionKey("t1", "/a"), "t1/a").Replace(pk)
		line := fmt.Sprintf("%s%s of %s: %v => %v", to.Table, sk, pk, to.Before, to.After)
		lines = append(lines, fractions.ReplaceAllString(line, "$1"))
	}
	return lines
}

// goElsewhere lets the story go on with a clone of its rows. Later changes of the originals must not show.
func (l *story) goElsewhere(c ddbfake.Change) {
	kept := l.rows.Clone()
	c.Actor, c.Time = "mallory", c.Time.Add(30*365*24*time.Hour)
	others := []attr.Item{with(c.Key, attr.Item{"stranger": attr.S("a")}),
		with(c.Key, attr.Item{"x": attr.S("a")}), nil}
	for i := range l.log {
		if was := l.log[i].After; was != nil {
			others = append(others, with(was, c.Key))
		}
	}
	for range 3 {
		for _, other := range others {
			l.rows.Append(nil, &c)
			c.Before, c.After = c.After, other
		}
	}
	l.rows = kept
}

func (l *story) want(got []string, want ...string) {
	l.t.Helper()
	for i := range got { // each META of rows without a lock has it: see TestPagesWithoutLocks of package invariant
		got[i] = strings.ReplaceAll(got[i], ", unlocked: true", "")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("after change %d (-want +got):\n%s", l.seq, diff)
	}
}

func TestOneRowBecomesTwo(t *testing.T) {
	l := newStory(t, one)
	key := items{"id": s("page#/a")}
	l.want(l.write("alice", "p", key, items{"locked_by": s("a1"), "locked_until": n(10_500)}),
		`pLOCK of /a: absent => {lease_expires_at: 10, lease_expires_at.nanos: 500000000, lease_token: "a1"}`)
	l.want(l.write("alice", "p", key, items{"locked_by": s("a1"), "locked_until": n(10_500), "hits": n(1)}))
	l.want(l.write("alice", "p", key, items{"html": s("x"), "updated_at": n(9000), "expires": n(99)}),
		`pMETA of /a: absent => {body: "x", generated_at: 9, ttl: 99}`,
		`pLOCK of /a: {lease_expires_at: 10, lease_expires_at.nanos: 500000000, lease_token: "a1"} => absent`)
	l.want(l.write("bob", "p", key, nil), `pMETA of /a: {body: "x", generated_at: 9, ttl: 99} => absent`)
	if why := l.rows.Misfit(); why != "" {
		t.Errorf("it fits, got %s", why)
	}
}

func TestALockInATableOfItsOwn(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Table: "pages", Partition: "PK = {tenant}|{key}", Sort: "SK = PAGE", BodyKey: "s3", Generated: "at iso8601",
			Window: "window ms", ETag: "tag"},
		{Table: "locks", Partition: "name = lock:{tenant}:{key}", Token: "lock.owner", Expires: "lock.until us"},
	}})
	lock := items{"name": s("lock:t1:/a")}
	l.want(l.write("alice", "locks", lock, items{"lock": attr.M{"owner": n(7), "until": n(1_500_000)}}),
		`LOCK of t1/a: absent => {lease_expires_at: 1, lease_expires_at.nanos: 500000000, lease_token: "7"}`)
	l.want(l.write("alice", "pages", items{"PK": s("t1|/a"), "SK": s("PAGE")}, items{
		"s3": s("b"), "at": s("1970-01-01T00:00:09.25+00:00"), "window": n(2500), "tag": s("e"),
	}), `META of t1/a: absent => {etag: "e", generated_at: 9, generated_at.nanos: 250000000, revalidate_seconds: 2, revalidate_seconds.nanos: 500000000, s3_key: "b"}`)
	l.want(l.write("alice", "locks", lock, items{"lock": attr.M{"until": n(2_000_000)}}),
		`LOCK of t1/a: {lease_expires_at: 1, lease_expires_at.nanos: 500000000, lease_token: "7"} => {lease_expires_at: 2}`)
	l.want(l.write("alice", "other", lock, items{"lock": attr.M{"owner": s("x")}}))
}

func TestVersionsAndRequests(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "pk = P#{key}", Sort: "sk = HEAD", Current: "now", Generated: "at"},
		{Partition: "pk = P#{key}", Sort: "sk = V#{version}", BodyKey: "s3"},
		{Partition: "pk = P#{key}", Sort: "sk = R#{request}", RequestHash: "h", RequestStatus: "st", RequestBody: "b"},
	}})
	key := func(sk string) attr.Item { return items{"pk": s("P#/a"), "sk": s(sk)} }
	l.want(l.write("a", "p", key("V#3"), items{"s3": s("b3")}), `pVER#3 of /a: absent => {s3_key: "b3"}`)
	l.want(l.write("a", "p", key("HEAD"), items{"now": s("V#3"), "at": n(5)}),
		`pMETA of /a: absent => {current_sk: "VER#3", generated_at: 5}`)
	l.want(l.write("a", "p", key("HEAD"), items{"now": s("4"), "at": n(5)}),
		`pMETA of /a: {current_sk: "VER#3", generated_at: 5} => {current_sk: "VER#4", generated_at: 5}`)
	l.want(l.write("a", "p", key("R#r1"), items{"h": s("x"), "st": s("DONE"), "b": s("b3")}),
		`pREQ#r1 of /a: absent => {request_hash: "x", result_s3_key: "b3", status: "DONE"}`)
	l.want(l.write("a", "p", key("R#r2"), items{}), `pREQ#r2 of /a: absent => {}`)
	l.want(l.write("a", "p", key("R#r2"), nil), `pREQ#r2 of /a: {} => absent`)
}

// Versions come before the page that leads to them, pages before locks, and requests last, whatever the order of the
// schema's rows.
func TestOneChangeBecomesSeveralInOrder(t *testing.T) {
	rows := []isr.Row{
		{Partition: "pk = P#{key}", Sort: "sk = R#{request}", RequestHash: "h"},
		{Partition: "pk = P#{key}", Sort: "sk = R#{*}", Token: "owner", Expires: "until"},
		{Partition: "pk = P#{key}", Sort: "sk = R#{*}", Current: "now", Generated: "at"},
		{Partition: "pk = P#{key}", Sort: "sk = R#{version}", BodyKey: "s3"},
	}
	for range 2 {
		l := newStory(t, isr.Schema{Rows: rows})
		got := l.write("a", "p", items{"pk": s("P#/a"), "sk": s("R#3")},
			items{"h": s("x"), "owner": s("a1"), "until": n(9), "now": s("R#3"), "at": n(5), "s3": s("b3")})
		l.want(got, `pVER#3 of /a: absent => {s3_key: "b3"}`,
			`pMETA of /a: absent => {current_sk: "VER#3", generated_at: 5}`,
			`pLOCK of /a: absent => {lease_expires_at: 9, lease_token: "a1"}`,
			`pREQ#3 of /a: absent => {request_hash: "x"}`)
		slices.Reverse(rows)
	}
}

// If two entries find the same page in one row, the first decides. If they find two pages, there are two changes.
func TestTheFirstPageCounts(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = {key}#{*}", Body: "html", Generated: "at"},
		{Partition: "id = {key}#{*}", Body: "text", Generated: "later"},
		{Partition: "id = {*}#{key}", Body: "html", Generated: "at"},
	}})
	key, b := items{"id": s("/a#/b")}, isr.PartitionKey("", "/b")
	page := func(body string) string { return `{body: "` + body + `", generated_at: 5}` }
	l.want(l.write("a", "p", key, items{"html": s("x"), "at": n(5), "text": s("y"), "later": n(9)}),
		`pMETA of /a: absent => `+page("x"), `pMETA of `+b+`: absent => `+page("x"))
	l.want(l.write("a", "p", key, items{"html": s("z"), "at": n(5), "text": s("y"), "later": n(9)}),
		`pMETA of /a: `+page("x")+` => `+page("z"), `pMETA of `+b+`: `+page("x")+` => `+page("z"))
}

// If two entries find a lock in one row, the first decides.
func TestTheFirstLockCounts(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = {key}", Token: "owner", Expires: "until"},
		{Partition: "id = {key}", Token: "second", Expires: "later"},
	}})
	key := items{"id": s("/a")}
	l.want(l.write("a", "p", key, items{"owner": s("x"), "until": n(5), "second": s("y"), "later": n(9)}),
		`pLOCK of /a: absent => {lease_expires_at: 5, lease_token: "x"}`)
	l.want(l.write("a", "p", key, items{"owner": s("x"), "until": n(6), "second": s("z"), "later": n(9)}),
		`pLOCK of /a: {lease_expires_at: 5, lease_token: "x"} => {lease_expires_at: 6, lease_token: "x"}`)
}

func TestDynamolock(t *testing.T) {
	schema := must.Of(isr.SchemaNamed("dynamolock"))(t)
	l := newStory(t, schema)
	key := items{"key": s("/a")}
	row := func(owner, version string) attr.Item {
		return items{"ownerName": s(owner), "leaseDuration": s("20s"), "recordVersionNumber": s(version)}
	}
	l.want(l.write("a", "p", key, row("alice", "1")),
		`pLOCK of /a: absent => {lease_expires_at: 1020, lease_token: "alice"}`)
	l.now = time.Unix(1005, 0)
	touched := row("alice", "1")
	touched["data"] = s("x")
	l.want(l.write("a", "p", key, touched)) // the version is the same, so another client goes on counting
	l.now = time.Unix(1010, 500_000_000)
	l.want(l.write("a", "p", key, row("alice", "2")),
		`pLOCK of /a: {lease_expires_at: 1020, lease_token: "alice"} => {lease_expires_at: 1030, lease_expires_at.nanos: 500000000, lease_token: "alice"}`)
	released := row("alice", "2")
	released["isReleased"] = s("1")
	l.want(l.write("a", "p", key, released),
		`pLOCK of /a: {lease_expires_at: 1030, lease_expires_at.nanos: 500000000, lease_token: "alice"} => absent`)
	l.want(l.write("b", "p", key, row("bob", "3")),
		`pLOCK of /a: absent => {lease_expires_at: 1030, lease_expires_at.nanos: 500000000, lease_token: "bob"}`)
}

func TestPowertools(t *testing.T) {
	schema := must.Of(isr.SchemaNamed("powertools"))(t)
	l := newStory(t, schema)
	key := items{"id": s("fn#/a")}
	running := func(ms int64) attr.Item {
		return items{"status": s("INPROGRESS"), "expiration": n(5000), "in_progress_expiration": n(ms)}
	}
	pk := isr.PartitionKey("", "fn#/a")
	l.want(l.write("alice", "p", key, running(1_000_250)),
		`pLOCK of `+pk+
			`: absent => {lease_expires_at: 1000, lease_expires_at.nanos: 250000000, lease_token: "alice", ttl: 5000}`)
	l.want(l.write("bob", "p", key, running(1_002_000)),
		`pLOCK of `+pk+
			`: {lease_expires_at: 1000, lease_expires_at.nanos: 250000000, lease_token: "alice", ttl: 5000} => {lease_expires_at: 1002, lease_token: "bob", ttl: 5000}`)
	l.want(l.write("alice", "p", key, items{"status": s("COMPLETED"), "expiration": n(5000), "data": s("1")}),
		`pMETA of `+pk+`: absent => {body: "1", fresh_until: 5000, ttl: 5000}`,
		`pLOCK of `+pk+`: {lease_expires_at: 1002, lease_token: "bob", ttl: 5000} => absent`)
	l.want(l.write("carol", "p", items{"id": s("/b")}, items{"status": s("INPROGRESS"), "expiration": n(7)}),
		`pLOCK of `+isr.PartitionKey("", "/b")+`: absent => {lease_expires_at: 7, lease_token: "carol", ttl: 7}`)
}

// If a lock has no token and is in the row of its page, it belongs to its writer until another sets its end.
func TestALockWithoutAToken(t *testing.T) {
	l := newStory(t,
		isr.Schema{Rows: []isr.Row{{Partition: "id N = {key}", Body: "html", FreshUntil: "until", Expires: "lock"}}})
	key := items{"id": n(7)}
	pk := isr.PartitionKey("", "7")
	l.want(l.write("alice", "p", key, items{"lock": n(20)}),
		`pLOCK of `+pk+`: absent => {lease_expires_at: 20, lease_token: "alice"}`)
	l.want(l.write("carol", "p", items{"id": n(8)}, items{"lock": n(40)}), // another row has another holder
		`pLOCK of `+isr.PartitionKey("", "8")+`: absent => {lease_expires_at: 40, lease_token: "carol"}`)
	l.want(l.write("bob", "p", key, items{"lock": n(20), "html": s("x"), "until": n(30)}),
		`pMETA of `+pk+`: absent => {body: "x", fresh_until: 30}`)
	l.want(l.write("bob", "p", key, items{"lock": n(25), "html": s("x"), "until": n(30)}),
		`pLOCK of `+pk+`: {lease_expires_at: 20, lease_token: "alice"} => {lease_expires_at: 25, lease_token: "bob"}`)
	l.want(l.write("bob", "p", key, items{"html": s("x"), "until": n(30)}),
		`pLOCK of `+pk+`: {lease_expires_at: 25, lease_token: "bob"} => absent`)
	before := items{"id": n(9)}
	l.last["p"+before.String()] = with(before, items{"lock": n(50)}) // from before the log, by an unknown writer
	l.want(l.write("alice", "p", before, items{"lock": n(50), "more": n(1)}),
		`pLOCK of `+isr.PartitionKey("", "9")+
			`: {lease_expires_at: 50} => {lease_expires_at: 50, lease_token: "alice"}`)
}

func TestMarkedPages(t *testing.T) {
	for _, test := range []struct {
		marker string
		row    attr.Item
		want   string
	}{
		{"stale", items{"html": s("x"), "at": n(5), "stale": attr.BOOL(true)},
			`{body: "x", generated_at: 5, revalidate_seconds: 0}`},
		{"stale", items{"html": s("x"), "at": n(5), "stale": attr.BOOL(false)}, `{body: "x", generated_at: 5}`},
		{"stale", items{"html": s("x"), "at": n(5), "stale": n(0)}, `{body: "x", generated_at: 5}`},
		{"purged ms", items{"html": s("x"), "at": n(5), "purged": n(4999)},
			`{body: "x", generated_at: 5, marked_at: 4, marked_at.nanos: 999000000}`},
		{"purged ms", items{"html": s("x"), "at": n(5), "purged": n(5000)},
			`{body: "x", generated_at: 5, revalidate_seconds: 0}`},
	} {
		l := newStory(t, isr.Schema{
			Rows: []isr.Row{{Partition: "id = {key}", Body: "html", Generated: "at", Invalidated: test.marker}},
		})
		got := l.write("a", "", items{"id": s("/a")}, test.row)
		l.want(got, "META of /a: absent => "+test.want)
	}
}

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		unit  string
		value attr.Value
		want  string // seconds, and nanoseconds if there are any; "" means no time
	}{
		{"", n(12), "12"}, {"", decimal("12.75"), "12 750000000"}, {"s", s("12"), "12"}, {"ms", n(1999), "1 999000000"},
		{"ms", s("2000"), "2"}, {"ms", n(-1), "-1 999000000"}, {"us", n(1), "0 1000"}, {"ns", n(1_000_000_001), "1 1"},
		{"iso8601", s("1970-01-01T00:01:00Z"), "60"},
		{"iso8601", s("1970-01-01T02:01:00.5+02:00"), "60 500000000"}, {"iso8601", s("1970-01-01 00:01:00"), "60"},
		{"iso8601", s("19700101T000100Z"), "60"},
		{"iso8601", s("1969-12-31T23:59:59.5Z"), "-1 500000000"}, {"iso8601", n(60), ""}, {"ms", s("soon"), ""},
		{"", attr.BOOL(true), ""},
	} {
		l := newStory(t,
			isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Generated: "at " + test.unit, Body: "b"}}})
		want := "META of /a: absent => {body: \"x\"}"
		if test.want != "" {
			sec, nanos, fraction := strings.Cut(test.want, " ")
			if fraction {
				sec += ", generated_at.nanos: " + nanos
			}
			want = "META of /a: absent => {body: \"x\", generated_at: " + sec + "}"
		}
		l.want(l.write("a", "", items{"id": s("/a")}, items{"at": test.value, "b": s("x")}), want)
	}
}

func TestTimes(t *testing.T) {
	m, err := rowmap.New(isr.Schema{Rows: []isr.Row{
		{Partition: "id = page#{key}", Generated: "at ms", Body: "b", Window: "window", TTL: "ttl",
			FreshUntil: "until iso8601"},
		{Partition: "id = lock#{key}", Token: "owner", Expires: "until ms", TTL: "ttl"},
		{Partition: "id = other#{key}", Token: "at", Expires: "lock.end"},
	}})
	must.OK(t, err)
	// Each other attribute is left out for a reason: until has two units, at is also a token, lock.end is within a map,
	// and window is no time.
	if got, want := fmt.Sprint(m.Times()), "map[ttl:s]"; got != want {
		t.Errorf("the attributes with times are %s, want %s", got, want)
	}
	for _, test := range []struct{ text, unit, want string }{
		{"2208988810", "s", "2040-01-01T00:00:10Z"}, {"2208988810500", "ms", "2040-01-01T00:00:10.5Z"},
		{"2040-01-01T00:00:10Z", "iso8601", "2040-01-01T00:00:10Z"}, {"soon", "s", ""}, {"2208988810", "iso8601", ""},
	} {
		got, ok := rowmap.Parse(test.text, test.unit)
		if is := got.UTC().Format(time.RFC3339Nano); ok != (test.want != "") || ok && is != test.want {
			t.Errorf("%s in %s is %s, %v, want %q", test.text, test.unit, is, ok, test.want)
		}
	}
}

func TestForms(t *testing.T) {
	for _, test := range []struct{ form, text, tenant, key string }{
		{"page#{key}", "page#/a", "", "/a"},
		{"{tenant}|{key}", "t1|x|y", "t1", "x|y"},
		{"{tenant}|{key}", "|x", "", "x"},
		{"T#{tenant}#P#{key}", "T##P#/a", "", "/a"},
		{"{key}|{tenant}", "x|", "", "x"},
		{"{key}#lock", "a#lock#lock", "", "a#lock"},
		{"T#{tenant}#P#{key}#{*}", "T#t1#P#/a#7", "t1", "/a"},
	} {
		l := newStory(t, isr.Schema{Rows: []isr.Row{{Partition: "id = " + test.form, Token: "o", Expires: "e"}}})
		got := l.write("a", "", items{"id": s(test.text)}, items{"o": s("x"), "e": n(1)})
		if len(got) != 1 || !strings.Contains(got[0], isr.PartitionKey(test.tenant, test.key)) &&
			!strings.Contains(got[0], "of "+test.tenant+test.key+":") {
			t.Errorf("%s of %s: got %q, want the page %q of tenant %q", test.text, test.form, got, test.key,
				test.tenant)
		}
	}
	for form, text := range map[string]string{
		"page#{key}": "page#", "{key}#lock": "#lock", "a{key}": "b", "{tenant}|{key}": "t1",
	} {
		l := newStory(t, isr.Schema{Rows: []isr.Row{{Partition: "id = " + form, Token: "o", Expires: "e"}}})
		if got := l.write("a", "", items{"id": s(text)}, items{"o": s("x"), "e": n(1)}); len(got) != 0 {
			t.Errorf("%s is of the form %s: got %q", text, form, got)
		}
	}
}

// A long key of many parts is read or refused at once.
func TestLongKeys(t *testing.T) {
	l := newStory(t,
		isr.Schema{Rows: []isr.Row{{Partition: "id = {tenant}|{*}|{*}|{*}|{*}|{key}|end", Token: "o", Expires: "e"}}})
	long := strings.Repeat("x|", 200)
	if got := l.write("a", "", items{"id": s(long)}, items{"o": s("x"), "e": n(1)}); len(got) != 0 {
		t.Errorf("got %q", got)
	}
	if got := l.write("a", "", items{"id": s(long + "end")}, items{"o": s("x"), "e": n(1)}); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}

// The tenant may be in one key, and the page in the other.
func TestTheKeyMayBeInBoth(t *testing.T) {
	l := newStory(t, isr.Schema{
		Rows: []isr.Row{{Partition: "pk = T#{tenant}", Sort: "sk = LOCK#{key}#{tenant}", Token: "o", Expires: "e"}},
	})
	row := items{"o": s("x"), "e": n(1)}
	l.want(l.write("a", "", items{"pk": s("T#t1"), "sk": s("LOCK#/a#t1")}, row),
		`LOCK of t1/a: absent => {lease_expires_at: 1, lease_token: "x"}`)
	l.want(l.write("a", "", items{"pk": s("T#t1"), "sk": s("LOCK#/a#t2")}, row)) // two different tenants: no match
}

// A row with an empty token is not locked. A row without a token is not understood.
func TestNoToken(t *testing.T) {
	for _, test := range []struct {
		token attr.Value
		want  []string
	}{
		{s(""), nil}, {attr.NULL{}, nil}, {nil, []string{"LOCK of /a: absent => {lease_expires_at: 9}"}},
		{n(4), []string{`LOCK of /a: absent => {lease_expires_at: 9, lease_token: "4"}`}},
	} {
		l := newStory(t, isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Token: "o", Expires: "e"}}})
		row := items{"e": n(9)}
		if test.token != nil {
			row["o"] = test.token
		}
		l.want(l.write("a", "", items{"id": s("/a")}, row), test.want...)
	}
}

func TestAFunctionReadsRows(t *testing.T) {
	l := newStory(t, isr.Schema{
		Rows: []isr.Row{{Partition: "id = {key}"}},
		Translate: func(table string, row map[string]types.AttributeValue) []map[string]types.AttributeValue {
			id, ok := row["id"].(*types.AttributeValueMemberS)
			if !ok || table != "p" {
				return nil
			}
			return []map[string]types.AttributeValue{{
				"pk": &types.AttributeValueMemberS{Value: isr.PartitionKey("", strings.ToLower(id.Value))},
				"sk": &types.AttributeValueMemberS{Value: "META"}, "s3_key": id,
				"generated_at": &types.AttributeValueMemberN{Value: "1.5"},
			}}
		},
	})
	got := l.write("a", "p", items{"id": s("/A")}, items{"x": n(1)})
	l.want(got, `pMETA of /a: absent => {generated_at: 1, generated_at.nanos: 500000000, pk: "`+
		isr.PartitionKey("", "/a")+`", s3_key: "/A", sk: "META"}`)
	sdk := func(id string) map[string]types.AttributeValue {
		return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
	}
	if pk, roles := l.rows.Place("p", sdk("/A")); pk != isr.PartitionKey("", "/a") || roles != rowmap.Page {
		t.Errorf("the row is at %s, %b, want the page /a", pk, roles)
	}
	l.want(l.write("a", "p", items{"id": s("/A")}, nil),
		`pMETA of /a: {generated_at: 1, generated_at.nanos: 500000000, pk: "`+isr.PartitionKey("", "/a")+
			`", s3_key: "/A", sk: "META"} => absent`)
	for _, test := range []struct {
		made map[string]types.AttributeValue
		want string
	}{
		{map[string]types.AttributeValue{}, "expected pk (S) and sk (S)"},
		{map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "x"}}, "expected pk (S) and sk (S)"},
		{map[string]types.AttributeValue{"pk": nil}, "that DynamoDB does not take"},
	} {
		l = newStory(t,
			isr.Schema{Translate: func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue {
				return []map[string]types.AttributeValue{test.made}
			}})
		l.want(l.write("a", "p", items{"id": s("/A")}, items{}))
		if why := l.rows.Misfit(); !strings.Contains(why, test.want) || strings.Count(why, "\n") != 1 {
			t.Errorf("%v: got %q, want %q and no more", test.made, why, test.want)
		}
	}
}

// The key alone need not show what a row is. Then an earlier write of the row shows it.
func TestAFunctionReadsMoreThanKeys(t *testing.T) {
	l := newStory(t, isr.Schema{
		Rows: []isr.Row{{Partition: "id = lock#{key}", Token: "owner", Expires: "until"}},
		Translate: func(_ string, row map[string]types.AttributeValue) (all []map[string]types.AttributeValue) {
			if row["x"] != nil {
				for _, sk := range []string{"META", "LOCK"} {
					all = append(all,
						map[string]types.AttributeValue{"pk": row["id"], "sk": &types.AttributeValueMemberS{Value: sk}})
				}
			}
			return all
		},
	})
	place := func(id string, want rowmap.Roles) {
		t.Helper()
		pk, roles := l.rows.Place("p", map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}})
		if roles != want || (pk != "") != (want != 0) {
			t.Errorf("%s is at %q, %b, want %b", id, pk, roles, want)
		}
	}
	place("/a", 0)
	place("lock#/a", rowmap.Lock)
	l.write("a", "p", items{"id": s("/a")}, items{"x": n(1)})
	place("/a", rowmap.Page|rowmap.Lock)
	place("/b", 0)
	if why := l.rows.Misfit(); why != "" {
		t.Errorf("the function found all, got %s", why)
	}
	l.write("a", "p", items{"id": s("/c")}, items{"y": n(1)})
	place("/c", 0)
}

func TestResolution(t *testing.T) {
	guess := func(string, map[string]types.AttributeValue) []map[string]types.AttributeValue { return nil }
	for _, test := range []struct {
		schema isr.Schema
		want   time.Duration
	}{
		{isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Token: "o", Expires: "e"}}}, time.Second},
		{
			isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Token: "o", Expires: "e ns"},
				{Partition: "id = x{key}", Token: "o", Expires: "e ms"}}}, time.Microsecond,
		},
		{one, time.Millisecond},
		{isr.Schema{Translate: guess}, time.Millisecond},
		{isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Token: "o", Expires: "e us"}}, Translate: guess},
			time.Microsecond},
	} {
		m := must.Of(rowmap.New(test.schema))(t)
		if got := m.Resolution(); got != test.want || m.Guesses() != (test.schema.Translate != nil) {
			t.Errorf("%+v: resolution %v, guesses %v; want %v", test.schema, got, m.Guesses(), test.want)
		}
	}
	if got := (*rowmap.Mapping)(nil).Resolution(); got != time.Second {
		t.Errorf("without a mapping: %v", got)
	}
}

func TestMisfit(t *testing.T) {
	for _, test := range []struct {
		name string
		key  attr.Item
		row  attr.Item
		want []string // empty if the mapping fits
	}{
		{"a key of another form", items{"id": s("pages/a")}, items{"html": s("x")},
			[]string{"fits none of the rows", `pages {id: "pages/a"}, with html: id is not of the form page#{key}`}},
		{"another key", items{"pk": s("page#/a")}, items{"html": s("x")}, []string{"fits none", "the key has no id"}},
		{"another name of the lock", items{"id": s("page#/a")},
			items{"html": s("x"), "updated_at": n(1), "owner": s("a")},
			[]string{"finds no lock", "with html, owner, updated_at: no locked_by"}},
		{"another unit of the lock", items{"id": s("page#/a")},
			items{"locked_by": s("x"), "locked_until": s("1970-01-01T00:00:00Z")}, nil},
		{"a page without a lock", items{"id": s("page#/a")}, items{"html": s("x"), "updated_at": n(1)}, nil},
		{"a page and its lock", items{"id": s("page#/a")},
			items{"html": s("x"), "updated_at": n(1), "locked_by": s("a"), "locked_until": n(1), "more": n(2)}, nil},
	} {
		l := newStory(t, one)
		if why := l.rows.Misfit(); why != "" {
			t.Errorf("without rows: %s", why)
		}
		l.write("a", "pages", test.key, test.row)
		why := l.rows.Misfit()
		if (why == "") != (test.want == nil) {
			t.Errorf("%s: got %q", test.name, why)
		}
		for _, part := range test.want {
			if !strings.Contains(why, part) {
				t.Errorf("%s: %s\nlacks %q", test.name, why, part)
			}
		}
	}
	l := newStory(t, one)
	for i := range 30 {
		l.write("a", "p", items{"id": s(fmt.Sprint(i))}, items{})
	}
	if why := l.rows.Misfit(); strings.Count(why, "\n") != 9 || !strings.HasSuffix(why, "and others") {
		t.Errorf("of 30 rows:\n%s", why)
	}
}

func TestMisread(t *testing.T) {
	now := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	in := func(u time.Duration) attr.N { return n(now.Add(10*time.Second).UnixNano() / int64(u)) }
	late := n(now.AddDate(100, 0, 0).UnixMilli())
	for _, test := range []struct {
		name   string
		values []attr.Value // of locked_until, one write each
		want   string       // empty if they are read correctly
	}{
		{"none", []attr.Value{nil}, ""},
		{"right", []attr.Value{in(time.Millisecond)}, ""},
		{"as a text", []attr.Value{s(in(time.Millisecond).String())}, ""},
		{"in seconds", []attr.Value{in(time.Second)},
			"locked_until is 2208988810: no time of this run in ms, but one in s"},
		{"in microseconds", []attr.Value{in(time.Microsecond)},
			"locked_until is 2208988810000000: no time of this run in ms, but one in us"},
		{"as a date", []attr.Value{s("2040-01-01T00:00:10Z")},
			`locked_until is "2040-01-01T00:00:10Z": no time of this run in ms, but one in iso8601`},
		{"the first of several", []attr.Value{nil, n(0), in(time.Second), in(time.Microsecond)},
			"locked_until is 2208988810: no time of this run in ms, but one in s"},
		{"right after all", []attr.Value{in(time.Second), in(time.Millisecond)}, ""},
		{"right, and then not", []attr.Value{in(time.Millisecond), in(time.Second)}, ""},
		{"far away in any unit", []attr.Value{late, n(0)}, ""},
	} {
		l := newStory(t, one)
		l.now = now
		for _, v := range test.values {
			row := items{"html": s("x"), "updated_at": in(time.Millisecond), "locked_by": s("a")}
			if v != nil {
				row["locked_until"] = v
			}
			l.write("a", "pages", items{"id": s("page#/a")}, row)
		}
		got, hint := l.rows.Misread()
		if got != test.want || (hint == "") != (got == "") {
			t.Errorf("%s: %q, want %q; and the hint %q", test.name, got, test.want, hint)
		}
		if want := "hint: `locked_until` looks like s: Expires: \"locked_until\", or in a file expires: " +
			"locked_until"; test.name == "in seconds" && hint != want {
			t.Errorf("%s: %q, want %q", test.name, hint, want)
		}
		if want := "hint: `locked_until` looks like us: Expires: \"locked_until us\", or in a file expires: " +
			"locked_until us"; test.name == "in microseconds" && hint != want {
			t.Errorf("%s: %q, want %q", test.name, hint, want)
		}
	}
	of := one
	of.Rows = slices.Clone(one.Rows)
	of.Rows[0].When = "locked_by"
	l := newStory(t, of)
	l.now = now
	l.write("a", "pages", items{"id": s("page#/a")}, items{"locked_until": in(time.Second)})
	if got, _ := l.rows.Misread(); got != "" {
		t.Errorf("a row of another kind: %q", got)
	}
}

func TestSay(t *testing.T) {
	shared, err := rowmap.New(one)
	must.OK(t, err)
	apart, err := rowmap.New(isr.Schema{Rows: []isr.Row{
		{Partition: "pk = {key}", Sort: "sk = PAGE", Body: "b", Generated: "at iso8601"},
		{Partition: "pk = {key}", Sort: "sk = LEASE", Token: "owner", Expires: "until"},
	}})
	must.OK(t, err)
	for _, test := range []struct{ text, shared, apart string }{
		{"bob published while LOCK carried the token of alice",
			"bob published while the lock carried the token of alice",
			"bob published while LEASE carried the token of alice"},
		{"change 1 leaves a LOCK row without lease_token (S) and lease_expires_at (N), and",
			"change 1 leaves a lock without locked_by and locked_until (ms), and",
			"change 1 leaves a LEASE row without owner and until, and"},
		{"META lacks generated_at (N)", "the page lacks updated_at (ms)", "PAGE lacks at (iso8601)"},
		{"UNLOCK, LOCKED, /META and mylease_token", "UNLOCK, LOCKED, /META and mylease_token",
			"UNLOCK, LOCKED, /META and mylease_token"},
	} {
		if got := shared.Say(test.text); got != test.shared {
			t.Errorf("got  %s\nwant %s", got, test.shared)
		}
		if got := apart.Say(test.text); got != test.apart {
			t.Errorf("got  %s\nwant %s", got, test.apart)
		}
	}
	until, err := rowmap.New(isr.Schema{
		Rows: []isr.Row{{Partition: "pk = {key}", Body: "b", Generated: "at ms", FreshUntil: "good_until ms"}},
	})
	must.OK(t, err)
	// The end of freshness is a time, not a duration.
	for text, want := range map[string]string{
		"use is over: generated_at + revalidate_seconds (META)": "use is over: good_until (the page)",
		"at or after T - revalidate_seconds - 2e":               "at or after T - the window - 2e",
		"it lacks revalidate_seconds (N)":                       "it lacks good_until (ms)",
	} {
		if got := until.Say(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := (*rowmap.Mapping)(nil).Say("LOCK"); got != "LOCK" {
		t.Errorf("without a mapping: %s", got)
	}
}

func TestMistakes(t *testing.T) {
	lock := func(r isr.Row) isr.Row {
		r.Token, r.Expires = "o", "e"
		return r
	}
	for _, test := range []struct {
		rows  []isr.Row
		row   int
		field string
		want  string
	}{
		{[]isr.Row{{}}, 0, "", "no partition"},
		{[]isr.Row{lock(isr.Row{Partition: "{key}"})}, 0, "partition", "expected an attribute, ="},
		{[]isr.Row{lock(isr.Row{Partition: "id = "})}, 0, "partition", "no form"},
		{[]isr.Row{lock(isr.Row{Partition: "id X = {key}"})}, 0, "partition", "the type X"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {path}"})}, 0, "partition", "{path}"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key"})}, 0, "partition", "without }"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {tenant}{key}"})}, 0, "partition", "without anything between"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}|{key}"})}, 0, "partition", "{key} twice"},
		{[]isr.Row{lock(isr.Row{Partition: "id = page"})}, 0, "partition", "no {key}"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", When: "a =b"})}, 0, "when", `the condition "=b"`},
		{[]isr.Row{{Partition: "id = {key}"}}, 0, "", "neither a page nor a lock"},
		{[]isr.Row{{Partition: "id = {key}", Token: "x"}}, 0, "token", "without expires"},
		{[]isr.Row{{Partition: "id = {key}", Body: "x"}}, 0, "", "without generated"},
		{[]isr.Row{{Partition: "id = {key}", Expires: "x min"}}, 0, "expires", `the unit "min"`},
		{[]isr.Row{{Partition: "id = {key}", Expires: "x", Lasts: "y"}}, 0, "lasts", "both"},
		{[]isr.Row{{Partition: "id = {key}", Expires: "x", Renews: "y"}}, 0, "renews", "without lasts"},
		{[]isr.Row{{Partition: "id = {key}", Expires: "x", Token: "y ms"}}, 0, "token", "its name alone"},
		{[]isr.Row{{Partition: "id = {key}", Sort: "sk = {version}", Expires: "x"}}, 0, "", "{version}"},
		{[]isr.Row{{Partition: "id = {key}", Sort: "sk = {request}", Expires: "x"}}, 0, "", "{request}"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}"}), lock(isr.Row{Partition: "pk = {key}"})}, 1, "partition",
			"the partition key pk"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", TTL: "a"}), lock(isr.Row{Partition: "id = l{key}", TTL: "b"})},
			1, "ttl", "found ttl b"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: "by-at"})}, 0, "index", "expected"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: "by-at: at X"})}, 0, "index", "the type X"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: "a: b, c, d"})}, 0, "index", "perhaps a sort key"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: ": b"})}, 0, "index", "expected a name"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: "a: b; c: id N"})}, 0, "index", "id with two types"},
		{[]isr.Row{lock(isr.Row{Partition: "id = {key}", Index: "a: b"}),
			lock(isr.Row{Partition: "id = l{key}", Index: "a: b"})}, 1, "index", "another entry"},
	} {
		_, err := rowmap.New(isr.Schema{Rows: test.rows})
		mistake, ok := errors.AsType[*rowmap.Error](err)
		if !ok || mistake.Row != test.row || mistake.Field != test.field ||
			!strings.Contains(mistake.Error(), test.want) {
			t.Errorf("%+v: got %v, want one of row %d, field %q that says %q", test.rows, err, test.row, test.field,
				test.want)
		}
	}
	for _, schema := range isr.Schemas() {
		if m, err := rowmap.New(schema); err != nil || (m == nil) != (schema.Name == "reference") {
			t.Errorf("%s: %v, %v", schema.Name, m, err)
		}
	}
}

func TestWrites(t *testing.T) {
	m := must.Of(rowmap.New(one))(t)
	key := map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: "page#/a"}}
	for _, test := range []struct {
		update string
		want   rowmap.Roles
	}{
		{"SET locked_by = :t, locked_until = :u", rowmap.Lock},
		{"SET #until = if_not_exists(locked_by, :u) REMOVE locked_by", 0},
		{"set #html = :h, updated_at = :now remove locked_by, locked_until", rowmap.Page},
		{"ADD hits :one SET locked_by=:t", rowmap.Lock},
	} {
		if got := m.Writes("p", key, &test.update,
			map[string]string{"#until": "locked_until", "#html": "html"}); got != test.want {
			t.Errorf("%s: got %b, want %b", test.update, got, test.want)
		}
		if got := m.Publishes("p", key, &test.update,
			map[string]string{"#html": "html"}); got != (test.want == rowmap.Page) {
			t.Errorf("%s: publishes %v", test.update, got)
		}
	}
	if pk, roles := m.Place("p", key); pk != isr.PartitionKey("", "/a") || !roles.Has(rowmap.Page|rowmap.Lock) {
		t.Errorf("got %s, %b", pk, roles)
	}
}

// A translator places rows as its mapping does, at the first question and at the next ones.
func TestATranslatorRemembersPlaces(t *testing.T) {
	m := must.Of(rowmap.New(isr.Schema{Rows: []isr.Row{
		{Table: "a", Partition: "id = {key}", Sort: "part = page", Body: "html", Generated: "at"},
		{Table: "a", Partition: "id = {key}", Sort: "part = lock", Token: "by", Expires: "until"},
		{Table: "b", Partition: "id = {key}", Token: "by", Expires: "until"},
		{Table: "c", Partition: "id = {key}", Body: "html", Generated: "at"},
	}}))(t)
	asked := m.Translator()
	for range 2 {
		for _, table := range []string{"a", "b", "c", "d"} {
			for _, key := range []items{
				{"id": s("x"), "part": s("page")}, {"id": s("x"), "part": s("lock")}, {"id": s("y"), "part": s("page")},
				{"id": s("x")}, {"id": n(1)}, {"part": s("page")}, {},
			} {
				pk, roles := m.Place(table, key.ToSDK())
				if got, as := asked.Place(table, key.ToSDK()); got != pk || as != roles {
					t.Errorf("%s, %v: got %q, %b, want %q, %b", table, key, got, as, pk, roles)
				}
			}
		}
	}
}
