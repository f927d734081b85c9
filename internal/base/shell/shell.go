// Package shell quotes words for commands that a person pastes into a shell.
package shell

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Quote quotes a word for a shell, if it needs quotes.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./+:,@%", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// importPath is the command's path for go run.
const importPath = "github.com/isr-sim/isr-sim/cmd/isr-sim"

// ExecPrefix begins the name of a protocol that is a program. The command that starts the program follows.
const ExecPrefix = "exec "

// Program returns the words with which the user called isr-sim, for the commands that it prints.
func Program() string {
	switch called := filepath.ToSlash(os.Args[0]); {
	case strings.Contains(called, "/node_modules/"):
		return "npx isr-sim"
	case !strings.Contains(called, "/go-build"):
		return "isr-sim"
	}
	// go run has its executables in the build cache or in a separate folder.
	if _, err := os.Stat("cmd/isr-sim/main.go"); err == nil {
		return "go run ./cmd/isr-sim"
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return "go run " + importPath + "@" + info.Main.Version
	}
	return "go run " + importPath
}
