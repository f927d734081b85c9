package policy

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// even reads one key at equal intervals.
func even(gap time.Duration) workload {
	return func(*Random) traffic {
		now := time.Duration(0)
		return func() (Read, bool) {
			now += gap
			return Read{At: now}, true
		}
	}
}

// One key is throttled at the documented limits: strongly consistent reads above 3,000 per second, eventually
// consistent ones above 6,000, and reads of two-unit rows above 1,500.
func TestOneKeyIsThrottledAtItsLimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		store Store
		limit float64
	}{
		{"strongly consistent", Store{}, 3000},
		{"eventually consistent", Store{Eventual: true}, 6000},
		{"5 KB", Store{Bytes: 5000}, 1500},
	} {
		test.store.Throttles = true
		throttled := func(rate float64) float64 {
			t.Helper()
			r, err := Experiment{
				Policy:   Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()},
				Workload: even(time.Duration(float64(time.Second) / rate)), Store: test.store,
				WarmUp: time.Second, Lasts: 20 * time.Second,
			}.Run(t.Context(), 1)
			must.OK(t, err)
			return r.Value(Throttled)
		}
		if below, above := throttled(test.limit*0.99), throttled(test.limit*1.01); below > 0 || above == 0 {
			t.Errorf("%s: got %g throttled requests a second 1 %% below the limit, %g above it; want none, and some",
				test.name, below, above)
		}
	}
}

// A tier in the memory of each node ends the throttling. Its copies answer, and the store sees one request per node,
// lifetime and gap.
func TestATierEndsThrottling(t *testing.T) {
	const nodes, rate = 100, 20_000.0
	x := Experiment{
		Policy:   Policy{Lifetime: Absolute(time.Hour), Refresh: Locked()},
		Workload: Poisson{Reads: rate}, Store: Store{Throttles: true},
		WarmUp: time.Second, Lasts: 10 * time.Second,
	}
	bare, err := x.Run(t.Context(), 1)
	must.OK(t, err)
	x.Tier = Tier{Nodes: nodes, Keys: 1, Lifetime: TierLifetime(nodes, rate, partitionReads*0.9)}
	tiered, err := x.Run(t.Context(), 1)
	must.OK(t, err)
	if bare.Value(Throttled) == 0 || bare.Value(Failed) < 0.5 || tiered.Value(Throttled) > 0 {
		t.Errorf("got %g throttled requests a second and %.2f of reads failed without a tier, %g throttled with "+
			"one; want many and none",
			bare.Value(Throttled), bare.Value(Failed), tiered.Value(Throttled))
	}
	if got := tiered.Value(ReadUnits); math.Abs(got-partitionReads*0.9) > 0.05*partitionReads {
		t.Errorf("got %.0f read units a second with a tier, want %.0f", got, partitionReads*0.9)
	}
}

// Keys of this test, their lifetimes, and when the memory is measured.
const (
	redisKeys     = 20_000
	redisLifetime = 4 * time.Second // uniform from 0.5 s on
	redisLook     = 250 * time.Millisecond
	redisLasts    = 6 * time.Second
	redisLate     = 4 * time.Second // a busy machine may measure this much later
)

// lifetimes are the lifetimes of the test's keys, from a seed.
func lifetimes(seed uint64) []time.Duration {
	random := newRandom(seed, streamChanges)
	all := make([]time.Duration, redisKeys)
	for i := range all {
		all[i] = 500*time.Millisecond + time.Duration(random.Float64()*float64(redisLifetime))
	}
	return all
}

// modelled returns the number of keys that the model has in memory after each of its cycles.
func modelled(seed uint64) (there []float64) {
	s := newRedis(newRandom(seed, streamPolicy))
	left := redisKeys
	for key, lasts := range lifetimes(seed) {
		s.set(key, lasts)
	}
	there = append(there, redisKeys)
	for now := redisCycle; now <= redisLasts+redisLate; now += redisCycle {
		s.cycle(now, func(int) { left-- })
		there = append(there, float64(left))
	}
	return there
}

// Over time, the model's memory equals that of a real Redis without readers.
func TestRedisModelAgainstRedis(t *testing.T) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("ISRSIM_REQUIRE_REDIS") == "1" {
			t.Fatal("ISRSIM_REQUIRE_REDIS is 1, and there is no redis-server")
		}
		t.Skip("there is no redis-server: Debian's package redis-server has it")
	}
	effort.Long(t)
	socket := filepath.Join(t.TempDir(), "redis")
	server := exec.CommandContext(t.Context(), path, "--port", "0", "--unixsocket", socket, "--save", "", "--hz", "10",
		"--dir", filepath.Dir(socket))
	must.OK(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill() // Wait says how it ended
		_ = server.Wait()
	})
	clock := clockwork.NewRealClock()
	var conn net.Conn
	for range 200 {
		if conn, err = net.Dial("unix", socket); err == nil {
			break
		}
		clock.Sleep(20 * time.Millisecond)
	}
	must.OK(t, err)
	defer conn.Close()
	replies := bufio.NewReader(conn)

	var commands strings.Builder
	for key, lasts := range lifetimes(1) {
		fmt.Fprintf(&commands, "SET key:%d x PX %d\r\n", key, lasts.Milliseconds())
	}
	start := clock.Now()
	go func() { _, _ = conn.Write([]byte(commands.String())) }() // a failed write ends the replies
	for range redisKeys {
		if reply, err := replies.ReadString('\n'); err != nil || reply != "+OK\r\n" {
			t.Fatalf("SET: got %q, %v", reply, err)
		}
	}
	loading := clock.Now().Sub(start)

	var runs [][]float64
	for seed := uint64(1); seed <= 10; seed++ {
		runs = append(runs, modelled(seed))
	}
	// bounds returns the minimum and maximum number of keys in one run of the model between two times.
	bounds := func(from, to time.Duration) (fewest, most float64) {
		fewest = redisKeys
		for i := max(0, int(from/redisCycle)); i <= int(to/redisCycle)+1 && i < len(runs[0]); i++ {
			values := make([]float64, len(runs))
			for j, run := range runs {
				values[j] = run[i]
			}
			model := interval(values, 0.99)
			spread := (model.High - model.Low) / 2 * math.Sqrt(float64(len(values))) // of one run, not of the mean
			fewest, most = min(fewest, model.Mean-spread), max(most, model.Mean+spread)
		}
		return fewest, most
	}
	var before time.Duration // how late the previous measurement was
	var sum, modelSum float64
	for at := redisLook; at <= redisLasts; at += redisLook {
		clock.Sleep(start.Add(at).Sub(clock.Now()))
		asked := clock.Now().Sub(start)
		must.Done(t)(fmt.Fprint(conn, "DBSIZE\r\n"))
		reply, err := replies.ReadString('\n')
		must.OK(t, err)
		answered := clock.Now().Sub(start)
		real, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(reply, ":")), 64)
		if err != nil {
			t.Fatalf("DBSIZE: got %q", reply)
		}
		// The tolerance has three reasons: the measurement may come at another point of a cycle, storing the keys took
		// a while, and a busy machine may delay Redis, too.
		late := max(before, answered-at)
		before = answered - at
		fewest, most := bounds(asked-2*redisCycle-loading-late, answered+redisCycle)
		const few = redisKeys / 100
		if real < fewest-few || real > most+few {
			t.Errorf("after %s: Redis holds %.0f keys, the model from %.0f to %.0f", answered, real, fewest, most)
		}
		t.Logf("after %s: Redis holds %.0f keys, the model from %.0f to %.0f", answered, real, fewest, most)
		sum += real
		aged := max(0, answered-loading/2) // the mean age of the keys, which took a while to be stored
		for _, run := range runs {
			modelSum += run[min(int(aged/redisCycle), len(run)-1)] / float64(len(runs))
		}
	}
	// An exact store has 13 % less than the model. A busy machine makes Redis late, never early.
	if r := sum / modelSum; r < 0.95 || r > 1.10 {
		t.Errorf("over all, Redis held %.3f of the model's keys", r)
	} else {
		t.Logf("over all, Redis held %.3f of the model's keys", r)
	}
}

// The number of expired rows that still exist: none in an exact store, a few in a Redis, and many in a DynamoDB.
func TestExpiredRowsByStore(t *testing.T) {
	rows := func(s Store) float64 {
		t.Helper()
		s.Retention = 10 * time.Second
		r, err := Experiment{
			Policy:   Policy{Lifetime: Absolute(time.Second), Refresh: Unprotected()},
			Workload: fleeting(gapOf(50)), Store: s,
			WarmUp: time.Hour / 6, Lasts: time.Hour / 4,
		}.Run(t.Context(), 1)
		must.OK(t, err)
		return r.Value(RowsPast)
	}
	exact, redis, dynamodb := rows(Store{}), rows(Store{Redis: true}), rows(Store{Lag: Fixed(time.Minute)})
	// A Redis looks at 200 keys per second, so 50 keys that expire per second are a quarter of those. Above a tenth it
	// looks at more keys, so the share stays near a tenth.
	if exact != 0 || redis < 10 || redis > 120 || dynamodb < 2900 || dynamodb > 3100 {
		t.Errorf("got %.0f rows past their ttl exactly, %.0f in Redis, %.0f in DynamoDB; want 0, some tenth of the "+
			"500 living ones, 3000",
			exact, redis, dynamodb)
	}
}
