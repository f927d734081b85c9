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

	"github.com/isr-sim/isr-sim/internal/race"
)

// Keys of this test, their lifetimes, and when the memory is looked at.
const (
	redisKeys     = 20_000
	redisLifetime = 4 * time.Second // uniform from 0.5 s on
	redisLook     = 250 * time.Millisecond
	redisLasts    = 6 * time.Second
)

// lifetimes are those of the test's keys, from a seed.
func lifetimes(seed uint64) []time.Duration {
	random := newRandom(seed, streamChanges)
	all := make([]time.Duration, redisKeys)
	for i := range all {
		all[i] = 500*time.Millisecond + time.Duration(random.Float64()*float64(redisLifetime))
	}
	return all
}

// modelled returns how many keys the model has in memory at each look.
func modelled(seed uint64) (there []float64) {
	s := newRedis(newRandom(seed, streamPolicy))
	left := redisKeys
	for key, lasts := range lifetimes(seed) {
		s.set(key, lasts)
	}
	now := redisCycle
	for look := redisLook; look <= redisLasts; look += redisLook {
		for ; now <= look; now += redisCycle {
			s.cycle(now, func(int) { left-- })
		}
		there = append(there, float64(left))
	}
	return there
}

// The model's memory over time is that of a real Redis, which nobody reads.
func TestRedisModelAgainstRedis(t *testing.T) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("ISRSIM_REQUIRE_REDIS") == "1" {
			t.Fatal("ISRSIM_REQUIRE_REDIS is 1, and there is no redis-server")
		}
		t.Skip("there is no redis-server: Debian's package redis-server has it")
	}
	if testing.Short() || race.Enabled {
		t.Skip("a Redis expires keys in real time, and slowed down it does so late")
	}
	socket := filepath.Join(t.TempDir(), "redis")
	server := exec.CommandContext(t.Context(), path, "--port", "0", "--unixsocket", socket, "--save", "", "--hz", "10",
		"--dir", filepath.Dir(socket))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
	for i := range runs[0] {
		at := time.Duration(i+1) * redisLook
		clock.Sleep(start.Add(at).Sub(clock.Now()))
		asked := clock.Now().Sub(start)
		if _, err := fmt.Fprint(conn, "DBSIZE\r\n"); err != nil {
			t.Fatal(err)
		}
		reply, err := replies.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		real, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimPrefix(reply, ":")), 64)
		if err != nil {
			t.Fatalf("DBSIZE: got %q", reply)
		}
		values := make([]float64, len(runs))
		for j, run := range runs {
			values[j] = run[i]
		}
		model := interval(values, 0.99)
		spread := (model.High - model.Low) / 2 * math.Sqrt(float64(len(values))) // of one run, and not of the mean
		// The look may come at another point of a cycle, and the keys were stored over a while.
		perSecond := redisKeys / redisLifetime.Seconds()
		slack := spread + perSecond*(redisCycle+loading+(asked-at)).Seconds()
		if math.Abs(real-model.Mean) > slack {
			t.Errorf("after %s: Redis holds %.0f keys, the model %.0f within %.0f", at, real, model.Mean, slack)
		}
		t.Logf("after %s: Redis holds %.0f keys, the model %.0f within %.0f", at, real, model.Mean, slack)
	}
}

// Expired rows that are still there: none in a store that is exact, a few in a Redis, and many in a DynamoDB.
func TestExpiredRowsByStore(t *testing.T) {
	rows := func(s Store) float64 {
		t.Helper()
		s.Retention = 10 * time.Second
		r, err := Experiment{
			Policy:   Policy{Lifetime: Absolute(time.Second), Refresh: Unprotected()},
			Workload: fleeting{gapOf(50)}, Store: s,
			WarmUp: time.Hour / 6, Lasts: time.Hour / 4,
		}.Run(1)
		if err != nil {
			t.Fatal(err)
		}
		return r.Value(RowsPast)
	}
	exact, redis, dynamodb := rows(Store{}), rows(Store{Redis: true}), rows(Store{Lag: Fixed(time.Minute)})
	// A Redis looks at 200 keys a second, so 50 that expire in a second are a quarter of those; above a tenth it looks
	// at more, and stays near that.
	if exact != 0 || redis < 10 || redis > 120 || dynamodb < 2900 || dynamodb > 3100 {
		t.Errorf("got %.0f rows past their ttl exactly, %.0f in Redis, %.0f in DynamoDB; want 0, some tenth of the 500 living ones, 3000",
			exact, redis, dynamodb)
	}
}
