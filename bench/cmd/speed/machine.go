package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"strings"
	"time"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
)

// machine is where and with what was measured: names and values.
type machine [][2]string

func describeMachine(ctx context.Context, p programs) machine {
	minidyn := "unknown"
	if info, err := buildinfo.ReadFile(p.minidyn); err == nil {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/truora/minidyn" {
				minidyn = dep.Version
			}
		}
	}
	return machine{
		{"date", time.Now().UTC().Format(time.DateOnly)},
		{"isr-sim", output(ctx, "git", "describe", "--always", "--dirty")},
		{"load average", load() + " when it ended; 1 is its own"},
		{"CPU", field("/proc/cpuinfo", "model name")},
		{"system", strings.TrimSpace(output(ctx, "uname", "-sr") + " " + runtime.GOARCH)},
		{"Go", runtime.Version()},
		{"DynamoDB Local", ddblocal.Image},
		{"dynalite", os.Getenv("DYNALITE_VERSION") + " on Node.js " + output(ctx, "node", "--version")},
		{"minidyn", minidyn},
	}
}

func (m machine) table() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, pair := range m {
		fmt.Fprintf(&b, "| %s | %s |\n", pair[0], pair[1])
	}
	return b.String()
}

// output returns what a command prints, or "unknown".
func output(ctx context.Context, name string, args ...string) string {
	printed, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(printed))
}

// load returns the load averages of the last 1, 5 and 15 minutes: how idle the machine was.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	averages := strings.Fields(string(text))
	return strings.Join(averages[:min(3, len(averages))], ", ")
}

// field returns a field of a file such as /proc/cpuinfo, the first of its name.
func field(file, name string) string {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
