package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"

	"strings"
	"time"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
)

// machine describes the machine and the tools of the measurement: names and values.
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
		{"load average", strings.Join(loads(), ", ") + loadNote()},
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

// loads returns the load averages of the last 1, 5 and 15 minutes.
func loads() []string {
	text, _ := os.ReadFile("/proc/loadavg")
	averages := strings.Fields(string(text))
	return averages[:min(3, len(averages))]
}

// loadNote comments on the load averages: the run itself counts as one busy program.
func loadNote() string {
	const idle = 2
	if averages := loads(); len(averages) > 0 {
		if last, err := strconv.ParseFloat(averages[0], 64); err == nil && last > idle {
			return ": **other programs were busy**, so what is measured by the wall clock means little"
		}
	}
	return ""
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
