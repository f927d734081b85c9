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

// What the witness explains, porcupine explains; what it does not, porcupine explains hardly ever.
func TestTheWitnessIsRight(t *testing.T) {
	explicable, found := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := drawOperations(t)
		want := porcupine.CheckOperations(pageModel(time.Second), porcupineOperations(all))
		got := explained(all, "/", time.Second)
		if got && !want {
			t.Fatalf("the witness explains what has no explanation:\n%v", all)
		}
		if want {
			explicable++
		}
		if got {
			found++
		}
	})
	if explicable == 0 || found < explicable*9/10 {
		t.Errorf("the witness explained %d of %d histories that have an explanation, want nearly all", found, explicable)
	}
}
