package mutant

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/internal/protocols/pagecache"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// acquireASecondEarly rounds now up instead of down, and so takes a lease that has a second to go.
var acquireASecondEarly = isr.Protocol{
	Name:    "acquire-a-second-early",
	Summary: "acquire takes a lease over one second before lease_expires_at",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return earlyAcquirer{r} }),
}

type earlyAcquirer struct{ *pagecache.RecipeA }

func (s earlyAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row := s.NewLock(key, s.Config().Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{":now": seconds(s.Now() + 1)})
}

// acquireByGetThenPut checks whether the lock is free and then takes it, in two requests. A machine that acquires in
// between loses a live lease.
var acquireByGetThenPut = isr.Protocol{
	Name:    "acquire-by-get-then-put",
	Summary: "LOCK is read, found free, and put without a condition",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return getThenPutter{r} }),
}

type getThenPutter struct{ *pagecache.RecipeA }

func (s getThenPutter) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortLock)
	if err != nil {
		return pagecache.Lease{}, err
	}
	if _, expires := leaseIn(row); expires > s.Now() {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	cfg := s.Config()
	lock := s.NewLock(key, cfg.Tokens())
	if _, err := cfg.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &cfg.Table, Item: lock.Item()}); err != nil {
		return pagecache.Lease{}, err
	}
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}

// acquireWaitsForTTL takes a lock only if there is none, and relies on TTL to delete the lock of a machine that died.
// TTL takes days.
//
// Seen in: mohankishore/python_dynamodb_lock issue 2793.
var acquireWaitsForTTL = isr.Protocol{
	Name:    "acquire-waits-for-ttl",
	Summary: "acquire takes a lock only where there is no row, even if its lease is over",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return patientAcquirer{r} }),
}

type patientAcquirer struct{ *pagecache.RecipeA }

func (s patientAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row := s.NewLock(key, s.Config().Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, "attribute_not_exists(pk)", nil)
}

// reentrantByOwner grants a lock that is already under the machine's name. So after a crash a machine takes the lock of
// its previous incarnation, whose last requests may still be under way. A name identifies the machine, not its attempt.
var reentrantByOwner = isr.Protocol{
	Name:    "reentrant-by-owner",
	Summary: "LOCK names its owner, and a node of that name acquires it again while it is held",
	Breaks:  "lock-theft",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return reentrantAcquirer{r} }),
}

type reentrantAcquirer struct{ *pagecache.RecipeA }

func (s reentrantAcquirer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	lock := s.NewLock(key, s.Config().Tokens())
	owner := &types.AttributeValueMemberS{Value: ownerOf(lock.LeaseToken)}
	row := lock.Item()
	row["owner_name"] = owner
	return acquireIf(ctx, s.RecipeA, key, row, free+" OR owner_name = :owner", map[string]types.AttributeValue{
		":now": seconds(s.Now()), ":owner": owner,
	})
}

// ownerOf returns the machine that made the token: tokens of simulated nodes begin with its name, as in alice-1 and,
// after a restart, alice.2-1.
func ownerOf(token string) string {
	if end := strings.IndexAny(token, ".-"); end >= 0 {
		return token[:end]
	}
	return token
}

// deadHolderCostsTwoLeases waits for one more lease after the lease is over, to be sure.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 34.
var deadHolderCostsTwoLeases = isr.Protocol{
	Name:    "dead-holder-costs-two-leases",
	Summary: "a lock is taken over a whole lease after its end",
	Breaks:  "liveness",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return patient{r} }),
}

type patient struct{ *pagecache.RecipeA }

func (s patient) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	cfg := s.Config()
	row := s.NewLock(key, cfg.Tokens()).Item()
	return acquireIf(ctx, s.RecipeA, key, row, free, map[string]types.AttributeValue{
		":now": seconds(pagecache.Floor(cfg.Clock.Now().Add(-cfg.Lease))),
	})
}

// unlockedFirstFill assumes that a page without a row never existed, so that no other machine can be making it. But TTL
// may have deleted the row, or two machines start at the same time.
var unlockedFirstFill = isr.Protocol{
	Name:    "unlocked-first-fill",
	Summary: "a missing page is made without a lease, as if no page could have existed before",
	Breaks:  "stale-writer",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &firstFiller{RecipeA: r} }),
}

type firstFiller struct {
	*pagecache.RecipeA
	unlocked string // the token of a lease that no row has
}

func (s *firstFiller) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortMeta)
	if err != nil {
		return pagecache.Lease{}, err
	}
	if row != nil {
		return s.RecipeA.Acquire(ctx, key)
	}
	lock := s.NewLock(key, s.Config().Tokens())
	s.unlocked = lock.LeaseToken
	return pagecache.Lease{Key: key, Token: lock.LeaseToken, ExpiresAt: lock.LeaseExpiresAt}, nil
}

func (s *firstFiller) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	if l.Token != s.unlocked {
		return s.RecipeA.Publish(ctx, l, m)
	}
	return putBlindly(ctx, s, m)
}

// renderBeforeAcquire reads the origin before it asks for the lease. It holds the lease when it publishes, but still
// puts a page from older data over one from newer data.
var renderBeforeAcquire = isr.Protocol{
	Name:    "render-before-acquire",
	Summary: "the page is made before the lease is taken, and the lease covers only its publish",
	Breaks:  "monotonic-publication",
	New: func(cfg isr.Config) (isr.Handler, error) {
		reference, err := pagecache.NewRecipeA(cfg)
		if err != nil {
			return nil, err
		}
		early := &earlyRenderer{RecipeA: reference, made: map[string]early{}}
		cfg.Render = early.render
		return pagecache.AsHandler(pagecache.NewOn(early, cfg))
	},
}

// early is a page that was made before its lease was taken.
type early struct {
	body []byte
	at   pagecache.EpochSeconds
}

type earlyRenderer struct {
	*pagecache.RecipeA
	made map[string]early // by key
}

func (s *earlyRenderer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	at := s.Now()
	body, err := s.Config().Render(ctx, key, func(context.Context) error { return nil })
	if err != nil {
		return pagecache.Lease{}, err
	}
	s.made[key] = early{body, at}
	return s.RecipeA.Acquire(ctx, key)
}

func (s *earlyRenderer) render(_ context.Context, key string, _ func(context.Context) error) ([]byte, error) {
	return s.made[key].body, nil
}

func (s *earlyRenderer) Publish(ctx context.Context, l pagecache.Lease, m pagecache.Meta) error {
	older := m.GeneratedAt - s.made[l.Key].at
	m.GeneratedAt -= older
	m.TTL -= older
	return s.RecipeA.Publish(ctx, l, m)
}

// noSecondLook makes the page as soon as it has the lease. A node that saw the old page, and acquires just after the
// winner has published, makes the page again: all nodes of a fleet do, one after another.
//
// Measured in a public ISR runtime: its own test of "one regeneration" fails on real rows in half the runs.
var noSecondLook = isr.Protocol{
	Name:    "no-second-look",
	Summary: "META is not read again once the lease is acquired",
	Breaks:  "single-flight",
	New:     onRecipeA(func(r *pagecache.RecipeA) pagecache.Store { return &hastyRenderer{RecipeA: r} }),
}

type hastyRenderer struct {
	*pagecache.RecipeA
	acquired bool // the lease was acquired just now
}

func (s *hastyRenderer) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	l, err := s.RecipeA.Acquire(ctx, key)
	s.acquired = err == nil
	return l, err
}

func (s *hastyRenderer) Read(ctx context.Context, key string) (pagecache.Meta, error) {
	if s.acquired {
		s.acquired = false
		return pagecache.Meta{}, isr.ErrMiss
	}
	return s.RecipeA.Read(ctx, key)
}

// expiryRestartsOnLook does not trust the holder's clock. It measures by its own clock how long the lock has not
// changed. But the measurement begins again with every look: a machine that looks often enough never takes over the
// lock of a dead machine.
//
// Seen in: awslabs/amazon-dynamodb-lock-client issue 44.
var expiryRestartsOnLook = isr.Protocol{
	Name:    "expiry-restarts-on-look",
	Summary: "a lock counts as over when it has not changed for a lease since the last look at it",
	Breaks:  "liveness",
	New: onRecipeA(func(r *pagecache.RecipeA) pagecache.Store {
		return &watcher{RecipeA: r, since: map[string]time.Time{}}
	}),
}

type watcher struct {
	*pagecache.RecipeA
	since map[string]time.Time // the last look at each lock, by key
}

func (s *watcher) Acquire(ctx context.Context, key string) (pagecache.Lease, error) {
	row, err := s.GetRow(ctx, key, isr.SortLock)
	if err != nil {
		return pagecache.Lease{}, err
	}
	cfg := s.Config()
	now := cfg.Clock.Now()
	last, looked := s.since[key]
	if s.since[key] = now; row != nil && (!looked || now.Sub(last) < cfg.Lease) {
		return pagecache.Lease{}, pagecache.ErrHeld
	}
	return s.RecipeA.Acquire(ctx, key)
}
