package mutant_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/protocols/mutant"
	"github.com/isr-sim/isr-sim/scenario/isr"
	"github.com/isr-sim/isr-sim/scenario/isr/recipe"
)

const (
	table = "cache"
	key   = "/home"
)

// end is how a story ends.
type end struct {
	Served string   // the body of alice's last request, with "stale " before it if she was told so; "" is an error
	Meta   string   // body that META leads to
	Lock   string   // token in LOCK
	Broken []string // invariants
}

// story is a course of events, and its end under each protocol.
type story struct {
	name      string
	tell      func(*stage)
	reference end
	others    map[string]end
}

// Each story is told of the reference and of every mutant that some story is about. Alice runs the protocol in
// question; bob and carol are correct. Every mutant that is not among the exceptions ends as the reference does: so a
// mutant has one bug.
var stories = []story{
	{
		name: "a quiet life",
		tell: func(s *stage) {
			s.get() // makes alice-1
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
	},
	{
		name: "a page goes stale",
		tell: func(s *stage) {
			s.oldPage()
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"freshness-by-ttl": {Served: "old", Meta: "old", Broken: []string{"freshness"}},
		},
	},
	{
		name: "alice makes a page for longer than her lease, and bob takes over",
		tell: func(s *stage) {
			s.rendering = func(func() error) error {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1", Lock: "bob-1"},
		others: map[string]end{
			"guard-expiry-alone":    {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "lock-theft", "linearizable"}},
			"guard-version-alone":   {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer", "linearizable"}},
			"guard-monotonic-alone": {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer", "linearizable"}},
			"blind-publish":         {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer", "linearizable"}},
			"blind-release":         {Served: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
		},
	},
	{
		name: "alice makes a page for longer than her lease, and no other node asks",
		tell: func(s *stage) {
			s.rendering = func(func() error) error {
				s.clock.Advance(30 * time.Second)
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1"},
		others: map[string]end{
			"guard-token-alone":     {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "linearizable"}},
			"guard-version-alone":   {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "linearizable"}},
			"guard-monotonic-alone": {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "linearizable"}},
			"blind-publish":         {Served: "alice-1", Meta: "alice-1", Lock: "alice-1", Broken: []string{"stale-writer", "linearizable"}},
			"publish-at-expiry":     {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "linearizable"}},
		},
	},
	{
		name: "alice fails after bob took over",
		tell: func(s *stage) {
			s.rendering = func(func() error) error {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
				return errors.New("the origin is down")
			}
			s.get()
		},
		reference: end{Lock: "bob-1"},
		others: map[string]end{
			"blind-release": {Broken: []string{"lock-theft", "linearizable"}},
		},
	},
	{
		name: "alice fails, and gives back what is her own",
		tell: func(s *stage) {
			s.rendering = func(func() error) error { return errors.New("the origin is down") }
			s.get()
		},
		reference: end{},
	},
	{
		name: "bob acquires while alice's put is on its way",
		tell: func(s *stage) {
			s.oldPage()
			s.beforeWrite = func() { s.bobAcquires() }
			s.get()
		},
		reference: end{Served: "stale old", Meta: "old", Lock: "bob-1"},
		others: map[string]end{
			"acquire-by-get-then-put": {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
			"lease-in-milliseconds":   {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
			"freshness-by-ttl":        {Served: "old", Meta: "old", Broken: []string{"freshness"}}, // she does not acquire
		},
	},
	{
		name: "bob has held the lease for a while",
		tell: func(s *stage) {
			s.oldPage()
			s.bobAcquires()
			s.clock.Advance(30*time.Second - 1)
			s.get()
		},
		reference: end{Served: "stale old", Meta: "old", Lock: "bob-1"},
		others: map[string]end{
			"lease-in-milliseconds":  {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
			"acquire-a-second-early": {Served: "alice-1", Meta: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
			"freshness-by-ttl":       {Served: "old", Meta: "old", Lock: "bob-1", Broken: []string{"freshness"}},
		},
	},
	{
		name: "alice's page is on its way while her lease ends and bob takes over",
		tell: func(s *stage) {
			s.beforeMeta = func() {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
			}
			s.get()
		},
		reference: end{Served: "alice-1", Lock: "bob-1"},
		others: map[string]end{
			"guard-expiry-alone":     {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "lock-theft"}},
			"guard-version-alone":    {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer"}},
			"guard-monotonic-alone":  {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer"}},
			"blind-publish":          {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer"}},
			"check-then-act-publish": {Served: "alice-1", Meta: "alice-1", Lock: "bob-1", Broken: []string{"stale-writer"}},
			"blind-release":          {Served: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
		},
	},
	{
		name: "alice sleeps, bob has held and given back the lock, and dave has it now",
		tell: func(s *stage) {
			s.rendering = func(func() error) error {
				s.clock.Advance(30 * time.Second)
				s.bobReleases(s.bobAcquires())
				s.daveDies()
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1", Lock: "dave-1"},
		others: map[string]end{
			"guard-expiry-alone":    {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "lock-theft", "linearizable"}},
			"guard-version-alone":   {Served: "alice-1", Meta: "alice-1", Lock: "dave-1", Broken: []string{"stale-writer", "linearizable"}},
			"guard-monotonic-alone": {Served: "alice-1", Meta: "alice-1", Lock: "dave-1", Broken: []string{"stale-writer", "linearizable"}},
			"blind-publish":         {Served: "alice-1", Meta: "alice-1", Lock: "dave-1", Broken: []string{"stale-writer", "linearizable"}},
			"fence-in-lock-row":     {Served: "alice-1", Meta: "alice-1", Broken: []string{"stale-writer", "lock-theft", "linearizable"}},
			"blind-release":         {Served: "alice-1", Broken: []string{"lock-theft", "linearizable"}},
		},
	},
	{
		name: "alice tells that she is alive after bob took over",
		tell: func(s *stage) {
			s.rendering = func(keepAlive func() error) error {
				s.clock.Advance(30 * time.Second)
				s.bobAcquires()
				s.clock.Advance(time.Second)
				return keepAlive()
			}
			s.get()
		},
		reference: end{Lock: "bob-1"},
		others: map[string]end{
			"heartbeat-without-token": {Served: "alice-1", Lock: "bob-1", Broken: []string{"lock-theft", "linearizable"}},
			"blind-release":           {Broken: []string{"lock-theft", "linearizable"}},
		},
	},
	{
		name: "alice crashed, and her next life finds the lock of the last",
		tell: func(s *stage) {
			s.oldPage()
			s.rendering = func(func() error) error {
				_, _ = s.getAs("alice.2", s.config("alice.2")) // her page does not matter
				return nil
			}
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"reentrant-by-owner":    {Served: "alice.2-1", Meta: "alice.2-1", Broken: []string{"lock-theft", "single-flight", "linearizable"}},
			"lease-in-milliseconds": {Served: "alice.2-1", Meta: "alice.2-1", Broken: []string{"lock-theft", "single-flight", "linearizable"}},
			"freshness-by-ttl":      {Served: "old", Meta: "old", Broken: []string{"freshness"}},
		},
	},
	{
		name: "a page that took ten seconds to make is asked for at the end of its window",
		tell: func(s *stage) {
			s.rendering = func(func() error) error {
				s.clock.Advance(10 * time.Second)
				return nil
			}
			s.get()
			s.clock.Advance(51 * time.Second)
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"generated-at-late": {Served: "alice-1", Meta: "alice-1", Broken: []string{"freshness"}},
			"freshness-by-ttl":  {Served: "alice-1", Meta: "alice-1", Broken: []string{"freshness"}},
		},
	},
	{
		name: "bob's lease is over",
		tell: func(s *stage) {
			s.bobAcquires()
			s.clock.Advance(30 * time.Second)
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"acquire-waits-for-ttl": {Lock: "bob-1"},
		},
	},
	{
		name: "bob died with the lock long ago, and nothing else is in the way",
		tell: func(s *stage) {
			s.bobAcquires()
			s.clock.Advance(time.Hour)
			s.settled()
			s.get() // makes it
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"acquire-waits-for-ttl": {Lock: "bob-1", Broken: []string{"liveness"}},
		},
	},
	{
		name: "alice asks again while the replicas have not heard of her page",
		tell: func(s *stage) {
			s.get()
			s.db.Inject(ddbfake.Fault{Kind: ddbfake.FaultStaleRead, Times: ddbfake.Always})
			s.get()
		},
		reference: end{Served: "alice-1", Meta: "alice-1"},
		others: map[string]end{
			"eventual-read": {Served: "alice-1", Meta: "alice-1", Broken: []string{"single-flight", "linearizable"}},
		},
	},
}

// inStories returns the protocols that some story is about. The other mutants have an exhibit in the museum each.
func inStories() []isr.Protocol {
	some := []isr.Protocol{recipe.Reference()}
	for _, m := range mutant.All() {
		if slices.ContainsFunc(stories, func(s story) bool { _, named := s.others[m.Name]; return named }) {
			some = append(some, m)
		}
	}
	return some
}

func TestEachMutantHasItsOneBug(t *testing.T) {
	shown := map[string]bool{}
	for _, story := range stories {
		for _, p := range inStories() {
			t.Run(story.name+"/"+p.Name, func(t *testing.T) {
				want, other := story.others[p.Name]
				if !other {
					want = story.reference
				}
				if slices.Contains(want.Broken, p.Breaks) {
					shown[p.Name] = true
				}
				s := newStage(t, p)
				story.tell(s)
				if diff := cmp.Diff(want, s.end()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
	for _, m := range inStories() {
		if m.Breaks != "" && !shown[m.Name] {
			t.Errorf("no story shows how %s breaks %s", m.Name, m.Breaks)
		}
	}
}
