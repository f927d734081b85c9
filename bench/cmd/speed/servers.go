package main

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/isr-sim/isr-sim/fixtures/ddblocal"
)

// programs are the servers' executables.
type programs struct{ isrsim, minidyn, canned, dynalite string }

// server describes one server to package bench.
type server struct {
	Endpoint string `json:"endpoint"`
	PID      int    `json:"pid"`
	Lacks    string `json:"lacks,omitempty"` // an operation that it lacks
}

type servers struct {
	byName map[string]server
	stops  []func()
}

// startServers starts all servers. The caller must stop them even if it fails.
func startServers(ctx context.Context, p programs, cpu int) (*servers, error) {
	s := &servers{byName: map[string]server{}}
	port, err := freePort(ctx)
	if err != nil {
		return s, err
	}
	for _, one := range []struct {
		name, lacks string
		command     []string
	}{
		{name: "isr-sim", command: []string{p.isrsim, "serve"}},
		{name: "minidyn", command: []string{p.minidyn}},
		{name: "net-http", command: []string{p.canned}},
		{name: "fasthttp", command: []string{p.canned, "fasthttp"}},
		{name: "dynalite", lacks: "publish-transaction",
			command: []string{"node", p.dynalite, "--host", "127.0.0.1", "--port", port, "--createTableMs", "0"}},
	} {
		if err := s.start(ctx, one.name, one.lacks, one.command); err != nil {
			return s, fmt.Errorf("%s: %w", one.name, err)
		}
	}
	local, err := ddblocal.StartOn(ctx, strconv.Itoa(cpu))
	if err != nil {
		return s, err
	}
	s.stops = append(s.stops, func() { _ = local.Close(context.WithoutCancel(ctx)) })
	pid, err := local.PID(ctx)
	if err != nil {
		return s, err
	}
	s.byName["dynamodb-local"] = server{Endpoint: local.Endpoint(), PID: pid}
	return s, nil
}

// freePort returns a port on which no program listens, because dynalite cannot choose one itself.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

var endpoint = regexp.MustCompile(`http://[\w.]+:\d+`)

// start starts a server that prints on its first line where it listens.
func (s *servers) start(ctx context.Context, name, lacks string, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.stops = append(s.stops, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	const patience = 20 * time.Second
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	inTime := context.AfterFunc(waiting, func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	inTime()
	at := endpoint.FindString(line)
	if at == "" {
		return fmt.Errorf("printed %q instead of where it listens: %w", line, err)
	}
	s.byName[name] = server{Endpoint: at, PID: cmd.Process.Pid, Lacks: lacks}
	return nil
}

func (s *servers) stop() {
	for _, stop := range s.stops {
		stop()
	}
}

// environment returns the value of serversEnv for package bench.
func (s *servers) environment() string {
	text, err := json.Marshal(s.byName)
	if err != nil {
		panic(err) // strings and numbers
	}
	return "ISRSIM_BENCH_SERVERS=" + string(text)
}

// machine describes the machine and the tools of the measurement, as names and values.
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

// output returns the output of a command, or "unknown".
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

// loadNote comments on the load averages, to which the run itself contributes one busy program.
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
