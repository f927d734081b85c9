//go:build unix

package main

import (
	"bytes"
	"context"
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

// wait waits in real time.
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
