package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func invariantNames() (names []string) {
	for _, inv := range invariant.All() {
		names = append(names, inv.Name)
	}
	return names
}

// TestNoSilentYes: a command that judges nothing never ends with exit code 0, and says why.
func TestNoSilentYes(t *testing.T) {
	archive := txtar.Parse([]byte(strings.NewReplacer("$MUSEUM", fixtures.Museum()[0], "$NULL", os.DevNull,
		"$INVARIANTS", strings.Join(invariantNames(), ", ")).
		Replace(string(must.Of(os.ReadFile("testdata/silent_yes.txtar"))(t)))))
	t.Chdir(t.TempDir())
	for _, file := range archive.Files {
		must.OK(t, os.MkdirAll(filepath.Dir(file.Name), 0o755))
		must.OK(t, os.WriteFile(file.Name, file.Data, 0o644))
	}
	soon, end := context.WithTimeout(t.Context(), time.Minute) // a server that is not refused would run for ever
	defer end()
	for line := range strings.Lines(string(archive.Comment)) {
		code, rest, is := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !is || code == "#" {
			continue
		}
		command, why, _ := strings.Cut(rest, ": ")
		args := strings.Fields(command)
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "''", "")
		}
		var out, told strings.Builder
		if got := run(soon, args, &out, &told); fmt.Sprint(got) != code {
			t.Errorf("isr-sim %s: exit code %d, want %s\n%s%s", command, got, code, &out, &told)
		} else if said := out.String() + told.String(); !strings.Contains(said, strings.ReplaceAll(why, `\n`, "\n")) {
			t.Errorf("isr-sim %s: it says\n%swant %q in it", command, said, why)
		}
	}

	over, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, args := range [][]string{{}, {"run", "lonely.yaml"}, {"explore", "lonely.yaml"}, {"prove", "lonely.yaml"},
		{"selftest", "museum"}, {"selftest", "mutants"}} {
		var out, told strings.Builder
		if got := run(over, args, &out, &told); got != cli.ExitUnknown {
			t.Errorf("isr-sim %s, interrupted before it begins: exit code %d, want %d\n%s%s", args, got,
				cli.ExitUnknown, &out, &told)
		}
	}
}
