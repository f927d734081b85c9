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
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/rules/scenariotest"
	"github.com/isr-sim/isr-sim/internal/trace/mark"
	"github.com/isr-sim/isr-sim/property"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// childEnv names the store that TestChild checks. TestChild runs in a separate process, because a check that must fail
// can only be watched from outside.
const childEnv = "ISRSIM_PROPERTY_CHILD"

// replayEnv, if set, names the file that TestChild replays instead.
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
	file, locks := os.Getenv(replayEnv), property.LockCheck{Table: turnstileTable}
	// check checks a store, or replays the file on it.
	check := func(c property.Check, store func(property.Node) (isr.Handler, error)) {
		if file != "" {
			c.Replay(t, file, store)
		} else {
			c.Run(t, store)
		}
	}
	if of, ok := strings.CutPrefix(name, "prove: "); ok {
		proofs()[of](t, file)
	} else if promised, ok := strings.CutPrefix(name, "publishes first"); ok {
		c := property.Check{Schedules: 2, Reach: []spec.Mark{mark.Published},
			Promise: spec.Promise{Recipe: true}}
		if promised != "" {
			c.Without = []string{"atomic-publish"}
		}
		p := scenariotest.Protocol(t, "two-transactions")
		check(c, func(n property.Node) (isr.Handler, error) {
			real, err := p.New(n.Config)
			if err != nil {
				return nil, err
			}
			return handler(real.Get), nil // its publish does not complete requests with keys, either
		})
	} else if promised, ok := strings.CutPrefix(name, "token only, promised: "); ok {
		c := property.Check{Schedules: 5, Promise: spec.Promise{Recipe: promised == "true"}}
		check(c, func(n property.Node) (isr.Handler, error) { return tokenOnly(n.Config) })
	} else if store, ok := badStores()[name]; ok {
		check(property.Check{}, store)
	} else if store, ok := strangers[name]; ok {
		check(store.check(), strange(store))
	} else if c, ok := choices()[name]; ok {
		check(c, newStore)
	} else if of, ok := strings.CutPrefix(name, "renamed: "); ok {
		p, rows := scenariotest.Renamed(scenariotest.Protocol(t, of)), scenariotest.RenamedRows
		if file != "" {
			rows = isr.Schema{} // the file has them
		}
		check(property.Check{Rows: rows}, func(n property.Node) (isr.Handler, error) { return p.New(n.Config) })
	} else if row, ok := wrongRows[name]; ok {
		check(checkArticles(isr.Schema{Rows: []isr.Row{row}}), articlesWith(articles{}))
	} else if name == "articles by a function, unfenced" {
		check(checkArticles(articleFunction), articlesWith(articles{unfenced: true}))
	} else if cache, ok := articleCaches[name]; ok {
		check(checkArticles(articleRows), articlesWith(cache))
	} else if lock, ok := turnstiles()[name]; ok && file != "" {
		locks.Replay(t, file, newTurnstiles(lock))
	} else if ok {
		locks.Run(t, newTurnstiles(lock))
	} else if bugs, ok := beatingTurnstiles()[name]; ok {
		locks.Goroutines, locks.Heartbeats, locks.Leases = true, true, beatingLeases
		if bugs == (beatingTurnstile{}) || bugs.waits {
			locks.Schedules = 2
		}
		locks.Run(t, newBeatingTurnstiles(bugs))
	} else if name == "once: at once" {
		c := recordsCheck
		c.Goroutines = true
		c.Run(t, func(n property.Machine) (property.Once, error) {
			layer, err := newRecords("")(n)
			return twofold{layer}, err
		})
	} else if bug, ok := strings.CutPrefix(name, "once: "); ok {
		recordsCheck.Run(t, newRecords(bug))
	} else if name == "lock: in part" {
		locks.Run(t, newTwoRows("gone"))
	} else if name == "lock: extends in no table" {
		locks.Run(t, extendingInNoTable)
	} else if lock, ok := badLocks()[name]; ok && file != "" {
		property.LockCheck{}.Replay(t, file, lock)
	} else if ok {
		property.CheckLock(t, lock)
	} else if store, ok := goroutineStores()[name]; ok {
		check(property.Check{Goroutines: true}, store)
	} else {
		p := scenariotest.Protocol(t, name)
		c := property.Check{Protocol: p.Name}
		if file != "" {
			c = property.Check{} // the file names the protocol
		}
		check(c, func(n property.Node) (isr.Handler, error) { return p.New(n.Config) })
	}
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
	// exit code 2 is a panic
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil &&
		(!ok || exit.ExitCode() < 1 || exit.ExitCode() > 2) {
		t.Fatalf("the child did not end as a test does: %v\n%s", err, output)
	}
	return child{dir: dir, passed: err == nil, output: string(output)}
}

func childCommand(t *testing.T, dir, store string, flags []string, env ...string) *exec.Cmd {
	t.Helper()
	binary := must.Of(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"-test.run=^TestChild$"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), childEnv+"="+store), env...)
	return cmd
}

// wantFailure requires that the child failed, and that its output has these words in this order.
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

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	return must.Of(os.ReadFile(file))(t)
}

// durations matches the durations, in which alone two outputs of the same check differ.
var durations = regexp.MustCompile(`\(\d+\.\d+s\)|[\d.]+m?s\b`)

// handler is a store with nothing but Get.
type handler func(ctx context.Context, key string) (isr.Served, error)

func (h handler) Get(ctx context.Context, key string) (isr.Served, error) { return h(ctx, key) }

// sharedMutex is shared by nodes.
var sharedMutex sync.Mutex

// sharedStore is the store of the first node, which all nodes share.
var sharedStore struct {
	sync.Once
	isr.Handler
}

// badStores are stores that a check must refuse for a reason other than a violated invariant.
func badStores() map[string]func(property.Node) (isr.Handler, error) {
	read := func(ctx context.Context, n property.Node) error {
		_, err := n.Client.GetItem(ctx,
			&dynamodb.GetItemInput{TableName: &n.Table, Key: pagecache.Key("pk", isr.SortMeta)})
		return err
	}
	render := func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
		body, err := n.Render(ctx, key, func(context.Context) error { return nil })
		return isr.Served{Body: body}, err
	}
	answer := func(
		get func(ctx context.Context, n property.Node, key string) (isr.Served, error),
	) func(property.Node) (isr.Handler, error) {
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
		"waits for the outside, without goroutines": answer(func(
			context.Context, property.Node, string,
		) (isr.Served, error) {
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
		"rolls back too far": rollsBack(
			func(v pagecache.Version, chosen pagecache.Meta) bool { return v.GeneratedAt < chosen.GeneratedAt },
		),
		"rolls back by name": rollsBack(
			func(v pagecache.Version, chosen pagecache.Meta) bool { return v.SK > chosen.CurrentSK },
		),
		"rolls back to newest": rollsBack(
			func(v pagecache.Version, chosen pagecache.Meta) bool { return v.GeneratedAt > chosen.GeneratedAt },
		),
		"never caches": answer(render),
		"always fails": answer(func(context.Context, property.Node, string) (isr.Served, error) {
			return isr.Served{}, errors.New("not today")
		}),
		"has keys of its own": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			_, err := n.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &n.Table,
				Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: key}}})
			return isr.Served{}, err
		}),
		"looks into another table": answer(func(ctx context.Context, n property.Node, key string) (isr.Served, error) {
			n.Table = "the-real-one"
			return isr.Served{}, read(ctx, n)
		}),
	}
}

// rollsBack makes a store that goes back to the wrong version: to the best of its versions, by the function better.
func rollsBack(better func(v pagecache.Version, chosen pagecache.Meta) bool) func(property.Node) (isr.Handler, error) {
	return func(n property.Node) (isr.Handler, error) {
		return pagecache.OnRecipeB(func(r *pagecache.RecipeB) pagecache.Store { return otherVersion{r, better} })(
			n.Config,
		)
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
			chosen.CurrentSK, chosen.GeneratedAt, chosen.RevalidateSeconds, chosen.TTL = v.SK, v.GeneratedAt,
				v.RevalidateSeconds, v.TTL
		}
	}
	return visible, chosen, err
}

// idleRollback reports that it has gone back to an older version, but does nothing.
type idleRollback struct{ isr.Handler }

func (idleRollback) Rollback(context.Context, string) error { return nil }
