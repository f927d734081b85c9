package property

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/base/promise"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/internal/subject/list/draw"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Lock is one machine's client of a lock library. If it also has a method Close() error, the check calls it when the
// machine ends. With LockCheck.Goroutines, Close must end the lock's goroutines.
type Lock interface {
	// Acquire takes the lock of that name, at once or after a wait. An error of any kind says that the lock has not
	// been taken: the machine asks again later.
	Acquire(ctx context.Context, name string) (Held, error)
}

// Held is a lock that a machine has taken. A lock that can do more implements HeldChecker, HeldExtender or HeldFencer
// as well: each makes the check stricter.
type Held interface {
	// Release gives the lock back. It is called once, even if the lock has been lost.
	Release(ctx context.Context) error
}

// HeldChecker is a Held that can be asked whether it is still held. It is asked before each write to the guarded
// resource; after false or an error, the machine stops its work.
type HeldChecker interface {
	StillHeld(ctx context.Context) (bool, error)
}

// HeldExtender is a Held whose lease can be extended. Its Extend is called after half a lease. An error says that the
// lock is lost.
type HeldExtender interface {
	Extend(ctx context.Context) error
}

// HeldFencer is a Held with a fencing token: a number that grows with each holder. The guarded resource refuses a write
// whose token is smaller than one that it has seen.
type HeldFencer interface {
	Token() int64
}

// Machine is what a lock or an idempotency layer under test runs on. One test makes many machines: several in a world,
// one more after each restart, and all of them again for each schedule.
type Machine struct {
	Client *dynamodb.Client // a real client of the SDK, whose requests go to the simulator
	Table  string           // the name of the table
	Bodies isr.BodyStore    // an object store: bodies.Of makes a client of S3 of it
	Clock  clockwork.Clock  // the machine's clock, which may be wrong by MaxClockSkew
	Tokens func() string    // makes texts that are unique in the run; a replay gets the same texts
	// MaxClockSkew is a promise of the world: no machine's clock is ever further than this from true time.
	MaxClockSkew time.Duration
	// Lease is how long a lock must last, counted from the request for it or for its extension. A call must count as in
	// progress for that long, counted from before it is made, if nobody was told that it has ended.
	Lease     time.Duration
	Retention time.Duration // how long the result of a call must be kept, counted from before the call was made
}

// machine is the node of a lock or of a layer.
func (n Node) machine() Machine {
	return Machine{
		Client: n.Client, Table: n.Table, Bodies: n.Bodies, Clock: n.Clock, Tokens: n.Tokens,
		MaxClockSkew: n.MaxClockSkew, Lease: n.Lease, Retention: n.Retention,
	}
}

// LockCheck has the settings of a check of a lock. CheckLock uses the zero LockCheck.
type LockCheck struct {
	// Schedules is the number of schedules of each world; default DefaultSchedules.
	Schedules int
	// Reach is the marks that at least one world must reach; nil is LockReach(). An empty list demands no mark. In any
	// case, some world must take a lock: otherwise nothing is judged.
	Reach []scenario.Mark
	// Goroutines means the same as Check.Goroutines. It is for a lock with its own goroutines, timers, channels or
	// context timeouts.
	Goroutines bool
	// Table is how the lock wants its table created; nil means the string keys pk and sk. The name is Machine.Table.
	Table *dynamodb.CreateTableInput
	// TTL is the attribute by which TTL deletes rows of the table; default ttl. NoTTL says that there is no such
	// attribute. If TTL is not set, and rows have no number in ttl but a time in seconds in another attribute, the
	// check is vacuous.
	TTL string
	// Leases are the leases that worlds give the lock; default 10 s, 2 s, 1.5 s and 30 s.
	Leases []time.Duration
	// Heartbeats says that the lock extends itself, at least every third of its lease, until it is released. Most such
	// locks need Goroutines.
	Heartbeats bool
	// Margin is how long before the end of its lease the lock may say that it is lost; default 0.
	Margin time.Duration
	// Wait is how long the lock may wait on its own in one Acquire while nobody else can hold it; default 2 s.
	Wait time.Duration
	// Takeover is for a lock whose holder has died, or has failed to give the lock back. It is how long the lock may
	// still count as held after the end of its lease; clocks and rows in whole seconds excuse a little more. The
	// default is half a lease: with a whole one, a lock that lasts two leases would pass. In a lock that compares no
	// clocks, a machine watches the lock for a whole lease after its first look. Such a lock needs a Takeover of twice
	// the longest lease and some seconds. If Takeover is longer than the lease, it also counts from the moment at which
	// a machine was first refused.
	Takeover time.Duration
	// S3Store is the kind of S3 store in which the lock is kept: aws, or one of s3fake.Options.Like, which ignores some
	// conditions. Default aws.
	S3Store string

	extends *atomic.Bool // some Held can extend its lease; nil outside of Run
}

// LockReach returns the marks that at least one world of a check of a lock must reach, unless the check says otherwise.
// A lock has been tested only if it was taken, if two machines wanted it at the same time, and if it was taken over
// from a machine that had not given it back.
func LockReach() []scenario.Mark { return slices.Clone(draw.Locks.Reach) }

// CheckLock draws worlds with rapid. In them machines take a lock, write to the resource that it guards, and give it
// back, while machines pause and crash, clocks differ, and requests fail. It runs each world under many schedules, with
// the lock that newLock makes on every machine. It fails the test if one of the invariants of locks does not hold
// (invariant.OfLocks). The invariants are judged by what the machines asked and were told, so the lock may keep
// anything in its table. Everything else is as in CheckStore.
func CheckLock(t *testing.T, newLock func(Machine) (Lock, error)) {
	t.Helper()
	LockCheck{}.Run(t, newLock)
}

// Run checks the lock as CheckLock does.
func (c LockCheck) Run(t *testing.T, newLock func(Machine) (Lock, error)) {
	t.Helper()
	c.extends = &atomic.Bool{}
	c.check().Run(t, c.store(newLock))
}

// Replay runs the lock on a scenario file that a failed check has left, as Check.Replay does.
func (c LockCheck) Replay(t *testing.T, file string, newLock func(Machine) (Lock, error)) {
	t.Helper()
	c.check().Replay(t, file, c.store(newLock))
}

// Prove runs the lock in the world of a scenario file under every schedule that the file's bounds admit, as Check.Prove
// does with a store; the limits given there apply. Scripts of the file take the lock:
//
//   - name: alice
//     script: [hold job for 9s]
//
// Two moments count as the same state only if clients were told the same so far, in the same order. So there are many
// states: a search with two machines, one of which may crash, takes less than a second, and with one tick a minute or
// more. Unless the check or the file says otherwise, the lock must be taken in some schedule, asked for while another
// machine has it, and taken over from one that has not given it back. If the lock can be extended, machines ask for an
// extension once half of the lease is over.
func (c LockCheck) Prove(t *testing.T, file string, newLock func(Machine) (Lock, error)) {
	t.Helper()
	c.check().Prove(t, file, c.store(newLock))
}

// check returns the Check for the store that c.store makes.
func (c LockCheck) check() Check {
	check := Check{
		Schedules: c.Schedules, Reach: c.Reach, Goroutines: c.Goroutines,
	}.of(draw.Locks, "Lock", "lock", "return a Held from Acquire", c.TTL)
	s := check.subject
	s.table = c.Table
	s.terms = worlds.Extras{
		Leases: c.Leases, Goroutines: c.Goroutines, S3Store: c.S3Store,
		Terms: worlds.Terms{Margin: c.Margin, Wait: c.Wait, Takeover: c.Takeover},
	}
	ofTTL := s.unmet
	s.unmet = func(count *tally, usual bool) (why, note string) {
		extends := usual && c.extends != nil && c.extends.Load()
		if extends && len(count.missing([]spec.Mark{s.Also.Mark})) > 0 {
			return fmt.Sprintf("none of %d worlds reached %s: no Extend has ever succeeded", count.Worlds,
				s.Also.Mark), ""
		}
		return ofTTL(count, usual)
	}
	return check
}

// store returns a function that makes the store of a world's node: it is a lock, and has no pages.
func (c LockCheck) store(newLock func(Machine) (Lock, error)) func(Node) (isr.Handler, error) {
	if newLock == nil {
		return nil
	}
	return func(n Node) (isr.Handler, error) {
		lock, err := newLock(n.machine())
		if err != nil {
			return nil, err
		}
		if lock == nil {
			return nil, errors.New("it returned neither a lock nor an error")
		}
		terms := promise.LockTerms{
			Heartbeats: c.Heartbeats, Margin: c.Margin, Wait: cmp.Or(c.Wait, hooks.DefaultWait),
			Takeover: cmp.Or(c.Takeover, hooks.DefaultTakeover(n.Lease)),
		}
		client := lockClient{lock, terms, c.extends}
		if closer, ok := lock.(io.Closer); ok {
			return struct {
				lockClient
				io.Closer
			}{client, closer}, nil
		}
		return client, nil
	}
}

// lockClient is a lock in the form in which a world's node runs it.
type lockClient struct {
	lock    Lock
	terms   promise.LockTerms
	extends *atomic.Bool // LockCheck.extends
}

func (lockClient) Get(context.Context, string) (isr.Served, error) {
	return isr.Served{}, errors.New("a lock has no pages: this scenario is for property.CheckStore")
}

func (c lockClient) Terms() promise.LockTerms { return c.terms }

func (c lockClient) Acquire(ctx context.Context, name string) (_ *hooks.Held, err error) {
	var got Held
	inStore(func() { got, err = c.lock.Acquire(ctx, name) })
	if err != nil || got == nil {
		return nil, err
	}
	held := &hooks.Held{Release: func(ctx context.Context) (err error) {
		inStore(func() { err = got.Release(ctx) })
		return err
	}}
	if checker, ok := got.(HeldChecker); ok {
		held.Holds = func(ctx context.Context) (yes bool, err error) {
			inStore(func() { yes, err = checker.StillHeld(ctx) })
			return yes, err
		}
	}
	if extender, ok := got.(HeldExtender); ok {
		if c.extends != nil {
			c.extends.Store(true)
		}
		held.Extend = func(ctx context.Context) (err error) {
			inStore(func() { err = extender.Extend(ctx) })
			return err
		}
	}
	if fencer, ok := got.(HeldFencer); ok {
		held.Token = fencer.Token
	}
	return held, nil
}

// NoTTL is the LockCheck.TTL that says that the lock's table has no TTL.
const NoTTL = hooks.NoTTL
