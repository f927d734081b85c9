// Command speed runs the benchmarks of package bench and of the peers, all on the CPU on which it is started, and
// prints which targets are met. bash bench/run builds what it needs and starts it; its flags are for that script.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

func main() {
	runtime.LockOSThread() // servers end with the thread that started them
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// share is the number of requests in one iteration of BenchmarkHTTP.
const share = 100

// settings are the command line.
type settings struct {
	programs  programs
	benchmark string // the test binary of package bench
	cpu       int
	warm      int
	rounds    int
	benchtime time.Duration
	report    string // file; "" writes none
	page      string // file into which the ratios are put; "" for none
	output    string // file for the output of the benchmarks, as benchstat reads it; "" writes none
	again     bool
	check     bool
	smoke     bool
}

func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("speed", flag.ContinueOnError)
	f.StringVar(&s.benchmark, "benchmark", "", "the test binary of package bench")
	f.StringVar(&s.programs.isrsim, "isr-sim", "", "the command isr-sim")
	f.StringVar(&s.programs.minidyn, "minidyn", "", "the command minidyn of this module")
	f.StringVar(&s.programs.canned, "canned", "", "the command canned of this module")
	f.StringVar(&s.programs.dynalite, "dynalite", "", "dynalite's cli.js")
	f.IntVar(&s.cpu, "cpu", 0, "the CPU that this process, and so its children, are tied to: for the container")
	f.IntVar(&s.warm, "warm", 20_000, "requests of each kind that servers answer first which compile while they run")
	f.IntVar(&s.rounds, "rounds", 5, "how many times each benchmark runs; the median counts")
	f.DurationVar(&s.benchtime, "benchtime", 300*time.Millisecond, "how long each runs in a round, at least")
	f.StringVar(&s.report, "report", "", "write the report to this file")
	f.StringVar(&s.page, "page", "", "put the ratios into this file")
	f.StringVar(&s.output, "output", "", "write what the benchmarks print to this file, for benchstat")
	f.BoolVar(&s.again, "again", false, "measure nothing: report what an earlier run has left in --output")
	f.BoolVar(&s.check, "check", false, "fail if a target is missed")
	f.BoolVar(&s.smoke, "smoke", false, "run every benchmark once, cold; judge and write nothing")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 || s.rounds < 1 || s.warm < share {
		return s, fmt.Errorf("want flags only, at least one round, and at least %d requests to warm up", share)
	}
	return s, nil
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.again {
		text, err := os.ReadFile(s.output)
		if err != nil {
			return err
		}
		return s.conclude(ctx, text)
	}
	began := time.Now()
	servers, err := startServers(ctx, s.programs, s.cpu)
	defer servers.stop()
	if err != nil {
		return err
	}
	if err := s.bench(ctx, servers, io.Discard, "-test.run=^TestSameWork$", "-test.v"); err != nil {
		return err
	}
	if s.smoke {
		return s.bench(ctx, servers, os.Stdout, "-test.run=^$", "-test.bench=.", "-test.benchtime=1x")
	}

	fmt.Printf("%3.0f s: warming up\n", time.Since(began).Seconds())
	if err := s.bench(ctx, servers, io.Discard,
		"-test.run=^$", "-test.bench=HTTP/./by=(dynalite|dynamodb-local)",
		fmt.Sprintf("-test.benchtime=%dx", s.warm/share)); err != nil {
		return err
	}
	var collected bytes.Buffer
	for round := range s.rounds {
		fmt.Printf("%3.0f s: round %d of %d\n", time.Since(began).Seconds(), round+1, s.rounds)
		if err := s.bench(ctx, servers, &collected, "-test.run=^$", "-test.bench=.",
			"-test.benchtime="+s.benchtime.String()); err != nil {
			return err
		}
	}
	fmt.Printf("%3.0f s: done\n\n", time.Since(began).Seconds())
	if s.output != "" {
		if err := os.WriteFile(s.output, collected.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return s.conclude(ctx, collected.Bytes())
}

// bench runs the test binary, and shows its output if it fails.
func (s settings) bench(ctx context.Context, servers *servers, out io.Writer, args ...string) error {
	var printed tee
	printed.out = out
	cmd := exec.CommandContext(ctx, s.benchmark, args...)
	cmd.Env = append(os.Environ(), servers.environment())
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", s.benchmark, args, err, printed.kept)
	}
	return nil
}

// tee passes on everything written to it, and keeps a copy.
type tee struct {
	out  io.Writer
	kept []byte
}

// Write keeps the bytes and passes them on.
func (t *tee) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	return t.out.Write(p)
}

// conclude writes the report and the verdict.
func (s settings) conclude(ctx context.Context, output []byte) error {
	measured, err := parseResults(string(output))
	if err != nil {
		return err
	}
	judged, err := judge(measured)
	if err != nil {
		return err
	}
	if s.report != "" {
		text := report(judged, describeMachine(ctx, s.programs))
		if err := os.WriteFile(s.report, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if s.page != "" {
		old, err := os.ReadFile(s.page)
		if err != nil {
			return err
		}
		text, err := intoPage(string(old), judged)
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Print(summary(judged))
	missed, total := countMissed(judged)
	fmt.Printf("\n%d of %d targets are met\n", total-missed, total)
	if s.check && missed > 0 {
		return fmt.Errorf("%d targets are missed", missed)
	}
	return nil
}
