package property

import (
	"context"
	"crypto/rand" //nolint:depguard // to give it a seed
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"time"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/base/heap"
	"github.com/isr-sim/isr-sim/internal/base/race"
	"github.com/isr-sim/isr-sim/internal/search/engine"
	"github.com/isr-sim/isr-sim/internal/search/worlds"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// search makes rapid look for a world that fails, and shrink it.
func (c Check) search(t *testing.T, newStore func(Node) (isr.Handler, error), file string) *tally {
	t.Helper()
	defer heap.CollectRarely()()
	count := &tally{Tally: engine.NewTally()}
	f := found{runner: newRunner(t, c, newStore), count: count, file: file}
	count.answers = f.answers
	as := &asRapid{TB: t, found: &f, before: rapidFiles()}
	as.run(func() { c.look(as, &f) })
	if f.last != nil {
		t.Fatal(f.finish(f.last, file) + as.searched(f.last))
	}
	return count
}

// look makes rapid try worlds until one fails.
func (c Check) look(t rapid.TB, f *found) {
	t.Helper()
	extra := c.subject.terms
	extra.Rows, extra.Tenants, extra.Promise, extra.Without = c.Rows, c.Tenants, c.Promise, c.Without
	if c.subject.OfRows() {
		extra.Verbs = f.abilities(c.Rows)
		f.count.verbs = extra.Verbs
	}
	generator := c.subject.Draw(safeName(t.Name()), c.Protocol, c.Schedules, extra)
	end, ends := f.t.Deadline()
	began := time.Now() //nolint:forbidigo // a test's time limit is in real time
	rapid.Check(t, func(rt *rapid.T) {
		if f.count.Worlds > 0 && f.last == nil && ends {
			each := time.Since(began) / time.Duration(f.count.Worlds) //nolint:forbidigo // as above
			enough := max(enoughForWorlds*each, spare)
			f.count.early = f.count.early || time.Until(end) < enough //nolint:forbidigo // as above
		}
		if f.count.early {
			return
		}
		for range worldsPerCheck {
			w := generator.Draw(rt, "world")
			seed := uint64(rapid.Uint32().Draw(rt, "seed"))
			if err := f.try(w.OfSeed(seed), seed, c.Schedules); err != nil {
				rt.Fatalf("%v", err) // for rapid, failures from the same line are the same
			}
		}
	})
}

// enoughForWorlds is a number of worlds. The search goes on only if there is time for that many, because some worlds
// take longer than others.
const enoughForWorlds = 5 * worldsPerCheck

// spare is the least time that the search leaves to the test. On a loaded machine the process may wait for seconds.
const spare = 3 * time.Second

// found is the state of the search.
type found struct {
	runner
	count *tally
	file  string
	last  *failure // the last failure, which is the smallest
	// attempt identifies the attempt of the last failure. It is needed because rapid repeats every attempt that fails.
	attempt string
	// passed identifies the attempts that passed after the first failure. It is needed because rapid tries them again
	// whenever it reproduces a failure that comes after them.
	passed map[string]bool
}

// try runs a world. It returns an error if the world fails as before.
func (f *found) try(w worlds.World, seed uint64, schedules int) error {
	attempt := fmt.Sprintf("%s\nseed %d, schedules %d", worlds.Text(w.Scenario), seed, schedules)
	if f.last != nil {
		if attempt == f.attempt {
			return errors.New(f.last.kind)
		}
		if f.passed[attempt] || !f.last.repeatable() || f.limit.worldsOver() {
			return nil // a failure that does not depend on the schedule cannot shrink
		}
	}
	s, err := worlds.Checked(w.Scenario)
	if err != nil {
		return err
	}
	report, failed := f.campaign(s, seed, schedules)
	switch {
	case failed == nil && f.last == nil:
		f.count.Add(report)
		return nil
	case failed == nil:
		f.pass(attempt)
		return nil
	case f.last != nil && f.last.kind != failed.kind:
		return nil // a failure of another kind is not a smaller one
	default:
		if f.last == nil || failed.harm < f.last.harm {
			failed = f.worse(failed)
		}
		if f.last != nil && failed.harm < f.last.harm {
			f.pass(attempt) // nor is a failure that does less harm
			return nil
		}
		if f.last == nil {
			failed.origin = "Found by " + f.subject.function
			f.announce(failed, f.file)
		} else {
			failed.origin = "Found by " + f.subject.function + "; the smallest world that rapid came to"
		}
		f.last, f.attempt = failed, attempt
		return errors.New(failed.kind)
	}
}

func (f *found) pass(attempt string) {
	if f.passed == nil {
		f.passed = map[string]bool{}
	}
	f.passed[attempt] = true
}

// asRapid is the test that rapid sees. A test must print one failure and leave one file. So rapid prints nothing about
// a failure that the search has found, because the check prints it. And rapid's file is deleted, because the scenario
// file says more.
type asRapid struct {
	rapid.TB
	found  *found
	before []string // rapid's files, when the search began
	said   string   // the text that rapid would have printed
}

// over is the panic that ends rapid's check.
type over struct{}

// run calls the function that calls rapid.
func (a *asRapid) run(check func()) {
	defer func() {
		if v := recover(); v != nil && v != any(over{}) {
			panic(v)
		}
	}()
	check()
}

func (a *asRapid) Errorf(format string, args ...any) {
	a.TB.Helper()
	if a.found.last == nil {
		a.TB.Errorf(format, args...)
		return
	}
	a.said += fmt.Sprintf(format, args...)
}

func (a *asRapid) Logf(format string, args ...any) {
	a.TB.Helper()
	if a.said == "" {
		a.TB.Logf(format, args...)
	}
}

func (a *asRapid) Failed() bool { return a.found.last != nil || a.TB.Failed() }

func (a *asRapid) FailNow() {
	if a.found.last == nil {
		a.TB.FailNow()
	}
	panic(over{})
}

var (
	rapidSeed = regexp.MustCompile(`-rapid\.seed=\d+`)
	rapidFile = regexp.MustCompile(`-rapid\.failfile=("[^"]*")`)
)

// searched tells how to repeat the search that found a failure, and deletes rapid's file of it. If no schedule repeats
// the failure, there is no scenario file. Then rapid's file stays, and the next check begins with its world.
func (a *asRapid) searched(f *failure) string {
	file := ""
	if found := rapidFile.FindStringSubmatch(a.said); found != nil {
		_, _ = fmt.Sscanf(found[1], "%q", &file)
	}
	var said string
	if seed := rapidSeed.FindString(a.said); seed != "" {
		said = "search: " + seed + "\n"
	}
	made := slices.Contains(rapidFiles(), file) && !slices.Contains(a.before, file)
	switch {
	case file == "":
		return said
	case made && f.repeatable():
		dir := filepath.Dir(file)
		_ = os.Remove(file)
		_ = os.Remove(dir) // these calls delete only empty folders
		_ = os.Remove(filepath.Dir(dir))
		return said
	default:
		return said + fmt.Sprintf("world: %s, which the next check runs first; delete it to be rid of it\n",
			strings.ReplaceAll(file, `\`, "/"))
	}
}

// rapidFiles are the files that rapid has left.
func rapidFiles() []string {
	files, _ := filepath.Glob(filepath.Join("testdata", "rapid", "*", "*.fail")) // the pattern is right
	return files
}

// limit ends the shrinking of a failure: after -rapid.shrinktime of real time in all, or with the first run that does
// not end. It is the context of all runs, which call only Err. The timer of any other context would stand still in a
// bubble of testing/synctest.
type limit struct {
	context.Context
	began       bool // there is a failure, which is being made smaller
	most        time.Duration
	worlds, end time.Time // when rapid must stop looking for smaller worlds, and when all shrinking must end
	over        atomic.Bool
	why         string // why shrinking ended early, in words
}

func newLimit(t *testing.T) *limit { return &limit{Context: context.WithoutCancel(t.Context())} }

func (l *limit) Err() error {
	if l.over.Load() {
		return context.DeadlineExceeded
	}
	return l.Context.Err()
}

// endBefore ends the runs before a test's deadline, if it has one, unless stop is called before.
func (l *limit) endBefore(deadline time.Time, has bool) (stop func()) {
	if !has {
		return func() {}
	}
	//nolint:forbidigo // people wait no longer
	timer := time.AfterFunc(time.Until(deadline)-reserve, func() { l.over.Store(true) })
	return func() { timer.Stop() }
}

// shrinkFlag is the name of rapid's flag.
const shrinkFlag = "rapid.shrinktime"

// reserve is the part of a test's time that shrinking leaves for the work after it.
const reserve = 10 * time.Second

// begin starts the shrinking, and returns how long it may take. The search for a smaller schedule gets the time that
// the search for smaller worlds leaves, and at least a quarter of the whole.
func (l *limit) begin(t *testing.T) time.Duration {
	var most time.Duration
	if f := flag.Lookup(shrinkFlag); f != nil {
		if get, ok := f.Value.(flag.Getter); ok {
			most, _ = get.Get().(time.Duration)
		}
	}
	now := time.Now() //nolint:forbidigo // the limit of shrinking is in real time
	if deadline, ok := t.Deadline(); ok {
		most = min(most, deadline.Add(-reserve).Sub(now))
	}
	most = max(most, 0)
	l.began, l.most, l.worlds, l.end = true, most, now.Add(most-most/4), now.Add(most)
	if most == 0 {
		l.over.Store(true)
		return 0
	}
	timer := time.AfterFunc(most, func() { l.over.Store(true) }) //nolint:forbidigo // as above
	t.Cleanup(func() { timer.Stop() })
	return most
}

// worldsOver reports whether the time for smaller worlds is over.
func (l *limit) worldsOver() bool {
	return l.over.Load() || !time.Now().Before(l.worlds) //nolint:forbidigo // as above
}

// left is how much time is left for many runs. It adds a little to the limit, because the runs end a little later.
func (l *limit) left() time.Duration {
	const more = time.Second
	return max(0, time.Until(l.end)) + more //nolint:forbidigo // as above
}

// stick notes that a run did not end within the time most.
func (l *limit) stick(most time.Duration) {
	if l.began {
		l.why = fmt.Sprintf("with a run that did not end within %v", most.Round(time.Millisecond))
		l.over.Store(true)
	}
}

// ended returns the reason why there may be a smaller failure; "" if there was time enough to look.
func (l *limit) ended() string {
	switch {
	case !l.began || l.most == 0 || l.why == "" && !l.worldsOver():
		return ""
	case l.why == "":
		return fmt.Sprintf("shrinking ended with its time, %v (-%s)", l.most.Round(time.Millisecond), shrinkFlag)
	default:
		return "shrinking ended " + l.why
	}
}

// patience is how long a run may take before it counts as stuck: during shrinking, at most the time left for shrinking.
func (l *limit) patience() time.Duration {
	if !l.began {
		return patience
	}
	const least = time.Second                           // enough for any run that ends
	return min(patience, max(least, time.Until(l.end))) //nolint:forbidigo // as above
}

// random seeds crypto/rand for each run from the run's seed, because stores take tokens and versions of records from
// it.
type random struct {
	in  *testing.T // the test of the bubble in which the runs happen
	mu  sync.Mutex // nobody waits for a run that is stuck
	was io.Reader  // crypto/rand's Reader before the first run
	// twin draws the same bytes as crypto/rand, as long as nobody else draws any.
	twin *mathrand.ChaCha8
	// unseeded is the reason why crypto/rand cannot be seeded: other tests run in parallel with this one, and share it.
	unseeded string
}

// begin notes the test of a bubble. The code under test may make a client of DynamoDB from the SDK's configuration,
// whose endpoint may have a table that matters to somebody. Until the bubble's end, such a client cannot connect.
// Parallel tests share the environment, so nothing is set for them.
func (r *random) begin(t *testing.T) {
	r.in = t
	defer func() { _ = recover() }()
	t.Setenv("AWS_ENDPOINT_URL_DYNAMODB", "no-dial://use-the-client-of-the-node")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true") // for credentials
}

// seed is kernel.Run's Before.
func (r *random) seed(seed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if v := recover(); v != nil {
			r.unseeded = fmt.Sprint(v)
		}
	}()
	if r.was == nil {
		r.was = rand.Reader
	}
	cryptotest.SetGlobalRandom(r.in, seed) // until the bubble's end
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	r.twin = mathrand.NewChaCha8(key)
}

// seeded reports whether all bytes of crypto/rand come from the seed.
func (r *random) seeded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unseeded == ""
}

// drew is kernel.Run's Drew.
func (r *random) drew() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unseeded != "" {
		return false // a run with bytes that nothing decides cannot be repeated
	}
	var drawn, expected [8]byte
	_, _ = rand.Read(drawn[:])      // it never fails
	_, _ = r.twin.Read(expected[:]) // nor does this
	return drawn != expected
}

// left restores crypto/rand when t is over, even if a run that does not end still uses its seed in a bubble. Under the
// race detector it restores nothing: the reads of that run are not synchronised with anything, and the detector would
// report them.
func (r *random) left(t *testing.T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.was == nil || r.unseeded != "" || race.Enabled {
		return
	}
	t.Cleanup(func() { rand.Reader = r.was })
	cryptotest.SetGlobalRandom(t, 0)
}
