package property_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// childEnv names the store that TestChild checks. TestChild runs in a
// process of its own, because a check that must fail can only be watched
// from outside.
const childEnv = "ISRSIM_PROPERTY_CHILD"

// replayEnv names the file that TestChild replays instead, if it is set.
const replayEnv = "ISRSIM_PROPERTY_REPLAY"

// TestChild is run by the other tests.
func TestChild(t *testing.T) {
	name := os.Getenv(childEnv)
	if name == "" {
		t.Skip("the other tests run it, in processes of their own")
	}
	if race.Enabled {
		property.SetShrinkRuns(100)
	}
	if of, ok := strings.CutPrefix(name, "prove: "); ok {
		proofs()[of](t, os.Getenv(replayEnv))
		return
	}
	if store, ok := badStores()[name]; ok {
		if file := os.Getenv(replayEnv); file != "" {
			property.Replay(t, file, store)
			return
		}
		property.CheckStore(t, store)
		return
	}
	if promised, ok := strings.CutPrefix(name, "publishes first"); ok {
		p := scenariotest.Protocol(t, "two-transactions")
		store := func(n property.Node) (isr.Handler, error) {
			real, err := p.New(n.Config)
			if err != nil {
				return nil, err
			}
			return handler(real.Get), nil // its publish also forgets requests by name
		}
		check := property.Check{Schedules: 2, Reach: []scenario.Mark{mark.Published}}
		if promised != "" {
			check.Without = []string{"atomic-publish"}
		}
		if file := os.Getenv(replayEnv); file != "" {
			check.Replay(t, file, store)
			return
		}
		check.Run(t, store)
		return
	}
	if store, ok := strangers[name]; ok {
		store.check().Run(t, strange(store))
		return
	}
	if check, ok := choices()[name]; ok {
		check.Run(t, newStore)
		return
	}
	if of, ok := strings.CutPrefix(name, "renamed: "); ok {
		p := scenariotest.Protocol(t, of)
		p = scenariotest.Renamed(p)
		store := func(n property.Node) (isr.Handler, error) { return p.New(n.Config) }
		if file := os.Getenv(replayEnv); file != "" {
			property.Replay(t, file, store) // the file has the rows
			return
		}
		property.Check{Rows: scenariotest.RenamedRows}.Run(t, store)
		return
	}
	if row, ok := wrongRows[name]; ok {
		checkArticles(isr.Schema{Rows: []isr.Row{row}}).Run(t, articlesWith(articles{}))
		return
	}
	if name == "articles by a function, unfenced" {
		checkArticles(articleFunction).Run(t, articlesWith(articles{unfenced: true}))
		return
	}
	if cache, ok := articleCaches[name]; ok {
		checkArticles(articleRows).Run(t, articlesWith(cache))
		return
	}
	if lock, ok := turnstiles()[name]; ok {
		check := property.LockCheck{Table: turnstileTable}
		if file := os.Getenv(replayEnv); file != "" {
			check.Replay(t, file, newTurnstiles(lock))
			return
		}
		check.Run(t, newTurnstiles(lock))
		return
	}
	if bugs, ok := beatingTurnstiles()[name]; ok {
		check := property.LockCheck{Table: turnstileTable, Goroutines: true, Heartbeats: true, Leases: beatingLeases}
		if bugs == (beatingTurnstile{}) {
			check.Schedules = 2
		}
		check.Run(t, newBeatingTurnstiles(bugs))
		return
	}
	if name == "once: at once" {
		c := recordsCheck
		c.Goroutines = true
		c.Run(t, func(n property.OnceNode) (property.Once, error) {
			layer, err := newRecords("")(n)
			return twofold{layer}, err
		})
		return
	}
	if bug, ok := strings.CutPrefix(name, "once: "); ok {
		recordsCheck.Run(t, newRecords(bug))
		return
	}
	if name == "lock: in part" {
		property.LockCheck{Table: turnstileTable}.Run(t, newTwoRows("gone"))
		return
	}
	if name == "lock: extends in no table" {
		property.LockCheck{Table: turnstileTable}.Run(t, extendingInNoTable)
		return
	}
	if name == "lock: extends when it is over" {
		property.LockCheck{Table: turnstileTable}.Run(t, extendingWhenOver)
		return
	}
	if lock, ok := badLocks()[name]; ok {
		property.CheckLock(t, lock)
		return
	}
	if store, ok := goroutineStores()[name]; ok {
		property.Check{Goroutines: true}.Run(t, store)
		return
	}
	p := scenariotest.Protocol(t, name)
	store := func(n property.Node) (isr.Handler, error) { return p.New(n.Config) }
	if file := os.Getenv(replayEnv); file != "" {
		property.Replay(t, file, store)
		return
	}
	property.Check{Protocol: p.Name}.Run(t, store)
}

// child is a finished TestChild.
type child struct {
	dir    string // where it ran and left its files
	passed bool
	output string
}

// failFile is the file in which TestChild leaves its failure, as a path relative to the directory where it ran.
const failFile = "testdata/isr-sim/TestChild.yaml"

func (c child) file() string { return filepath.Join(c.dir, filepath.FromSlash(failFile)) }

// runChild runs TestChild on a store in a directory, with flags and with
// variables such as GOMAXPROCS=1.
func runChild(t *testing.T, dir, store string, flags []string, env ...string) child {
	t.Helper()
	cmd := childCommand(t, dir, store, append([]string{"-test.v"}, flags...), env...)
	output, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() < 1 || exit.ExitCode() > 2) { // 2 is a panic
		t.Fatalf("the child did not end as a test does: %v\n%s", err, output)
	}
	return child{dir: dir, passed: err == nil, output: string(output)}
}

// childCommand is the command of runChild.
func childCommand(t *testing.T, dir, store string, flags []string, env ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	must.OK(t, err)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"-test.run=^TestChild$"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), childEnv+"="+store), env...)
	return cmd
}

// wantFailure requires that the child failed and said so in these words, in this
// order.
func (c child) wantFailure(t *testing.T, words ...string) {
	t.Helper()
	if c.passed {
		t.Fatalf("the check passed, want a failure\n%s", c.output)
	}
	rest := c.output
	for _, w := range words {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("the output lacks %q, or it comes too early; got\n%s", w, c.output)
		}
		rest = after
	}
}

// readFile returns what a file holds.
func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	must.OK(t, err)
	return data
}

// durations matches the durations: only they differ between two outputs of the same check.
var durations = regexp.MustCompile(`\(\d+\.\d+s\)|[\d.]+m?s\b`)

// handler is a store that consists of the function Get.
type handler func(ctx context.Context, key string) (isr.Served, error)

func (h handler) Get(ctx context.Context, key string) (isr.Served, error) { return h(ctx, key) }

// sharedMutex is shared by nodes.
var sharedMutex sync.Mutex

// sharedStore is the store of the first node, which all nodes share.
var sharedStore struct {
	sync.Once
	isr.Handler
}

// badStores are stores that a check must refuse for another reason than a violated invariant.
func badStores() map[string]func(property.Node) (isr.Handler, error) {
	read := func(ctx context.Context, n property.Node) error {
		_, err := n.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &n.Table, Key: pagecache.Key("pk", isr.SortMeta)})
		return err
	}
	render := func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
		body, err := n.Render(ctx, key, func(context.Context) error { return nil })
		return isr.Served{Body: body}, err
	}
	answer := func(get func(ctx context.Context, n property.Node, key string) (isr.Served, error)) func(property.Node) (isr.Handler, error) {
		return func(n property.Node) (isr.Handler, error) {
			return handler(func(ctx context.Context, key string) (isr.Served, error) { return get(ctx, n, key) }), nil
		}
	}
	return map[string]func(property.Node) (isr.Handler, error){
		"panics": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			if err := read(ctx, n); err != nil {
				return isr.Served{}, err
			}
			panic("no such page: " + key)
		}),
		"calls from a goroutine": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			done := make(chan error)
			go func() { done <- read(ctx, n) }()
			if err := <-done; err != nil {
				return isr.Served{}, err
			}
			return render(ctx, n, key)
		}),
		"regenerates in the background": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			go func() { _, _ = render(ctx, n, key) }()
			return isr.Served{}, errors.New("nothing yet")
		}),
		"sleeps in a goroutine": answer(func(_ context.Context, n property.Node, _ string) (isr.Served, error) {
			go n.Clock.Sleep(n.Lease)
			return isr.Served{}, errors.New("nothing yet")
		}),
		"calls from a timer": func(n property.Node) (isr.Handler, error) {
			store, err := newStore(n)
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				time.AfterFunc(time.Minute, func() { _ = read(ctx, n) }) //nolint:forbidigo // a store must not do this
				return store.Get(ctx, key)
			}), err
		},
		"sleeps by package time": func(n property.Node) (isr.Handler, error) {
			store, err := newStore(n)
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				time.Sleep(time.Second) //nolint:forbidigo // a store must not do this
				return store.Get(ctx, key)
			}), err
		},
		"leaves a sleeper": func(n property.Node) (isr.Handler, error) {
			go time.Sleep(time.Minute) //nolint:forbidigo // a store must not do this
			return newStore(n)
		},
		"has a timeout": func(n property.Node) (isr.Handler, error) {
			store, err := newStore(n)
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				return store.Get(ctx, key)
			}), err
		},
		"waits for ever": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			return isr.Served{}, <-make(chan error)
		}),
		"waits for the outside, without goroutines": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			return isr.Served{}, <-outsideChannel
		}),
		"shares a mutex": answer(func(ctx context.Context, n property.Node, _ string) (isr.Served, error) {
			sharedMutex.Lock()
			defer sharedMutex.Unlock()
			return isr.Served{}, read(ctx, n)
		}),
		"reads the wall clock": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			row := pagecache.Key(key, isr.SortLock)
			row["lease_expires_at"] = num(time.Now().Add(n.Lease).Unix()) //nolint:forbidigo // a store must not do this
			_, err := n.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &n.Table, Item: row})
			return isr.Served{}, err
		}),
		"uses a timer": answer(func(_ context.Context, n property.Node, _ string) (isr.Served, error) {
			<-n.Clock.After(n.Lease)
			return isr.Served{}, nil
		}),
		"is shared": func(n property.Node) (isr.Handler, error) {
			sharedStore.Do(func() { sharedStore.Handler, _ = newStore(n) })
			return handler(sharedStore.Get), nil
		},
		"serves other bytes": func(n property.Node) (isr.Handler, error) {
			store, err := newStore(n)
			return handler(func(ctx context.Context, key string) (isr.Served, error) {
				served, err := store.Get(ctx, key)
				served.Body = append([]byte("<html>"), served.Body...)
				return served, err
			}), err
		},
		"rolls nothing back": func(n property.Node) (isr.Handler, error) {
			store, err := newStore(n)
			return idleRollback{store}, err
		},
		"rolls back too far":   rollsBack(func(v pagecache.Version, chosen pagecache.Meta) bool { return v.GeneratedAt < chosen.GeneratedAt }),
		"rolls back by name":   rollsBack(func(v pagecache.Version, chosen pagecache.Meta) bool { return v.SK > chosen.CurrentSK }),
		"rolls back to newest": rollsBack(func(v pagecache.Version, chosen pagecache.Meta) bool { return v.GeneratedAt > chosen.GeneratedAt }),
		"never caches":         answer(render),
		"always fails": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			return isr.Served{}, errors.New("not today")
		}),
		"looks into another table": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			n.Table = "the-real-one"
			return isr.Served{}, read(ctx, n)
		}),
		"cannot be made": func(property.Node) (isr.Handler, error) { return nil, errors.New("no region") },
		"is nil":         func(property.Node) (isr.Handler, error) { return nil, nil },
	}
}

// rollsBack makes a store that goes back to another version than it should: the best of those that it has.
func rollsBack(better func(v pagecache.Version, chosen pagecache.Meta) bool) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		return pagecache.OnRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return otherVersion{r, better} })(n.Config)
	}
}

type otherVersion struct {
	*pagecache.RecipeB
	better func(v pagecache.Version, chosen pagecache.Meta) bool
}

func (o otherVersion) Older(ctx context.Context, key string) (visible, chosen pagecache.Meta, err error) {
	visible, chosen, err = o.RecipeB.Older(ctx, key)
	if err != nil {
		return visible, chosen, err
	}
	versions, err := o.Versions(ctx, key)
	for _, v := range versions {
		if !o.Gone(v.TTL) && v.SK != visible.CurrentSK && o.better(v, chosen) {
			chosen.CurrentSK, chosen.GeneratedAt, chosen.RevalidateSeconds, chosen.TTL = v.SK, v.GeneratedAt, v.RevalidateSeconds, v.TTL
		}
	}
	return visible, chosen, err
}

// idleRollback says that it has gone back to an older version, and has not.
type idleRollback struct{ isr.Handler }

func (idleRollback) Rollback(context.Context, string) error { return nil }
