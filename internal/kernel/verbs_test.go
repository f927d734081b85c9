package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/sim"
	"github.com/isr-sim/isr-sim/internal/sim/strategy"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/scenario/history"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

// versatile is a cache that has all verbs of scripts, each in the simplest form.
type versatile struct {
	*pagecache.Cache
	cfg isr.Config
}

func newVersatile(cfg isr.Config) (isr.Handler, error) {
	cache, err := pagecache.New(cfg)
	return versatile{cache, cfg}, err
}

func (v versatile) Invalidate(ctx context.Context, key string) error {
	_, err := v.cfg.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &v.cfg.Table, Key: pagecache.Key(isr.PartitionKey(v.cfg.Tenant, key), isr.SortMeta),
		ConditionExpression: aws.String("attribute_exists(pk)"),
	})
	return err
}

// Rollback looks for versions, but there are none.
func (v versatile) Rollback(ctx context.Context, key string) error {
	out, err := v.cfg.Client.Query(ctx, &dynamodb.QueryInput{
		TableName: &v.cfg.Table, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :of)"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: isr.PartitionKey(v.cfg.Tenant, key)},
			":of": &types.AttributeValueMemberS{Value: "M"},
		},
	})
	if err == nil && len(out.Items) == 0 {
		return isr.ErrMiss
	}
	return err
}

// Regenerate makes a page, but does not cache it.
func (v versatile) Regenerate(ctx context.Context, key string, r isr.Request) (isr.Served, error) {
	item := pagecache.Key(isr.PartitionKey(v.cfg.Tenant, key), "REQ#"+r.ID)
	item["request_hash"], item["status"] = &types.AttributeValueMemberS{Value: r.Hash}, &types.AttributeValueMemberS{
		Value: "STARTED",
	}
	_, err := v.cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &v.cfg.Table, Item: item, ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if err != nil {
		return isr.Served{}, isr.ErrOtherInputs
	}
	body, err := v.cfg.Render(ctx, key, func(context.Context) error { return nil })
	return isr.Served{Body: body}, err
}

const everyVerb = `
name: verbs
protocol: recipe-a
actors:
  - name: alice
    script: [get /home, rollback /home, invalidate /home, invalidate /home, rollback /home, regenerate /home as r1, regenerate /home as r1 with v2]
`

func TestVerbsAskAndAreRecorded(t *testing.T) {
	p := isr.Protocol{Name: "versatile", New: newVersatile}
	w := happened(t, everyVerb, p)
	type seen struct {
		Kind                  history.Kind
		Body, Request, Inputs string
	}
	var got []seen
	for _, e := range w.history.Events() {
		got = append(got, seen{e.Kind, e.Body, e.Request, e.Inputs})
	}
	want := []seen{
		{history.Asked, "", "", ""}, {history.Rendered, "/home@0#alice-render-1", "", ""},
		{history.Served, "/home@0#alice-render-1", "", ""},
		{history.RollingBack, "", "", ""}, // only the change log shows whether it succeeds
		{history.Invalidating, "", "", ""}, {history.Invalidated, "", "", ""},
		{history.Invalidating, "", "", ""}, {history.Failed, "", "", ""}, // there is nothing left to invalidate
		{history.RollingBack, "", "", ""}, {history.Failed, "", "", ""}, // and no page to go back to
		{history.Asked, "", "r1", "none"}, {history.Rendered, "/home@0#alice-render-2", "r1", "none"},
		{history.Served, "/home@0#alice-render-2", "r1", "none"},
		{history.Asked, "", "r1", "v2"}, {history.Failed, "", "r1", "v2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, m := range []spec.Mark{mark.PageInvalidated, mark.RequestRepeated} {
		if !w.marks.has(m) {
			t.Errorf("%s is not marked", m)
		}
	}
	if w.marks.has(mark.RolledBack) {
		t.Error("rolled-back is marked, although no row has changed")
	}
}

// A page rendered again from the same data has the same bytes only if the scenario says so.
func TestSameBytes(t *testing.T) {
	const file = "name: same\nprotocol: recipe-a\nactors:\n  - name: alice\n    script: [get /home, sleep 2m, " +
		"get /home, change /home, sleep 2m, get /home]\n"
	for cache, want := range map[string][]string{
		"":                          {"/home@0#alice-render-1", "/home@0#alice-render-2", "/home@1#alice-render-3"},
		"cache: {same-bytes: true}": {"/home@0#same", "/home@0#same", "/home@1#same"},
	} {
		var got []string
		for _, e := range happened(t, file+cache, recipe.Reference()).history.Events() {
			if e.Kind == history.Rendered {
				got = append(got, e.Body)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: rendered (-want +got):\n%s", cache, diff)
		}
	}
}

func TestARequestIsRepeatedOnlyIfSomebodyAskedForItBefore(t *testing.T) {
	w := happened(t, strings.Replace(everyVerb, "regenerate /home as r1 with v2", "regenerate /home as r2 with v2", 1),
		isr.Protocol{Name: "versatile", New: newVersatile})
	if w.marks.has(mark.RequestRepeated) {
		t.Error("request-repeated is marked, although the two requests have two names")
	}
}

func TestVerbsPrintAsTheyAreWrittenAndTheirCallsInWords(t *testing.T) {
	s := must.Of(spec.Parse("f.yaml", []byte(everyVerb)))(t)
	const want = "[get /home rollback /home invalidate /home invalidate /home rollback /home " +
		"regenerate /home as r1 regenerate /home as r1 with v2]"
	if got := fmt.Sprint(s.Actors[0].Script); got != want {
		t.Errorf("the script prints %q, want %q", got, want)
	}
	var trace bytes.Buffer
	run := Run{Scenario: s, Protocol: isr.Protocol{Name: "versatile", New: newVersatile},
		Strategy: strategy.DelayBound(0), Trace: &trace}
	if _, err := run.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Query if pk = :pk AND begins_with(sk, :of) {:of=M :pk=/home} -> [META body pages/alice-1 generated +0s " +
			"fresh until +1m0s]",
		"REQ#r1 of /home: absent => STARTED with none",
		"alice failed /home: " + isr.ErrOtherInputs.Error(),
	} {
		if !strings.Contains(trace.String(), want) {
			t.Errorf("the trace does not say %q:\n%s", want, trace.String())
		}
	}
}

func TestAProtocolThatCannotDoWhatAVerbAsksForBreaksTheRun(t *testing.T) {
	for _, verb := range []string{"invalidate /home", "rollback /home", "regenerate /home as r1"} {
		s, err := spec.Parse("f.yaml", []byte("name: unable\nactors: [{name: alice, script: ["+verb+"]}]"))
		must.OK(t, err)
		p := isr.Protocol{Name: "simple", New: func(cfg isr.Config) (isr.Handler, error) {
			cache, err := pagecache.New(cfg)
			return getter{cache}, err
		}}
		_, err = Run{Scenario: s, Protocol: p}.Do(t.Context())
		broken, ok := errors.AsType[*BrokenError](err)
		name, _, _ := strings.Cut(verb, " ")
		if want := "protocol simple cannot " + name; !ok || !strings.Contains(broken.Error(), want) {
			t.Errorf("%s: %v, want a *BrokenError that says %q", verb, err, want)
		}
	}
}

// getter is a Handler and nothing else.
type getter struct{ cache *pagecache.Cache }

func (g getter) Get(ctx context.Context, key string) (isr.Served, error) {
	return g.cache.Get(ctx, key)
}

// memoryLock is a lock in memory that all nodes of one run share. It makes no requests, and is held until it is
// released. With leaks it is never released.
type memoryLock struct {
	holder *string
	clock  func() time.Time
	leaks  bool
}

func (memoryLock) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("no pages")
}
func (memoryLock) Terms() promise.LockTerms { return promise.LockTerms{Wait: time.Second} }

func (l memoryLock) Acquire(_ context.Context, name string) (*hooks.Held, error) {
	if *l.holder != "" {
		return nil, errors.New("taken")
	}
	*l.holder = name
	return &hooks.Held{
		Holds: func(context.Context) (bool, error) { return true, nil },
		Release: func(context.Context) error {
			if !l.leaks {
				*l.holder = ""
			}
			return nil
		},
	}, nil
}

// TestHold runs scripts that hold a lock, and finds a lock that stays taken.
func TestHold(t *testing.T) {
	const file = "name: f\nprotocol: recipe-a\nactors:\n  - name: alice\n    script: [hold job for 3s]\n" +
		"  - name: bob\n    script: [sleep 4s, hold job for 1s]\nsettle: 5s\n"
	s, err := spec.Parse("f.yaml", []byte(file))
	must.OK(t, err)
	if text := s.Actors[0].Script[0].String(); text != "hold job for 3s" {
		t.Errorf("the command prints as %q", text)
	}
	for _, leaks := range []bool{false, true} {
		var trace strings.Builder
		o, err := Run{Scenario: s, Trace: &trace,
			Protocol: isr.Protocol{Name: "memory", New: func() func(isr.Config) (isr.Handler, error) {
				holder := ""
				return func(c isr.Config) (isr.Handler, error) { return memoryLock{&holder, c.Clock.Now, leaks}, nil }
			}()}}.Do(t.Context())
		must.OK(t, err)
		if want := map[bool]invariant.Verdict{false: invariant.OK, true: invariant.Violated}[leaks]; o.Verdict != want {
			t.Errorf("leaks %v: got %v, want %v\n%s", leaks, o.Verdict, want, &trace)
		}
		for _, line := range []string{"alice asks for lock job (alice-hold-1)", "alice takes lock job",
			"alice writes what is guarded by lock job", "alice has given back lock job", "visitor asks for lock job"} {
			if !strings.Contains(trace.String(), line) {
				t.Errorf("the trace lacks %q:\n%s", line, &trace)
			}
		}
	}
	// A cache has no locks, and says so.
	p, err := ProtocolNamed("recipe-a")
	must.OK(t, err)
	if _, err := (Run{Scenario: s, Protocol: p}).Do(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "protocol recipe-a cannot hold") {
		t.Errorf("a cache holds a lock: %v", err)
	}
}

// troubled is a scenario with the given faults.
func troubled(faults string) string {
	return fmt.Sprintf(`
name: troubled
protocol: recipe-a
cache: {lease: 10s, revalidate: 20s}
actors:
  - {name: alice, script: [get /home, sleep 21s, get /home]}
  - {name: bob, script: [sleep 1s, get /home]}
faults: [%s]
settle: 30s
bounds: {ticks: 0, schedules: 300}
`, faults)
}

// answers returns the answers to clients, in order: "alice served fresh", "alice failed".
func answers(w *world) (told []string) {
	for _, e := range w.history.Events() {
		if e.Kind == history.Served || e.Kind == history.Failed {
			told = append(told, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Actor, e.Kind, e.As)))
		}
	}
	return told
}

func TestDependencyFaultsStrikeWhoseTurnItIs(t *testing.T) {
	for _, test := range []struct {
		fault  string
		want   string // the answers to clients
		bodies int    // how many are stored
	}{
		{"body-put-failed", "alice failed, bob served fresh, alice served fresh", 2},
		{"body-put-failed times=2", "alice failed, bob failed, alice served fresh", 1},
		{"body-put-failed nth=2", "alice served fresh, bob served fresh, alice served stale", 1},
		{"body-put-failed actor=bob", "alice served fresh, bob served fresh, alice served fresh", 2},
		{"body-put-lost", "alice failed, bob served fresh, alice served fresh", 3},
		{"body-get-failed", "alice served fresh, bob failed, alice served fresh", 2},
		{"origin-failed actor=alice times=always", "alice failed, bob served fresh, alice served stale", 1},
		{"origin-failed nth=2 times=2", "alice served fresh, bob served fresh, alice served stale", 1},
	} {
		w := happened(t, troubled(test.fault), recipe.Reference())
		if got := strings.Join(answers(w), ", "); got != test.want {
			t.Errorf("%s: clients were told %q, want %q", test.fault, got, test.want)
		}
		if len(w.bodyLog) != test.bodies {
			t.Errorf("%s: %d bodies are stored, want %d", test.fault, len(w.bodyLog), test.bodies)
		}
		kind, _, _ := strings.Cut(test.fault, " ")
		if struck := !strings.Contains(test.fault, "bob"); w.marks.has(spec.Mark(kind)) != struck ||
			(len(w.unmetFaults()) == 0) != struck {
			t.Errorf("%s: marked %v, unmet %v", test.fault, w.marks, w.unmetFaults())
		}
	}
}

// If there is no better page, a client may get a page that it has seen before, unless the cache is configured to fail.
func TestWhatAFailureIsServedIsAPolicy(t *testing.T) {
	for policy, want := range map[string]string{
		"serve-last": "alice served fresh, bob served fresh, alice served stale",
		"error":      "alice served fresh, bob served fresh, alice failed",
	} {
		file := strings.Replace(troubled("origin-failed nth=2"), "cache: {", "cache: {failure: "+policy+", ", 1)
		w := happened(t, file, recipe.Reference())
		if got := strings.Join(answers(w), ", "); got != want {
			t.Errorf("%s: clients were told %q, want %q", policy, got, want)
		}
		if printed, err := w.scenario.YAML(); err != nil ||
			strings.Contains(string(printed), "failure:") != (policy == "error") {
			t.Errorf("%s: printed as\n%s\n%v", policy, printed, err)
		}
	}
}

// With both kinds of client, a node's requests go to its own region, or to the region that their options name.
func TestRequestsGoToARegion(t *testing.T) {
	s, err := spec.Parse("x.yaml", []byte("name: x\nactors:\n  - {name: alice, script: [get /home]}\n"+
		"  - {name: bob, region: eu-west-1, script: [get /home]}\nregion-lag: never\n"))
	must.OK(t, err)
	home, err := ProtocolNamed("recipe-a-home")
	must.OK(t, err)
	for _, sdk := range []bool{false, true} {
		for _, test := range []struct {
			protocol isr.Protocol
			want     []string // regions of the changes
		}{{recipe.Reference(), testRegions[:2]}, {home, testRegions[:1]}} {
			o, err := Run{
				Scenario: s, Protocol: test.protocol, Options: Options{SDK: sdk, Only: "freshness"},
			}.Do(context.Background())
			must.OK(t, err)
			ev, kept := o.Evidence()
			if !kept {
				t.Fatal(errors.New("found no evidence"))
			}
			var got []string
			for _, c := range ev.Changes {
				if !slices.Contains(got, c.Region) {
					got = append(got, c.Region)
				}
			}
			slices.Sort(got)
			slices.Reverse(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%s, SDK %v: got changes in %v, want %v", test.protocol.Name, sdk, got, test.want)
			}
		}
	}
}

// impatientLock drops its request after a second, like a program whose call has a time limit, and refuses without an
// answer. If deaf is set, the answer still comes, but the lock does not wait for it.
type impatientLock struct {
	memoryLock
	cfg  isr.Config
	drop time.Duration
	deaf bool
}

func (l impatientLock) Acquire(context.Context, string) (*hooks.Held, error) {
	clock, answered, ended := l.cfg.Clock.(sim.NodeClock), false, false
	late := func() {}
	drop := clock.Lane(func() {
		body := `{"TableName": "` + l.cfg.Table + `", "Key": {"pk": {"S": "job"}, "sk": {"S": "LOCK"}}}`
		ctx := context.WithValue(context.Background(), hooks.Late{}, &late)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://dynamodb.us-east-1.amazonaws.com/",
			strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.GetItem")
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		if answer, err := l.cfg.Client.(*dynamodb.Client).Options().HTTPClient.Do(r); err == nil {
			answered = answer.Body.Close() == nil
		}
		ended = true
	})
	clock.Sleep(l.drop)
	if l.deaf && !ended {
		late()
		for !ended {
			clock.Join()
		}
		return nil, errors.New("the call took too long")
	}
	drop()
	if !answered {
		return nil, errors.New("the call took too long")
	}
	return &hooks.Held{Release: func(context.Context) error { return nil }}, nil
}

// A delayed request that a program gives up counts as failed. A request that it drops at once does not, because the
// program did not wait.
func TestARequestThatIsGivenUpExcuses(t *testing.T) {
	s, err := spec.Parse("f.yaml",
		[]byte("name: f\nprotocol: recipe-a\nactors: [{name: alice, script: [hold job for 1s]}]\n"))
	must.OK(t, err)
	for _, l := range []impatientLock{{drop: time.Second}, {}, {drop: time.Second, deaf: true}, {deaf: true}} {
		refused, want := 0, invariant.OK
		if l.drop == 0 {
			want = invariant.Violated
		}
		for seed := range uint64(40) {
			var trace strings.Builder
			o, err := Run{Scenario: s, Seed: seed, Trace: &trace,
				Options: Options{SDK: true, Only: "free-lock"}, Protocol: isr.Protocol{
					Name: "impatient", SDK: true,
					New: func(c isr.Config) (isr.Handler, error) { l.cfg = c; return l, nil },
				}}.Do(t.Context())
			must.OK(t, err)
			if !strings.Contains(trace.String(), "alice is refused lock job") {
				continue
			}
			if refused++; o.Verdict != want {
				t.Fatalf("dropped after %v, deaf %v: got %v, want %v\n%s", l.drop, l.deaf, o.Verdict, want, &trace)
			}
		}
		if refused == 0 {
			t.Errorf("dropped after %v, deaf %v: no request was given up", l.drop, l.deaf)
		}
	}
}

// There are at most 64 marks, each with its own bit.
func TestMarksAreToldApart(t *testing.T) {
	var all marks
	for _, m := range allMarks {
		if one := bitOfMark[m].all(); !slices.Equal(one, []spec.Mark{m}) {
			t.Errorf("the bit of %s is that of %v", m, one)
		}
		all |= bitOfMark[m]
	}
	if !slices.Equal(all.all(), spec.Marks()) {
		t.Errorf("got %v, want %v", all.all(), spec.Marks())
	}
}
