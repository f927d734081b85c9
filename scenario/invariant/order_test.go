package invariant

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/scenario/history"
)

// drawOperations draws a history of two nodes on a key, of which some can be explained and some cannot: calls and answers
// in any order, few tokens, pages and seconds.
func drawOperations(t *rapid.T) []history.Operation {
	epoch := time.Unix(1_000, 0)
	var all []history.Operation
	open := map[string]int{}
	for order := 1; order <= 2*rapid.IntRange(1, 8).Draw(t, "operations"); order++ {
		actor := rapid.SampledFrom([]string{"alice", "bob", "carol"}).Draw(t, "actor")
		now := epoch.Add(time.Duration(order) * time.Second)
		if place, calls := open[actor]; calls {
			o := &all[place]
			o.Ended, o.Return = now, order
			o.Result = rapid.SampledFrom([]history.Result{history.Done, history.Refused, history.Done, history.InDoubt}).Draw(t, "result")
			if o.Verb == history.Read {
				o.Page = rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "page")
			}
			delete(open, actor)
			continue
		}
		o := history.Operation{
			Actor: actor, Key: "/", Began: now, Call: order,
			Verb:    rapid.SampledFrom([]history.Verb{history.Acquire, history.Read, history.Publish, history.Refresh, history.Release}).Draw(t, "verb"),
			Token:   actor,
			Expires: now.Unix() + rapid.Int64Range(1, 6).Draw(t, "lease"),
		}
		if o.Verb == history.Publish {
			o.Page = rapid.SampledFrom([]string{"p1", "p2"}).Draw(t, "page")
			o.TTL = now.Unix() + rapid.Int64Range(1, 6).Draw(t, "ttl")
		}
		open[actor] = len(all)
		all = append(all, o)
	}
	return all
}

// The search finds what porcupine finds, which knows nothing of answers in their order, of places, or of what may be left out.
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
		var before, with []history.Operation
		for _, o := range all {
			if o.Call > at.Return {
				continue
			}
			with = append(with, o)
			if o.Return >= at.Return {
				o.Ended, o.Return, o.Result = time.Time{}, 0, history.InDoubt
			}
			before = append(before, o)
		}
		if !porcupine.CheckOperations(pageModel(time.Second), porcupineOperations(before)) {
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
