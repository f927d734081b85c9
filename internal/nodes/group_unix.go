//go:build unix

package nodes

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// shellCommand returns a process that runs text in a shell, in its own process group.
func shellCommand(text string) *exec.Cmd {
	//nolint:noctx // a process outlives the run that started it: Program.Close ends it
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// kill ends the process and all that it started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may be gone already

// warden ends the processes of a program if this process dies first, such as by a second interrupt, SIGQUIT or SIGKILL.
// A node that works without a pause does not notice that this process is gone. The warden is a shell. Its stdin closes
// when this process dies. A signal from the terminal does not reach it.
type warden struct {
	mu    sync.Mutex
	cmd   *exec.Cmd // nil before the first process
	stdin io.WriteCloser
}

// watch is the warden's script. It reads the process groups that begin and end.
const watch = `groups=
while read -r change group; do
	left=
	for g in $groups; do [ "$g" = "$group" ] || left="$left $g"; done
	[ "$change" = ends ] || left="$left $group"
	groups=$left
done
for g in $groups; do kill -s KILL -- "-$g"; done`

// begins and ends tell the warden that a process has begun or ended.
func (w *warden) begins(cmd *exec.Cmd) { w.tell("begins", cmd) }
func (w *warden) ends(cmd *exec.Cmd)   { w.tell("ends", cmd) }

func (w *warden) tell(change string, cmd *exec.Cmd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd == nil && change == "begins" {
		w.cmd = shellCommand(watch)
		w.stdin, _ = w.cmd.StdinPipe() // on an error, the warden just knows no group
		if w.cmd.Start() != nil {
			w.stdin = nil
		}
	}
	if w.stdin != nil {
		_, _ = fmt.Fprintf(w.stdin, "%s %d\n", change, cmd.Process.Pid) // without a warden, everything else works
	}
}

// close ends the warden.
func (w *warden) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stdin != nil {
		_ = w.stdin.Close() // it reads no more
		_ = w.cmd.Wait()    // it has no groups to kill, and nothing to say
	}
	w.cmd, w.stdin = nil, nil
}
