package protocols_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

func TestConfigDefaults(t *testing.T) {
	s := newRig(t).store(t, "alice")
	got := s.Config()
	type plain struct {
		Table, Tenant                                 string
		Lease, Revalidate, Retention, TTLBuffer, Poll time.Duration
		Contention                                    isr.Contention
		Patience                                      int
	}
	want := plain{
		Table: table, Lease: 30 * time.Second, Revalidate: time.Minute, Retention: 24 * time.Hour,
		TTLBuffer: time.Hour, Poll: time.Second, Contention: isr.ServeStale, Patience: 10,
	}
	if diff := cmp.Diff(want, plain{
		got.Table, got.Tenant, got.Lease, got.Revalidate, got.Retention, got.TTLBuffer, got.Poll,
		got.Contention, got.Patience,
	}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigKeepsWhatIsSet(t *testing.T) {
	c := newRig(t).config("alice")
	c.Lease, c.Revalidate, c.Retention = 1500*time.Millisecond, 2*time.Second, 3*time.Second
	c.TTLBuffer, c.Poll, c.Patience, c.Tenant = 4*time.Second, 5*time.Millisecond, 6, "t1"
	s := recipeA(t, c)
	got := s.Config()
	if got.Lease != c.Lease || got.Revalidate != c.Revalidate || got.Retention != c.Retention ||
		got.TTLBuffer != c.TTLBuffer || got.Poll != c.Poll || got.Patience != c.Patience || got.Tenant != c.Tenant {
		t.Errorf("got %+v, want %+v", got, c)
	}
	if got, want := s.PK(key), isr.PartitionKey("t1", key); got != want {
		t.Errorf("PK = %s, want %s", got, want)
	}
}

// TestTableVariable: the recipes of a program find the table that the environment names, but a store alone does not.
func TestTableVariable(t *testing.T) {
	for _, test := range []struct {
		env, table string
		found      bool
	}{{table, "", true}, {"absent", table, true}, {table, "absent", false}, {"absent", "", false}} {
		t.Setenv("FACETHEORY_CACHE_TABLE_NAME", test.env)
		for _, p := range recipe.References() {
			r := newRig(t)
			c := r.config("alice")
			c.Render = func(context.Context, string, func(context.Context) error) ([]byte, error) {
				return []byte("new"), nil
			}
			c.Table = test.table
			h, err := p.New(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Get(r.ctx, key); (err == nil) != test.found {
				t.Errorf("%s, environment %q, Config %q: got %v", p.Name, test.env, test.table, err)
			}
			if _, err := pagecache.NewRecipeA(c); (err == nil) != (test.table != "") {
				t.Errorf("environment %q, Config %q: got a store without a table, or %v", test.env, test.table, err)
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		name  string
		spoil func(*isr.Config)
		want  []string
	}{
		{"no client", func(c *isr.Config) { c.Client = nil }, []string{"Client"}},
		{"no clock", func(c *isr.Config) { c.Clock = nil }, []string{"Clock"}},
		{"no bodies", func(c *isr.Config) { c.Bodies = nil }, []string{"Bodies"}},
		{"no renderer", func(c *isr.Config) { c.Render = nil }, []string{"Render"}},
		{"no tokens", func(c *isr.Config) { c.Tokens = nil }, []string{"Tokens"}},
		{"no table", func(c *isr.Config) { c.Table = "" }, []string{"Table"}},
		{"negative lease", func(c *isr.Config) { c.Lease = -1 }, []string{"Config.Lease", "-1ns"}},
		{"negative window", func(c *isr.Config) { c.Revalidate = -time.Second }, []string{"Config.Revalidate", "-1s"}},
		{"negative retention", func(c *isr.Config) { c.Retention = -time.Second }, []string{"Config.Retention"}},
		{"negative buffer", func(c *isr.Config) { c.TTLBuffer = -time.Second }, []string{"Config.TTLBuffer"}},
		{"negative poll", func(c *isr.Config) { c.Poll = -time.Second }, []string{"Config.Poll"}},
		{"negative patience", func(c *isr.Config) { c.Patience = -1 }, []string{"Config.Patience", "-1"}},
		{"half seconds", func(c *isr.Config) { c.Revalidate = 1500 * time.Millisecond },
			[]string{"Config.Revalidate", "1.5s", "whole seconds"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newRig(t).config("alice")
			test.spoil(&c)
			_, err := pagecache.NewRecipeA(c)
			wantMention(t, err, test.want...)
			if cache, err := pagecache.New(c); err == nil || cache != nil {
				t.Errorf("New: got %v, %v, want the same error", cache, err)
			}
			if cache, err := pagecache.NewOn(newRig(t).store(t, "alice"), c); err == nil {
				t.Errorf("NewOn: got %v, want the same error", cache)
			}
			if h, err := recipe.Reference().New(c); err == nil {
				t.Errorf("Reference().New: got %v, want an error", h)
			}
		})
	}
}
