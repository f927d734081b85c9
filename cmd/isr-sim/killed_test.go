package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
)

// TestAShardThatIsKilledGoesOn kills a shard at random moments, whose --out is a folder. The final result equals that
// of an uninterrupted shard.
func TestAShardThatIsKilledGoesOn(t *testing.T) {
	effort.Long(t)
	t.Chdir(t.TempDir())
	kills := effort.Fewer(50, 4)
	explore := func(ctx context.Context, out string) (said string, err error) {
		cmd := exec.CommandContext(ctx, "isr-sim", "explore", "--seed", "3", "--schedules",
			effort.Fewer("60000", "3000"), "--shard", "2/3", "--swarm",
			"--protocol", "lease-in-milliseconds", "--save-every", "30ms", "--out", out+"/",
			"skewed-clocks", "two-contenders")
		text, err := cmd.Output()
		return string(text), err
	}
	whole, err := explore(t.Context(), "whole")
	if code := exitCode(err); code != cli.ExitViolated {
		t.Fatalf("exit code %d (%v), want %d:\n%s", code, err, cli.ExitViolated, whole)
	}
	random, died, wentOn, last := rand.New(rand.NewPCG(1, 1)), 0, 0, ""
	for most := 150; ; {
		ctx, cancel := t.Context(), func() {}
		if died < kills {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(1+random.IntN(most))*time.Millisecond)
		}
		said, err := explore(ctx, "killed")
		killed := ctx.Err() != nil
		cancel()
		if strings.Contains(said, "killed/shard-2-of-3.json.part: a run before was killed: this one goes on after ") {
			wentOn++
		}
		if !killed {
			if code := exitCode(err); code != cli.ExitViolated {
				t.Fatalf("exit code %d (%v), want %d:\n%s", code, err, cli.ExitViolated, said)
			}
			last = said
			break
		}
		if _, err := os.Stat("killed/shard-2-of-3.json.part"); err != nil && most < 20_000 {
			most *= 2 // this machine is slow
		}
		died++
	}
	read := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if got, want := read("killed/shard-2-of-3.json"), read("whole/shard-2-of-3.json"); got != want {
		t.Errorf("after %d kills the result differs from that of a shard that lived", died)
	}
	if _, after, _ := strings.Cut(last, "\nseed "); !strings.HasSuffix(whole, after) {
		t.Errorf("it prints\n%s\nand one that lived\n%s", last, whole)
	}
	for _, pattern := range []string{"*/*.part", "*/.*.json.[0-9]*.tmp"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("found %v (%v), want nothing left of the parts and of the drafts of --out", left, err)
		}
	}
	if died < 3 || wentOn == 0 {
		t.Errorf("it was killed %d times, and went on %d times: want 3 and 1 at least", died, wentOn)
	}
	t.Logf("killed %d times, went on %d times", died, wentOn)
}

func exitCode(err error) int {
	if e, ok := err.(*exec.ExitError); ok {
		return e.ExitCode()
	}
	return 0
}
