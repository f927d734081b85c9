package invariant_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/fakeclock"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

const (
	cacheTable = "cache"
	maxSkew    = 3 * time.Second
)

var cacheKeys = []string{"/a", "/b"}

// writer is a node with its own clock that follows recipe A. It remembers every lease that it has ever had. Like a node
// that was paused, it also uses old leases.
type writer struct {
	name   string
	store  *pagecache.RecipeA
	leases []pagecache.Lease
}

// fleet is a table, and writers whose clocks are wrong by at most maxSkew.
type fleet struct {
	ctx     context.Context
	clock   *fakeclock.Clock
	db      *ddbfake.DB
	writers []*writer
	bodies  int
}

func drawFleet(t *rapid.T) *fleet {
	f := &fleet{ctx: context.Background(), clock: fakeclock.New(t0)}
	f.db = ddbfake.New(ddbfake.Options{Clock: f.clock})
	must.Done(t)(f.db.As("setup").CreateTable(f.ctx, isr.TableInput(cacheTable)))
	for _, name := range []string{"alice", "bob", "carol"} {
		offset := rapid.Int64Range(-int64(maxSkew), int64(maxSkew)).Draw(t, name+"'s clock is off by")
		tokens := 0
		store, err := pagecache.NewRecipeA(isr.Config{
			Client: f.db.As(name), Clock: f.clock.Node(fakeclock.Drift{Offset: time.Duration(offset)}),
			Table: cacheTable, Bodies: scenariotest.Bodies{}, Lease: 5 * time.Second, TTLBuffer: time.Second,
			Tokens: func() string { tokens++; return fmt.Sprintf("%s-%d", name, tokens) },
			Render: func(context.Context, string, func(context.Context) error) ([]byte, error) { return nil, nil },
		})
		must.OK(t, err)
		f.writers = append(f.writers, &writer{name: name, store: store})
	}
	return f
}

// step does one thing that a correct writer may do, or lets time pass.
func (f *fleet) step(t *rapid.T) {
	w := rapid.SampledFrom(f.writers).Draw(t, "writer")
	what := rapid.SampledFrom([]string{"acquire", "publish", "refresh", "release", "wait"}).Draw(t, "step")
	if what != "acquire" && what != "wait" && len(w.leases) == 0 {
		what = "acquire"
	}
	var err error
	switch what {
	case "wait":
		f.clock.Advance(time.Duration(rapid.Int64Range(0, int64(4*time.Second)).Draw(t, "for")))
	case "acquire":
		var lease pagecache.Lease
		lease, err = w.store.Acquire(f.ctx, rapid.SampledFrom(cacheKeys).Draw(t, "key"))
		if err == nil {
			w.leases = append(w.leases, lease)
		}
	default:
		lease := w.leases[rapid.IntRange(0, len(w.leases)-1).Draw(t, "lease")]
		switch what {
		case "publish":
			err = w.store.Publish(f.ctx, lease, f.page(w.store.PK(lease.Key)))
		case "refresh":
			_, err = w.store.Refresh(f.ctx, lease)
		case "release":
			err = w.store.Release(f.ctx, lease)
		}
	}
	if err != nil && !errors.Is(err, pagecache.ErrHeld) && !errors.Is(err, isr.ErrLeaseLost) {
		t.Fatal(err)
	}
}

// page is a META row that differs from all earlier ones.
func (f *fleet) page(pk string) pagecache.Meta {
	f.bodies++
	return pagecache.Meta{
		PK: pk, S3Key: fmt.Sprint("body-", f.bodies),
		GeneratedAt: pagecache.Floor(f.clock.Now()), RevalidateSeconds: 60,
	}
}

func (f *fleet) steps(t *rapid.T) {
	for range rapid.IntRange(0, 25).Draw(t, "steps") {
		f.step(t)
	}
}

func (f *fleet) check(inv invariant.Invariant) invariant.Finding {
	return inv.Check(invariant.Evidence{Record: invariant.Record{Changes: f.db.Changes(), MaxClockSkew: maxSkew}})
}

// onLog returns the invariants that need only the log.
func onLog() []invariant.Invariant {
	return slices.DeleteFunc(invariant.All(), func(inv invariant.Invariant) bool { return inv.Watch == nil })
}

// Correct writers violate nothing, whatever they do, and whatever their clocks show within the promise; a publish
// without the lease is found. A check of the whole log, a judge of all invariants at once and a watcher of each request
// find the same.
func TestJudgesAndWatchersFindWhatChecksFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.steps(t)
		stranger := 0 // the change that a writer without the lease makes
		if rapid.Bool().Draw(t, "with a stranger") {
			pk := isr.PartitionKey("", rapid.SampledFrom(cacheKeys).Draw(t, "key"))
			must.Done(t)(f.db.As("mallory").PutItem(f.ctx,
				&dynamodb.PutItemInput{TableName: aws.String(cacheTable), Item: f.page(pk).Item()}))
			stranger = len(f.db.Changes())
		}
		f.steps(t)
		judged := map[string]invariant.Finding{}
		invariant.Judge(invariant.Evidence{Record: invariant.Record{Changes: f.db.Changes(), MaxClockSkew: maxSkew}},
			func(inv invariant.Invariant, finding invariant.Finding) {
				judged[inv.Name] = finding
			})
		for _, inv := range onLog() {
			want := f.check(inv)
			if stranger == 0 && want.Verdict != invariant.OK {
				t.Fatalf("%s is %v: %s (changes %v)", inv.Name, want.Verdict, want.Why, want.Changes)
			}
			if stranger > 0 && inv.Name == "stale-writer" &&
				(want.Verdict != invariant.Violated || want.Changes[len(want.Changes)-1] != stranger) {
				t.Fatalf("%v: %s (changes %v), want change %d named last", want.Verdict, want.Why, want.Changes,
					stranger)
			}
			if got := judged[inv.Name]; got.Verdict != want.Verdict && want.Verdict != invariant.OK ||
				got.Why != want.Why || !slices.Equal(got.Changes, want.Changes) {
				t.Fatalf("%s: judged %+v, checked %+v", inv.Name, got, want)
			}
			watch := inv.Watch(invariant.Promise{MaxClockSkew: maxSkew})
			seen := invariant.Finding{Verdict: invariant.OK}
			for log := f.db.Changes(); len(log) > 0 && seen.Verdict != invariant.Violated; {
				n := 1
				for n < len(log) && log[n].Request != 0 && log[n].Request == log[0].Request {
					n++
				}
				if got := watch(log[:n]); got.Verdict != invariant.OK &&
					(seen.Verdict == invariant.OK || got.Verdict == invariant.Violated) {
					seen = got
				}
				log = log[n:]
			}
			if seen.Verdict == invariant.Violated {
				seen.Changes = invariant.Story(f.db.Changes(), seen.Changes)
			}
			if !reflect.DeepEqual(want, seen) {
				t.Fatalf("%s: checked %+v, watched %+v", inv.Name, want, seen)
			}
		}
	})
}
