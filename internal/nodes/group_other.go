//go:build !unix

package nodes

import "os/exec"

// shellCommand returns a process that runs text in a shell.
func shellCommand(text string) *exec.Cmd { return exec.Command("cmd", "/c", text) }

// kill ends the process.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() } // it may be gone already

// warden does nothing here: see the warden for Unix.
type warden struct{}

func (*warden) begins(*exec.Cmd) {}
func (*warden) ends(*exec.Cmd)   {}
func (*warden) close()           {}
