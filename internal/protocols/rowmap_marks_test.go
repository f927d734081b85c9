package protocols_test

import (
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func TestRowsThatMarkPages(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = page#{key}", Body: "html", Generated: "at", Window: "= 60s"},
		{Partition: "id = gone#{key}#{*}", Invalidated: "gone_at ms"},
		{Partition: "id = never#{key}", When: "reason", Invalidated: "id"},
	}})
	page, gone, other, never := items{"id": s("page#/a")}, items{"id": s("gone#/a#1")}, items{"id": s("gone#/a#2")},
		items{"id": s("never#/a")}
	const fresh, stale = `{body: "x", generated_at: 9, revalidate_seconds: 60}`, `{body: "x", generated_at: 9, revalidate_seconds: 0}`
	const marked = `{body: "x", generated_at: 9, marked_at: 8, marked_at.nanos: 999000000, revalidate_seconds: 60}`
	l.want(l.write("alice", "p", gone, items{"gone_at": n(8_999)}))
	if why := l.rows.Misfit(); why != "" {
		t.Errorf("a mark is a row that is understood, got %s", why)
	}
	l.want(l.write("alice", "p", page, items{"html": s("x"), "at": n(9)}), `pMETA of /a: absent => `+marked)
	l.want(l.write("alice", "p", gone, items{"gone_at": n(9_000)}), `pMETA of /a: `+marked+` => `+stale)
	l.want(l.write("alice", "p", other, items{"gone_at": n(9_500)}))
	l.want(l.write("alice", "p", gone, nil))
	l.want(l.write("alice", "p", other, nil), `pMETA of /a: `+stale+` => `+fresh)
	l.want(l.write("alice", "p", never, items{"x": n(1)}))
	l.want(l.write("alice", "p", never, items{"reason": s("y")}), `pMETA of /a: `+fresh+` => `+stale)
	l.want(l.write("alice", "p", page, items{"html": s("z"), "at": n(10)}),
		`pMETA of /a: `+stale+` => {body: "z", generated_at: 10, revalidate_seconds: 0}`)
	l.want(l.write("alice", "p", page, nil),
		`pMETA of /a: {body: "z", generated_at: 10, revalidate_seconds: 0} => absent`)
	l.want(l.write("alice", "p", never, nil))
	// This row belongs to another cache.
	l.want(l.write("alice", "q", page, items{"html": s("x"), "at": n(9)}), `qMETA of /a: absent => `+fresh)
	if why := l.rows.Misfit(); why != "" {
		t.Errorf("it fits, got %s", why)
	}
}

// A row may be a page and mark this page or another one. If all tables belong to one cache, a mark may be in another
// table than its page.
func TestMarksInTheRowOfAPageAndInOtherTables(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = {key}#{*}", Body: "html", Generated: "at", Window: "= 60s"},
		{Partition: "id = {*}#{key}", Invalidated: "gone_at"},
	}})
	page := func(at, window string) string {
		return `{body: "x", generated_at: ` + at + `, revalidate_seconds: ` + window + `}`
	}
	a, b := items{"id": s("/a#/b")}, items{"id": s("/b#/c")}
	pb := isr.PartitionKey("", "/b")
	l.want(l.write("alice", "p", b, items{"html": s("x"), "at": n(5)}), `pMETA of `+pb+`: absent => `+page("5", "60"))
	l.want(l.write("alice", "p", a, items{"html": s("x"), "at": n(7), "gone_at": n(6)}),
		`pMETA of /a: absent => `+page("7", "60"), `pMETA of `+pb+`: `+page("5", "60")+` => `+page("5", "0"))
	l.want(l.write("alice", "p", a, items{"html": s("x"), "at": n(8), "gone_at": n(6)}),
		`pMETA of /a: `+page("7", "60")+` => `+page("8", "60"))
	l.want(l.write("alice", "p", a, nil), `pMETA of /a: `+page("8", "60")+` => absent`,
		`pMETA of `+pb+`: `+page("5", "0")+` => `+page("5", "60"))

	l = newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = {key}", Body: "html", Generated: "at", Window: "= 60s"},
		{Partition: "id = {key}", Invalidated: "gone_at"},
	}})
	one := items{"id": s("/a")}
	l.want(l.write("alice", "p", one, items{"html": s("x"), "at": n(5), "gone_at": n(6)}),
		`pMETA of /a: absent => `+page("5", "0"))
	l.want(l.write("alice", "p", one, items{"html": s("x"), "at": n(5)}),
		`pMETA of /a: `+page("5", "0")+` => `+page("5", "60"))

	l = newStory(t, isr.Schema{Rows: []isr.Row{
		{Table: "pages", Partition: "id = {key}", Body: "html", Generated: "at", Window: "= 60s"},
		{Table: "marks", Partition: "id = {key}", Invalidated: "gone_at"},
	}})
	l.want(l.write("alice", "pages", one, items{"html": s("x"), "at": n(5)}), `META of /a: absent => `+page("5", "60"))
	l.want(l.write("alice", "marks", one, items{"gone_at": n(6)}), `META of /a: `+page("5", "60")+` => `+page("5", "0"))
}

// A row may mark a page and be its lock, and may mark two pages.
func TestMarksInTheRowOfALockAndOfTwoPages(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = page#{key}", Body: "html", Generated: "at", Window: "= 60s"},
		{Partition: "id = mark#{key}#{*}", Token: "owner", Expires: "until"},
		{Partition: "id = mark#{key}#{*}", Invalidated: "gone"},
		{Partition: "id = mark#{*}#{key}", Invalidated: "gone"},
	}})
	const fresh, stale = `{body: "x", generated_at: 9, revalidate_seconds: 60}`, `{body: "x", generated_at: 9, revalidate_seconds: 0}`
	b, marks := isr.PartitionKey("", "/b"), items{"id": s("mark#/a#/b")}
	for _, key := range []string{"page#/a", "page#/b"} {
		l.write("alice", "p", items{"id": s(key)}, items{"html": s("x"), "at": n(9)})
	}
	l.want(l.write("alice", "p", marks, items{"gone": n(1), "owner": s("alice"), "until": n(20)}),
		`pMETA of /a: `+fresh+` => `+stale, `pMETA of `+b+`: `+fresh+` => `+stale,
		`pLOCK of /a: absent => {lease_expires_at: 20, lease_token: "alice"}`)
	l.want(l.write("alice", "p", marks, nil), `pMETA of /a: `+stale+` => `+fresh, `pMETA of `+b+`: `+stale+` => `+fresh,
		`pLOCK of /a: {lease_expires_at: 20, lease_token: "alice"} => absent`)
}

// A renewal counts from the write of the attribute. If the length changes without a renewal, it still counts from that
// write: a release may shorten the lease but keep the version.
func TestALengthThatChangesUnderOneVersion(t *testing.T) {
	l := newStory(t,
		isr.Schema{Rows: []isr.Row{{Partition: "id = {key}", Token: "owner", Lasts: "ms ms", Renews: "guid"}}})
	key := items{"id": s("/a")}
	lease := func(ends string) string {
		return `{lease_expires_at: ` + ends + `, lease_token: "alice"}`
	}
	row := func(ms int64, guid string) items { return items{"owner": s("alice"), "ms": n(ms), "guid": s(guid)} }
	l.want(l.write("alice", "p", key, row(20_000, "1")), `pLOCK of /a: absent => `+lease("1020"))
	l.now = l.now.Add(5 * time.Second)
	l.want(l.write("alice", "p", key, row(2_000, "1")), `pLOCK of /a: `+lease("1020")+` => `+lease("1002"))
	l.want(l.write("alice", "p", key, row(30_000, "1")), `pLOCK of /a: `+lease("1002")+` => `+lease("1030"))
	l.want(l.write("alice", "p", key, row(30_000, "2")), `pLOCK of /a: `+lease("1030")+` => `+lease("1035"))
	l.want(l.write("alice", "p", key, items{"owner": s("alice"), "ms": s("soon"), "guid": s("2")}),
		`pLOCK of /a: `+lease("1035")+` => {lease_token: "alice"}`)
	l.want(l.write("alice", "p", key, row(30_000, "2")), `pLOCK of /a: {lease_token: "alice"} => `+lease("1035"))
	l.want(l.write("alice", "p", key, nil), `pLOCK of /a: `+lease("1035")+` => absent`)
	// The row was written before the log began, so the length counts from the first known write.
	l.last["p"+key.String()] = with(key, row(20_000, "3"))
	l.want(l.write("alice", "p", key, row(10_000, "3")), `pLOCK of /a: {lease_token: "alice"} => `+lease("1015"))
}

func TestLocksWithoutAnEnd(t *testing.T) {
	l := newStory(t, isr.Schema{Rows: []isr.Row{
		{Partition: "id = {key}", When: "owner", Token: "owner", Expires: "never"},
		{Partition: "id = {key}", When: "busy", Expires: "never"},
	}})
	key := items{"id": s("/a")}
	lock := func(token string) string { return `{lease_expires_at: null, lease_token: "` + token + `"}` }
	l.want(l.write("alice", "p", key, items{"owner": s("a1")}), `pLOCK of /a: absent => `+lock("a1"))
	l.want(l.write("alice", "p", key, nil), `pLOCK of /a: `+lock("a1")+` => absent`)
	// A lock without a token belongs to whoever put it.
	l.want(l.write("alice", "p", key, items{"busy": n(1)}), `pLOCK of /a: absent => `+lock("alice"))
	l.want(l.write("bob", "p", key, items{"busy": n(2)}))
	l.want(l.write("bob", "p", key, items{"idle": n(2)}), `pLOCK of /a: `+lock("alice")+` => absent`)
	l.want(l.write("bob", "p", key, items{"busy": n(2)}), `pLOCK of /a: absent => `+lock("bob"))
}

func TestMarksAndEndsThatAreWrong(t *testing.T) {
	for _, test := range []struct {
		row  isr.Row
		want string
	}{
		{isr.Row{Partition: "id = {key}", Invalidated: "at"}, "marks pages as not fresh, and no entry that is a page"},
		{isr.Row{Partition: "id = {*}", Invalidated: "at"}, "no {key} in the key"},
		{isr.Row{Partition: "id = {key}", Invalidated: "at", Body: "html"}, "a page without generated"},
		{isr.Row{Partition: "id = {key}", Token: "t"}, "expires: never"},
		{isr.Row{Partition: "id = {key}", Token: "t", Expires: "never", Lasts: "d"}, "both expires and lasts"},
		{isr.Row{Partition: "id = {key}", Expires: "never", Body: "html", Generated: "at"},
			"expires never without a token"},
	} {
		if _, err := rowmap.New(isr.Schema{Rows: []isr.Row{test.row}}); err == nil ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.row, err, test.want)
		}
	}
}
