package invariant_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/storeop"
	"github.com/isr-sim/isr-sim/internal/invariant"
)

// calls is a history of operations written by hand. The n-th operation takes the n-th second, unless it is one of
// several at once.
type calls struct{ all []storeop.Operation }

func (c *calls) evidence(skew time.Duration) invariant.Evidence {
	ev := invariant.Evidence{Record: invariant.Record{MaxClockSkew: skew}}
	ev.Operations = c.all
	return ev
}

func (c *calls) add(actor string, second int, o storeop.Operation) *calls {
	o.Actor, o.Began, o.Call = actor, t0.Add(time.Duration(second)*time.Second), 2*len(c.all)+1
	if o.Key == "" {
		o.Key = "/"
	}
	o.Ended, o.Return = o.Began, o.Call+1
	c.all = append(c.all, o)
	return c
}

// until delays the answer to the last operation until after the next n operations.
func (c *calls) until(n int) *calls {
	c.all[len(c.all)-1].Return += 2*n + 1
	return c
}

// unanswered removes the answer to the last operation.
func (c *calls) unanswered() *calls {
	last := &c.all[len(c.all)-1]
	last.Ended, last.Return, last.Result = time.Time{}, 0, storeop.InDoubt
	return c
}

const (
	done    = storeop.Done
	refused = storeop.Refused
	doubt   = storeop.InDoubt
)

// acquire takes a lease of ten seconds.
func (c *calls) acquire(actor string, second int, token string, r storeop.Result) *calls {
	return c.add(actor, second,
		storeop.Operation{Verb: storeop.Acquire, Token: token, Expires: t0.Unix() + int64(second) + 10, Result: r})
}

func (c *calls) refresh(actor string, second int, token string, r storeop.Result) *calls {
	return c.add(actor, second,
		storeop.Operation{Verb: storeop.Refresh, Token: token, Expires: t0.Unix() + int64(second) + 10, Result: r})
}

// publish publishes a page that TTL may delete after 100 seconds.
func (c *calls) publish(actor string, second int, token, page string, r storeop.Result) *calls {
	return c.add(actor, second, storeop.Operation{
		Verb: storeop.Publish, Token: token, Page: page, TTL: t0.Unix() + int64(second) + 100, Result: r,
	})
}

func (c *calls) release(actor string, second int, token string, r storeop.Result) *calls {
	return c.add(actor, second, storeop.Operation{Verb: storeop.Release, Token: token, Result: r})
}

// read finds a page, or no page.
func (c *calls) read(actor string, second int, page string) *calls {
	o := storeop.Operation{Verb: storeop.Read, Page: page, Result: done}
	if page == "" {
		o.Result = refused
	}
	return c.add(actor, second, o)
}

func ops() *calls { return &calls{} }

func TestLinearizable(t *testing.T) {
	for _, test := range []struct {
		name string
		skew time.Duration
		log  *calls
		show []int // the operations that a violation names; none if there is no violation
	}{
		{name: "nothing at all", log: ops()},
		{name: "a quiet life", log: ops().
			read("alice", 0, "").acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).
			read("bob", 2, "p1")},
		{name: "one page after another", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).
			acquire("bob", 2, "b1", done).publish("bob", 3, "b1", "p2", done).read("alice", 4, "p2")},
		{name: "the page before", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).
			acquire("bob", 2, "b1", done).publish("bob", 3, "b1", "p2", done).read("alice", 4, "p1"),
			show: []int{1, 2, 3, 4, 5}},
		{name: "a page that nobody sees", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).read("bob", 2, ""),
			show: []int{1, 2, 3}},
		{name: "a page that is seen or not while it is published", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).until(2).read("bob", 1, "").
			read("bob", 1, "p1")},
		{name: "but not in the other order", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).until(2).read("bob", 1, "p1").
			read("bob", 1, ""),
			show: []int{1, 2, 4}},
		{name: "a page that TTL may have deleted", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).read("bob", 101, "")},
		{name: "a page that comes back after that", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).read("bob", 101, "").
			read("bob", 102, "p1"),
			show: []int{1, 2, 4}},
		{name: "a page that is published after the lease, which nobody else has taken", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 10, "a1", "p1", done)},
		{name: "two leases at once", log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 9, "b1", done),
			show: []int{1, 2}},
		{name: "one after the other is over", log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 10, "b1", done)},
		{name: "one a little early, as clocks may differ", skew: time.Second, log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 9, "b1", done)},
		{name: "one after the other was given back", log: ops().
			acquire("alice", 0, "a1", done).release("alice", 1, "a1", done).acquire("bob", 2, "b1", done)},
		{name: "a refusal needs no reason", log: ops().
			acquire("alice", 0, "a1", refused).acquire("bob", 0, "b1", done)},
		{name: "an extended lease", log: ops().
			acquire("alice", 0, "a1", done).refresh("alice", 9, "a1", done).acquire("bob", 18, "b1", done),
			show: []int{1, 2, 3}},
		{name: "a lease that is extended after its end, and nobody cared", log: ops().
			acquire("alice", 0, "a1", done).refresh("alice", 10, "a1", done).publish("alice", 19, "a1", "p1", done)},
		{name: "a lease that is extended while somebody else has it", log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 10, "b1", done).refresh("alice", 11, "a1", done),
			show: []int{1, 2, 3}},
		{name: "a page published under a lease of somebody else", log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 10, "b1", done).publish("alice", 11, "a1", "p1", done),
			show: []int{1, 2, 3}},
		{name: "a page published under no lease", log: ops().
			acquire("alice", 0, "a1", done).release("alice", 1, "a1", done).publish("alice", 2, "a1", "p1", done),
			show: []int{1, 2, 3}},
		{name: "a lease that somebody else gives back", log: ops().
			acquire("alice", 0, "a1", done).release("bob", 1, "b1", done).acquire("carol", 2, "c1", done),
			show: []int{1, 2}},
		{name: "somebody else's lease that is over, given back", log: ops().
			acquire("alice", 0, "a1", done).release("bob", 10, "b1", done)},
		{name: "a page whose publish was refused when it was sent again", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", refused).read("bob", 2, "p1").
			acquire("bob", 3, "b1", done)},
		{name: "but not a page whose publish was refused before", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", refused).read("bob", 2, "").
			read("bob", 3, "p1"),
			show: []int{1, 4}},
		{name: "given back twice", log: ops().
			acquire("alice", 0, "a1", done).release("alice", 1, "a1", refused).acquire("bob", 2, "b1", done)},
		{name: "a publish in doubt took effect", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", doubt).read("bob", 2, "").
			read("bob", 3, "p1")},
		{name: "a publish in doubt never did", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", doubt).acquire("bob", 10, "b1", done).
			publish("bob", 11, "b1", "p2", done).read("alice", 12, "p2")},
		{name: "a publish in doubt did and did not", log: ops().
			acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", doubt).read("bob", 2, "p1").
			read("bob", 3, ""),
			show: []int{1, 2, 4}},
		{name: "an acquire without an answer keeps others out, or not", log: ops().
			acquire("alice", 0, "", doubt).unanswered().acquire("bob", 1, "b1", refused).
			acquire("carol", 2, "c1", done)},
		{name: "an acquire without an answer ends nobody's lease", log: ops().
			acquire("alice", 0, "a1", done).acquire("bob", 1, "", doubt).unanswered().acquire("carol", 9, "c1", done),
			show: []int{1, 2, 3}},
		{name: "nor does a release by somebody else", log: ops().
			acquire("alice", 0, "a1", done).release("bob", 1, "b1", doubt).unanswered().acquire("carol", 9, "c1", done),
			show: []int{1, 2, 3}},
		{name: "but the holder's own does", log: ops().
			acquire("alice", 0, "a1", done).release("alice", 1, "a1", doubt).unanswered().
			acquire("carol", 2, "c1", done)},
		{name: "a read without an answer", log: ops().
			read("alice", 0, "p1").unanswered().read("bob", 1, "")},
		{name: "each key by itself", log: ops().
			acquire("alice", 0, "a1", done).
			add("bob", 1, storeop.Operation{
				Key: "/b", Verb: storeop.Acquire, Token: "b1", Expires: t0.Unix() + 11, Result: done,
			})},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := invariant.OK
			if test.show != nil {
				want = invariant.Violated
			}
			f := invariant.Named("linearizable").Check(test.log.evidence(test.skew))
			if f.Verdict != want {
				t.Errorf("verdict %v (%s), want %v", f.Verdict, f.Why, want)
			}
			if diff := cmp.Diff(test.show, f.Operations); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrdersPlaceWhatCanBeExplained(t *testing.T) {
	explained := (&calls{}).acquire("alice", 0, "a1", done).until(1).read("bob", 1, "").
		publish("alice", 2, "a1", "p1", done).read("bob", 3, "p1")
	if diff := cmp.Diff([][]int{{1, 2, 3, 4}}, sorted(explained.orders())); diff != "" {
		t.Errorf("all are explained (-want +got):\n%s", diff)
	}
	// Nobody has published the page that bob reads last.
	lie := (&calls{}).acquire("alice", 0, "a1", done).publish("alice", 2, "a1", "p1", done).read("bob", 3, "p2")
	if diff := cmp.Diff([][]int{{1, 2}}, lie.orders()); diff != "" {
		t.Errorf("the last one is not (-want +got):\n%s", diff)
	}
}

func (c *calls) orders() [][]int {
	ev := c.evidence(0)
	return ev.Orders()
}

// sorted sorts each order, so that only its content is compared: operations at the same time may be in any order.
func sorted(orders [][]int) [][]int {
	for _, order := range orders {
		slices.Sort(order)
	}
	return orders
}

func TestVisualizeShowsOperationsInWords(t *testing.T) {
	log := ops().acquire("alice", 0, "a1", done).publish("alice", 1, "a1", "p1", done).read("bob", 2, "")
	var page bytes.Buffer
	ev := log.evidence(0)
	if err := ev.Visualize(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"acquire a1", "publish a1 p1", "read -\\u003e nothing"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// TestTheDecisiveOperationIsLast: the decisive operation is the one without an explanation, even if another was called
// later.
func TestTheDecisiveOperationIsLast(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2040, 1, 1, 0, 0, s, 0, time.UTC) }
	f := invariant.Named("linearizable").Check((&calls{[]storeop.Operation{
		{Actor: "bob", Verb: storeop.Publish, Key: "/home", Began: at(1), Ended: at(4), Call: 1, Return: 4,
			Result: storeop.Done, Token: "bob-1", Page: "b"},
		{Actor: "alice", Verb: storeop.Acquire, Key: "/home", Began: at(2), Ended: at(3), Call: 2, Return: 3,
			Result: storeop.Done, Token: "alice-1", Expires: at(30).Unix()},
	}}).evidence(0))
	if f.Verdict != invariant.Violated || len(f.Operations) != 2 || f.Operations[1] != 1 {
		t.Errorf("%+v, want a violation with the operations 2 and 1", f)
	}
}
