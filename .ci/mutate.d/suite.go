//go:build ignore

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// goPackage is the output of go list about a package.
type goPackage struct {
	Dir, ImportPath, Name              string
	GoFiles, Deps                      []string
	Imports, TestImports, XTestImports []string
}

func listed(patterns ...string) ([]goPackage, error) {
	args := []string{"list", "-json=Dir,ImportPath,Name,GoFiles,Deps,Imports,TestImports,XTestImports"}
	out, err := exec.Command("go", append(args, patterns...)...).Output()
	if err != nil {
		return nil, err
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// subject is the mutated package.
type subject struct {
	goPackage
	folder  string // for what is built
	files   map[string]*mutator
	mutants []*mutant // those with a twin
	overlay string
	failed  map[*mutant]bool // they do not compile
	asked   []string         // regular expressions of the names of its own tests
	suites  []*suite         // its own tests first
}

// write writes an overlay for the go command, and returns the name of the file.
func (s *subject) write(name string, texts map[string][]byte) (string, error) {
	replaced := map[string]string{}
	for path, text := range texts {
		replaced[filepath.Join(s.Dir, path)] = filepath.Join(s.folder, name+"-"+path)
		if err := os.WriteFile(filepath.Join(s.folder, name+"-"+path), text, 0o600); err != nil {
			return "", err
		}
	}
	config, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(s.folder, name+".json")
	return overlay, os.WriteFile(overlay, config, 0o600)
}

var failure = regexp.MustCompile(`(?m)^(?:vet: )?\S*?([\w]+\.go):(\d+):\d+: `)

// compile compiles the package with all its mutants, and finds those that do not compile.
func (s *subject) compile() error {
	for {
		texts, of := map[string][]byte{"mutant_at_work.go": fmt.Appendf(nil, chooser, s.Name)},
			map[string]map[int]*mutant{}
		for name, file := range s.files {
			var own []*mutant
			for _, m := range s.mutants {
				if filepath.Base(m.file) == name && !s.failed[m] {
					own = append(own, m)
				}
			}
			texts[name], of[name] = file.twins(own)
		}
		overlay, err := s.write("twins", texts)
		if err != nil {
			return err
		}
		s.overlay = overlay
		out, err := exec.Command("go", "build", "-overlay", overlay, "-gcflags=-e", s.ImportPath).CombinedOutput()
		if err == nil {
			return nil
		}
		before := len(s.failed)
		for _, found := range failure.FindAllSubmatch(out, -1) {
			n, _ := strconv.Atoi(string(found[2]))
			if m := of[strings.TrimPrefix(string(found[1]), "twins-")][n]; m != nil {
				s.failed[m] = true
			}
		}
		if len(s.failed) == before {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
}

// suite is the tests of one package.
type suite struct {
	goPackage
	binary string
	tests  []test   // the fastest first
	leaves []string // folders that only a failure writes
	starts bool     // tests start the binary again: code that runs there is not counted, so every test is run
	blocks map[block]int
}

type test struct {
	pattern string
	takes   time.Duration // of a processor
	covers  map[int]bool  // blocks
}

// block is a piece of code without a branch, as go test -cover counts it.
type block struct {
	file                               string
	line, column, lastLine, lastColumn int
}

func build(binary, name string, flags ...string) error {
	args := append([]string{"test", "-c", "-vet=off", "-o", binary}, flags...)
	out, err := exec.Command("go", append(args, name)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", name, err, out)
	}
	return nil
}

// suite builds the tests of a package, and finds the code that each covers.
func (s *subject) suite(p goPackage) (*suite, error) {
	binary := filepath.Join(s.folder, strings.ReplaceAll(p.ImportPath, "/", "-"))
	t := &suite{goPackage: p, binary: binary, blocks: map[block]int{}}
	counting := t.binary + "-counting"
	if err := build(counting, p.ImportPath, "-cover", "-covermode=set", "-coverpkg="+s.ImportPath); err != nil {
		return nil, err
	}
	if _, err := os.Stat(counting); err != nil {
		return t, nil // no test files
	}
	if err := build(t.binary, p.ImportPath, "-overlay", s.overlay); err != nil {
		return nil, err
	}
	// The failures that one mutant leaves must not be replayed on the next.
	for _, name := range []string{"testdata/rapid", "testdata/isr-sim"} {
		if _, err := os.Stat(filepath.Join(p.Dir, name)); err != nil {
			t.leaves = append(t.leaves, filepath.Join(p.Dir, name))
		}
	}
	files, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		t.starts = t.starts || bytes.Contains(text, []byte("os.Args[0]")) ||
			bytes.Contains(text, []byte("os.Executable()"))
	}
	slices.Sort(s.asked)
	asked, err := regexp.Compile(strings.Join(slices.Compact(s.asked), "|"))
	if err != nil {
		return nil, err
	}
	out, err := t.run(counting, 0, 0, "-test.list=^(Test|Example|Fuzz)")
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", p.ImportPath, err, out)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if p.ImportPath == s.ImportPath && !asked.MatchString(name) {
			continue
		}
		pattern := "^" + name + "$"
		profile := filepath.Join(s.folder, "profile")
		began := spent()
		out, err := t.run(counting, 0, 0, "-test.run="+pattern, "-test.coverprofile="+profile)
		if err != nil {
			return nil, fmt.Errorf("%s: without a fault: %w\n%s", p.ImportPath, err, out)
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return nil, err
		}
		t.tests = append(t.tests, test{pattern, spent() - began, t.covered(string(text))})
		if out, err := t.run(t.binary, unmutated, 0, "-test.run="+pattern); err != nil {
			return nil, fmt.Errorf("%s: with unchanged twins: %w\n%s", p.ImportPath, err, out)
		}
	}
	slices.SortStableFunc(t.tests, func(a, b test) int { return cmp.Compare(a.takes, b.takes) })
	return t, nil
}

// spent returns the processor time that finished child processes have used.
func spent() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func (t *suite) covered(profile string) map[int]bool {
	covered := map[int]bool{}
	for text := range strings.Lines(profile) {
		var b block
		var statements, count int
		name, rest, _ := strings.Cut(text, ":")
		n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.column, &b.lastLine, &b.lastColumn, &statements,
			&count)
		if n != 6 {
			continue
		}
		b.file = filepath.Base(name)
		if _, ok := t.blocks[b]; !ok {
			t.blocks[b] = len(t.blocks)
		}
		if count > 0 {
			covered[t.blocks[b]] = true
		}
	}
	return covered
}

// around returns the blocks that a mutant is in. A mutant in no block, such as a case of a switch, gets all blocks of
// its function.
func (t *suite) around(m *mutant, file *mutator) []int {
	position := func(line, column int) int { return line*10000 + column }
	at, inside, all := position(m.line, m.column), map[int]bool{}, map[int]bool{}
	first, last := file.fset.Position(m.in.Pos()).Line, file.fset.Position(m.in.End()).Line
	for b, n := range t.blocks {
		if b.file != filepath.Base(m.file) {
			continue
		}
		if position(b.line, b.column) <= at && at < position(b.lastLine, b.lastColumn) {
			inside[n] = true
		}
		if first <= b.line && b.lastLine <= last {
			all[n] = true
		}
	}
	if len(inside) == 0 {
		inside = all
	}
	return slices.Collect(maps.Keys(inside))
}

// interrupted is done when the program must end, with the test binaries that it has started.
var interrupted, _ = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)

// run runs a test binary as the mutant of that number, for at most that many seconds of processor time; 0 is no limit.
func (t *suite) run(binary string, mutant, seconds int, args ...string) ([]byte, error) {
	wall := 10 * time.Minute
	limit := "unlimited"
	if seconds > 0 {
		wall, limit = time.Duration(30+4*seconds)*time.Second, strconv.Itoa(seconds)
	}
	ctx, cancel := context.WithTimeout(interrupted, wall)
	defer cancel()
	defer func() {
		for _, name := range t.leaves {
			_ = os.RemoveAll(name)
		}
	}()
	// A mutant must not use up the memory of the machine, either.
	script := `ulimit -t ` + limit + ` && ulimit -v 8000000 && exec "$0" "$@"`
	args = append([]string{"-c", script, binary, "-test.failfast"}, args...)
	c := exec.CommandContext(ctx, "bash", args...)
	c.Dir = t.Dir
	c.Env = append(os.Environ(), environment+"="+strconv.Itoa(mutant))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	return c.CombinedOutput()
}

// fate is the outcome of a mutant.
type fate string

const (
	killed   fate = "killed"
	tooLong  fate = "too long" // killed, too
	accepted fate = "accepted" // survived, and the list says why
	idle     fate = "not covered"
	survived fate = "survived"
	none     fate = "no program"
)

var fates = []fate{killed, tooLong, accepted, idle, survived, none}

// quick: tests that take less time than this share a process.
const quick = 150 * time.Millisecond

// try runs the tests that cover a mutant.
func (t *suite) try(binary string, m *mutant, file *mutator) fate {
	result, around, together, sum := idle, t.around(m, file), []string(nil), time.Duration(0)
	ask := func(pattern string, takes time.Duration) fate {
		_, err := t.run(binary, m.number, 5+int(10*takes.Seconds()), "-test.run="+pattern)
		var exit *exec.ExitError
		switch {
		case err == nil:
			return survived
		case errors.As(err, &exit) && exit.Exited():
			return killed
		}
		return tooLong
	}
	for i, test := range t.tests {
		if t.starts || slices.ContainsFunc(around, func(n int) bool { return test.covers[n] }) {
			if test.takes < quick {
				together, sum = append(together, test.pattern), sum+test.takes
			} else if result = ask(test.pattern, test.takes); result != survived {
				return result
			}
		}
		if len(together) > 0 && (i == len(t.tests)-1 || t.tests[i+1].takes >= quick) {
			if result = ask(strings.Join(together, "|"), sum); result != survived {
				return result
			}
			together = nil
		}
	}
	return result
}

// try runs the tests of the package, and then those of the packages that use it.
func (s *subject) try(m *mutant, everything []goPackage) (fate, error) {
	file := s.files[filepath.Base(m.file)]
	if s.failed[m] {
		return none, nil
	}
	overlay := s.overlay
	if !hasTwins(m.in) {
		text := []byte(file.edited(0, len(file.source), []edit{{m.from, m.to, m.text}}))
		var err error
		if overlay, err = s.write("alone", map[string][]byte{filepath.Base(m.file): text}); err != nil {
			return "", err
		}
		if exec.Command("go", "build", "-overlay", overlay, s.ImportPath).Run() != nil {
			return none, nil
		}
	}
	result := idle
	for i, p := range everything {
		if i == len(s.suites) {
			began := time.Now()
			t, err := s.suite(p)
			if err != nil {
				return "", err
			}
			s.suites = append(s.suites, t)
			fmt.Printf("# the tests of %s are built in %v\n", p.ImportPath, time.Since(began).Round(time.Second))
		}
		if err := interrupted.Err(); err != nil {
			return "", err
		}
		t := s.suites[i]
		binary := t.binary
		if overlay != s.overlay {
			binary += "-alone"
			if err := build(binary, p.ImportPath, "-overlay", overlay); err != nil {
				return "", err
			}
		}
		switch f := t.try(binary, m, file); f {
		case idle:
		case survived:
			result = f
		default:
			return f, nil
		}
	}
	return result, nil
}
