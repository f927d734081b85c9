package invariant

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
)

// drawOperations draws a history of two nodes on a key: calls and answers in any order, few tokens, pages and seconds.
// Some of these histories can be explained, and some cannot.
func drawOperations(t *rapid.T) []storeop.Operation {
	epoch := time.Unix(1_000, 0)
	var all []storeop.Operation
	open := map[string]int{}
	for order := range 2 * rapid.IntRange(1, 8).Draw(t, "operations") {
		order++
		actor := rapid.SampledFrom([]string{"alice", "bob", "carol"}).Draw(t, "actor")
		now := epoch.Add(time.Duration(order) * time.Second)
		if place, calls := open[actor]; calls {
			o := &all[place]
			o.Ended, o.Return = now, order
			o.Result = rapid.SampledFrom([]storeop.Result{storeop.Done, storeop.Refused, storeop.Done,
				storeop.InDoubt}).Draw(t, "result")
			if o.Verb == storeop.Read {
				o.Page = rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "page")
			}
			delete(open, actor)
			continue
		}
		o := storeop.Operation{
			Actor: actor, Key: "/", Began: now, Call: order,
			Verb: rapid.SampledFrom([]storeop.Verb{storeop.Acquire, storeop.Read, storeop.Publish, storeop.Refresh,
				storeop.Release}).Draw(t, "verb"),
			Token:   actor,
			Expires: now.Unix() + rapid.Int64Range(1, 6).Draw(t, "lease"),
		}
		if o.Verb == storeop.Publish {
			o.Page = rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "page")
			o.TTL = now.Unix() + rapid.Int64Range(1, 6).Draw(t, "ttl")
		}
		open[actor] = len(all)
		all = append(all, o)
	}
	return all
}

// drawExplicable draws a history that has an explanation. Each operation takes effect at a moment between its call and
// its answer, on a page whose rows are deleted by their ttl, and its answer says what it found.
func drawExplicable(t *rapid.T) []storeop.Operation {
	epoch := time.Unix(1_000, 0)
	var all []storeop.Operation
	var p page
	open, effective := map[string]int{}, map[string]bool{}
	leases, held := 0, map[string]string{"alice": "none", "bob": "none", "carol": "none"}
	for order := range 3 * rapid.IntRange(10, 20).Draw(t, "operations") {
		order++
		actor := rapid.SampledFrom([]string{"alice", "bob", "carol"}).Draw(t, "actor")
		now := epoch.Add(time.Duration(order) * time.Second / 2)
		place, calls := open[actor]
		switch {
		case !calls:
			verbs := []storeop.Verb{storeop.Read, storeop.Read, storeop.Acquire, storeop.Acquire}
			if held[actor] != "none" {
				verbs = []storeop.Verb{storeop.Read, storeop.Publish, storeop.Publish, storeop.Publish,
					storeop.Refresh, storeop.Release}
			}
			o := storeop.Operation{
				Actor: actor, Key: "/", Began: now, Call: order, Verb: rapid.SampledFrom(verbs).Draw(t, "verb"),
			}
			switch o.Verb {
			case storeop.Acquire:
				leases++
				o.Token, o.Expires = fmt.Sprint(actor, leases), now.Unix()+rapid.Int64Range(1, 4).Draw(t, "lease")
			case storeop.Read:
			default:
				o.Token, o.Expires = held[actor], now.Unix()+2
			}
			if o.Verb == storeop.Publish {
				o.Page, o.TTL = fmt.Sprint("page ", order), now.Unix()+rapid.Int64Range(1, 3).Draw(t, "ttl")
			}
			open[actor] = len(all)
			all = append(all, o)
		case !effective[actor]:
			o := &all[place]
			o.Ended, o.Return, o.Result = now, math.MaxInt, storeop.Done
			if o.Verb == storeop.Read && (p.name == "" || p.ttl <= now.Unix()) {
				o.Result = storeop.Refused
				p.name, p.ttl = "", 0
			} else if o.Verb == storeop.Read {
				o.Page = p.name
			} else if next, possible := p.effect(o, 0); possible &&
				(o.Verb != storeop.Acquire || p.token == "" || p.latest <= now.Unix()) {
				p = next
			} else {
				o.Result = storeop.Refused
			}
			o.Ended, o.Return = time.Time{}, 0
			effective[actor] = true
		default:
			o := &all[place]
			o.Ended, o.Return = now, order
			if o.Verb == storeop.Acquire && o.Result == storeop.Done {
				held[actor] = o.Token
			} else if o.Verb == storeop.Publish || o.Verb == storeop.Release {
				held[actor] = "none"
			}
			delete(open, actor)
			delete(effective, actor)
		}
	}
	//isrsim:unordered each is changed alone
	for actor, place := range open {
		if !effective[actor] || all[place].Return == 0 {
			all[place].Result = storeop.InDoubt
		}
	}
	return all
}

// The search must never say that a history with an explanation has none: that would accuse a correct cache.
func TestTheSearchFindsTheOrderThatThereWas(t *testing.T) {
	reads := 0
	rapid.Check(t, func(t *rapid.T) {
		all := drawExplicable(t)
		for _, o := range all {
			if o.Verb == storeop.Read && o.Result == storeop.Refused {
				reads++
			}
		}
		skew := rapid.SampledFrom([]time.Duration{0, time.Second / 2}).Draw(t, "skew")
		if at, _, end := explain(all, "/", skew, maxWork); at != nil || end != complete {
			t.Fatalf("the search ended at %v, %v\n%v", at, end, all)
		}
	})
	if reads == 0 {
		t.Error("no read found nothing")
	}
}

// TestAReadAfterTTLMayComeBeforeAWrite has a history in which it does: alice finds that the first page has gone, bob
// publishes the second page, and bob gets his answer first. An earlier version of the search called this a violation.
func TestAReadAfterTTLMayComeBeforeAWrite(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(1_000+seconds, 0) }
	all := []storeop.Operation{
		{Actor: "bob", Key: "/", Verb: storeop.Acquire, Token: "b1", Expires: 1_002, Began: at(0), Ended: at(0),
			Call: 1, Return: 2, Result: storeop.Done},
		{Actor: "bob", Key: "/", Verb: storeop.Publish, Token: "b1", Page: "first", TTL: 1_005, Began: at(1),
			Ended: at(1), Call: 3, Return: 4, Result: storeop.Done},
		{Actor: "bob", Key: "/", Verb: storeop.Acquire, Token: "b2", Expires: 1_009, Began: at(6), Ended: at(6),
			Call: 5, Return: 6, Result: storeop.Done},
		{Actor: "alice", Key: "/", Verb: storeop.Read, Began: at(6), Ended: at(6), Call: 7, Return: 10,
			Result: storeop.Refused},
		{Actor: "bob", Key: "/", Verb: storeop.Publish, Token: "b2", Page: "second", TTL: 1_009, Began: at(6),
			Ended: at(6), Call: 8, Return: 9, Result: storeop.Done},
	}
	if at, _, end := explain(all, "/", time.Second/2, maxWork); at != nil || end != complete {
		t.Errorf("the search ended at %v, %v, want an order", at, end)
	}
	all[3].Call = 10 // after the second page was published
	all[3].Return = 11
	if at, _, _ := explain(all, "/", time.Second/2, maxWork); at != &all[3] {
		t.Errorf("got %v, want the read", at)
	}
}

// The search finds the same as porcupine, whose search uses neither the order of answers, nor places, nor operations
// that may be left out.
func TestTheSearchFindsWhatPorcupineFinds(t *testing.T) {
	explicable, not := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := drawOperations(t)
		want := porcupine.CheckOperations(pageModel(time.Second), porcupineOperations(all))
		at, _, end := explain(all, "/", time.Second, maxWork)
		if end != complete || (at == nil) != want {
			t.Fatalf("the search ended at %v, %v; porcupine finds an order: %v\n%v", at, end, want, all)
		}
		if want {
			explicable++
			return
		}
		not++
		var before, with []storeop.Operation
		// operations in doubt have no token and no end; those under way have the token and end of their later answer
		foretold := false
		for _, o := range all {
			if o.Call > at.Return {
				continue
			}
			with = append(with, o)
			if o.Return >= at.Return {
				foretold = foretold || (o.Verb == storeop.Acquire || o.Verb == storeop.Refresh) &&
					o.Result == storeop.Done
				o.Ended, o.Return, o.Result = time.Time{}, 0, storeop.InDoubt
			}
			before = append(before, o)
		}
		if !foretold && !porcupine.CheckOperations(pageModel(time.Second), porcupineOperations(before)) {
			t.Fatalf("%v has no explanation, but neither has what was answered before\n%v", at, all)
		}
		if porcupine.CheckOperations(pageModel(time.Second), porcupineOperations(with)) {
			t.Fatalf("%v has an explanation in what was called before its answer\n%v", at, all)
		}
	})
	if explicable == 0 || not == 0 {
		t.Errorf("%d histories have an explanation and %d have none, want both", explicable, not)
	}
}

func TestSpansDoNotOverflow(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	milliseconds := time.Unix(start.UnixMilli()+10_000, 0)
	for _, tc := range []struct {
		from, to time.Time
		want     string
	}{
		{start, start, "0s"},
		{start, start.Add(1500 * time.Millisecond), "1.5s"},
		{start.Add(61 * time.Second), start, "-1m1s"},
		{start, start.Add((farSeconds - 1) * time.Second), "175199h59m59s"},
		{start, start.Add(farSeconds * time.Second), "630720000s"},
		{start, time.Unix(0, 0), "-946684800s"},
		{start, milliseconds, "945738125200s"},
		{milliseconds, start, "-945738125200s"},
	} {
		if got := span(tc.from, tc.to); got != tc.want {
			t.Errorf("from %v to %v: %s, want %s", tc.from, tc.to, got, tc.want)
		}
	}
	for _, tc := range []struct {
		a, b int64
		want string
	}{
		{946684860, 946684800, "1m0s"},
		{946684800, 946684860, "-1m0s"},
		{946684800_000, 946684800, "945738115200s"},
		{0, 946684800, "-946684800s"},
		{math.MaxInt64, -1, "9223372036854775807s"},
		{math.MinInt64, 1, "-9223372036854775808s"},
		{-1, math.MaxInt64, "-9223372036854775808s"},
		{0, math.MinInt64, "9223372036854775807s"},
		{math.MinInt64, math.MinInt64, "0s"},
	} {
		if got := spanSeconds(minus(tc.a, tc.b)); got != tc.want {
			t.Errorf("%d - %d: %s, want %s", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestTheGrainOfTwoTimesIsThatOfTheFinerOne(t *testing.T) {
	whole, fine := time.Unix(1, 0), time.Unix(1, 5)
	for _, test := range []struct {
		a, b time.Time
		want time.Duration
	}{{whole, whole, time.Second}, {whole, fine, time.Millisecond}, {fine, whole, time.Millisecond}} {
		if got := grain(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: got %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
