package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
	"github.com/isr-sim/isr-sim/internal/server/control"
	"github.com/isr-sim/isr-sim/scenario/invariant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
	"github.com/isr-sim/isr-sim/scenario/live"
)

// TestFleet runs four clients with a cache over HTTP, which post what they see. If a client renders a page that another
// has just rendered, the server reports a violation of single-flight. It never reports a correct cache.
func TestFleet(t *testing.T) {
	hasty := mutant.All()[slices.IndexFunc(mutant.All(),
		func(p isr.Protocol) bool { return p.Name == "no-second-look" })]
	t.Run("correct", func(t *testing.T) {
		f, pages := startFleet(t, recipe.New), effort.Quick(20, 4)
		for i := range pages {
			f.ask(fmt.Sprintf("/%d", i))
		}
		found := f.checker.Found()
		for _, b := range found.Broken {
			t.Errorf("%s", b)
		}
		if found.Verdict() != invariant.OK || found.Events != pages*9 || len(found.Untold) != 3 {
			t.Errorf("%v, %d events, not judged: %q; want ok, %d, three invariants", found.Verdict(),
				found.Events, found.Untold, pages*9)
		}
	})
	t.Run(hasty.Name, func(t *testing.T) {
		effort.NotShort(t) // it may take many pages until two machines collide
		f := startFleet(t, hasty.New)
		for i := 0; i < 300 && f.checker.Found().Violations == 0; i++ {
			f.ask(fmt.Sprintf("/%d", i))
		}
		found := f.checker.Found()
		if found.Violations == 0 {
			t.Error("300 pages, and no duplicate render was named")
		}
		for _, b := range found.Broken {
			if b.Verdict != invariant.Violated || b.Invariant.Name != hasty.Breaks {
				t.Errorf("%s", b)
			}
		}
	})
}

// fleet is a server with a check, and caches that are its clients.
type fleet struct {
	*testing.T
	control string
	checker *live.Checker
	clients map[string]isr.Handler
	mu      sync.Mutex
	bodies  map[string][]byte
}

func startFleet(t *testing.T, cache func(isr.Config) (isr.Handler, error)) *fleet {
	t.Helper()
	clock := newWallClock()
	db := ddbfake.New(ddbfake.Options{Clock: clock})
	must.Done(t)(db.As("setup").CreateTable(t.Context(), isr.TableInput("cache")))
	f := &fleet{T: t, clients: map[string]isr.Handler{}, bodies: map[string][]byte{}}
	f.checker = live.New(db, live.Options{Clock: clock, Promise: invariant.Promise{Revalidate: time.Minute}})
	address := "http://" + running(t,
		Options{DB: db, Control: control.Options{Clock: clock}, Log: io.Discard, Checker: f.checker})
	f.control = address + control.Prefix
	for _, actor := range []string{"alice", "bob", "carol", "dave"} {
		tokens, renders := 0, 0
		client, err := cache(isr.Config{
			Client: dynamodb.New(dynamodb.Options{
				Region: "us-east-1", BaseEndpoint: aws.String(address),
				Credentials: credentials.NewStaticCredentialsProvider(actor, "any", ""),
			}),
			Clock: clockwork.NewRealClock(), Table: "cache", Bodies: f, Contention: isr.Wait, Poll: time.Millisecond,
			Patience: 10_000, Tokens: func() string { tokens++; return fmt.Sprintf("%s-%d", actor, tokens) },
			Render: func(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
				renders++
				body := fmt.Sprintf("%s by %s, %d", key, actor, renders)
				return []byte(body), f.post(map[string]any{
					"kind": "rendered", "actor": actor, "key": key, "body": body,
				})
			},
		})
		must.OK(t, err)
		f.clients[actor] = client
	}
	return f
}

// ask makes all clients ask for a page at the same time.
func (f *fleet) ask(key string) {
	var all sync.WaitGroup
	for actor, cache := range f.clients {
		all.Go(func() {
			ask := map[string]any{"kind": "asked", "actor": actor, "key": key}
			err := f.post(ask)
			if err == nil {
				var page isr.Served
				if page, err = cache.Get(f.Context(), key); err == nil {
					err = f.post(map[string]any{
						"kind": "served", "actor": actor, "key": key, "body": string(page.Body), "fresh": page.Fresh,
					})
				}
			}
			if err != nil {
				f.Errorf("%s: %v", actor, err)
			}
		})
	}
	all.Wait()
}

func (f *fleet) post(event map[string]any) error {
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	response, err := http.Post(f.control+"/history", "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(string(answer))
	}
	return err
}

func (f *fleet) PutBody(_ context.Context, name string, body []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bodies[name] = body
	return nil
}

func (f *fleet) GetBody(_ context.Context, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if body, ok := f.bodies[name]; ok {
		return body, nil
	}
	return nil, isr.ErrNoBody
}
