//go:build unix

package nodes

import (
	"os/exec"
	"syscall"
)

// shell runs the text of a command in a process group of its own.
func shellCommand(text string) *exec.Cmd {
	//nolint:noctx // a process outlives the run that started it: Program.Close ends it
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// kill ends the process and all that it started.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may be gone already
