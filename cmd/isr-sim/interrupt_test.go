//go:build unix

package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/rules/effort"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// neverSilent is a node whose every get sends requests for ever, with pauses between them. It writes its process id
// into pids.
const neverSilent = `echo $$ >>pids
echo '{"type":"hello","versions":[1],"can":["get"]}'
while read -r line; do
	case $line in
	*'"type":"init"'*) echo '{"type":"ready"}' ;;
	*) sleep 0.1; echo '{"type":"request","number":1,"method":"GET","target":"/_isr-sim/origin?key=/a"}' ;;
	esac
done
`

func wait(t *testing.T, d time.Duration) {
	over, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	<-over.Done()
}

// TestInterruptWithinARun: the first interrupt, or another signal that users send, ends a command in the middle of a
// run that would take minutes. The command prints the findings so far, and leaves no process.
func TestInterruptWithinARun(t *testing.T) {
	effort.Long(t)
	for command, want := range map[string]string{
		"run --exec NODE paused-writer":                       "interrupted after 0 of 1000 schedules",
		"check --exec NODE":                                   "interrupted after 0 of 100 worlds",
		"explore --exec NODE paused-writer":                   "interrupted after 0 of 1000 schedules",
		"prove --exec NODE --resume search prove-two-writers": "not complete: 0 schedules, ",
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			if signal == syscall.SIGTERM && !strings.HasPrefix(command, "run ") {
				continue // main handles both in the same way
			}
			t.Run(strings.Fields(command)[0]+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				must.OK(t, os.WriteFile(filepath.Join(dir, "node.sh"), []byte(neverSilent), 0o666))
				args := strings.Fields(command)
				for i := range args {
					args[i] = strings.Replace(args[i], "NODE", "sh node.sh", 1)
				}
				cmd := exec.CommandContext(t.Context(), "isr-sim", args...)
				var out bytes.Buffer
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
				must.OK(t, cmd.Start())
				// Wait until a run is under way, too.
				for read := ""; read == "" && t.Context().Err() == nil; wait(t, time.Second) {
					text, _ := os.ReadFile(filepath.Join(dir, "pids"))
					read = string(text)
				}
				late, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				must.OK(t, cmd.Process.Signal(signal))
				code := exitCode(cmd.Wait())
				if code != cli.ExitUnknown || late.Err() != nil || !strings.Contains(out.String(), want) {
					t.Errorf("exit code %d (%v), want %d soon, and %q:\n%s", code, late.Err(), cli.ExitUnknown, want,
						&out)
				}
				pids := must.Of(os.ReadFile(filepath.Join(dir, "pids")))(t)
				for _, pid := range strings.Fields(string(pids)) {
					alive := func() bool { return syscall.Kill(must.Of(strconv.Atoi(pid))(t), 0) == nil }
					for range 100 {
						if !alive() {
							break
						}
						wait(t, 50*time.Millisecond) // another process reaps a child of the shell
					}
					if alive() {
						t.Errorf("process %s is left", pid)
					}
				}
			})
		}
	}
}

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
