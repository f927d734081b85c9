package property

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/wholefile"
	"github.com/isr-sim/isr-sim/scenario"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// failDir is where failures are left, beside the test.
const failDir = "testdata/isr-sim"

// fileName returns the file of a test's failure, slashes as on every system.
func fileName(test string) string { return failDir + "/" + safeName(test) + ".yaml" }

// safeName makes a name of a test's that can stand in a scenario and a file. Two
// tests get two names.
func safeName(test string) string {
	const longest = 100
	changed := false
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		default:
			changed = true
			return '-'
		}
	}, test)
	if !changed && len(name) <= longest {
		return name
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(test)) // a hash.Hash never fails
	suffix := fmt.Sprintf("-%08x", h.Sum32())
	return name[:min(len(name), longest-len(suffix))] + suffix
}

// file returns the failure as a scenario file.
func (f *failure) file() ([]byte, error) {
	s := *f.world
	first, _, _ := strings.Cut(f.text, "\n")
	s.About = "Found by property.CheckStore; the smallest world that rapid came to, and a schedule of few context switches.\n" + first
	s.Replay = f.replay
	return s.YAML()
}

// leave writes the failure to a file, all of it or nothing.
func (f *failure) leave(file string) error {
	yaml, err := f.file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filepath.FromSlash(file)), 0o775); err != nil {
		return err
	}
	return wholefile.Write(filepath.FromSlash(file), yaml, 0o664)
}

// report prints the failure: verdict, invariant, statement and events, seed, and
// how to run it again.
func (f *failure) report(t *testing.T, file string) string {
	var b strings.Builder
	b.WriteString(f.text)
	if f.how != "" {
		fmt.Fprintf(&b, "\n%s\n", f.how)
	}
	if !f.repeatable() {
		return b.String()
	}
	fmt.Fprintf(&b, "seed %d, choices %s\n", f.replay.Seed, f.replay.Choices)
	fmt.Fprintf(&b, "scenario: %s\n", file)
	fmt.Fprintf(&b, "replay: go test -run '%s' . (it begins with that file)\n", runPattern(t.Name()))
	fmt.Fprintf(&b, "replay: property.Replay(t, %q, newStore)\n", file)
	builtIn := func(p isr.Protocol) bool { return p.Name == f.replay.Protocol }
	if slices.ContainsFunc(scenario.Protocols(), builtIn) {
		fmt.Fprintf(&b, "replay: isr-sim replay %s\n", file)
	}
	return b.String()
}

// runPattern is the -run flag that runs one test.
func runPattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// load reads a scenario file of a store under test, whatever it calls the store.
func load(file string) (*scenario.Scenario, error) {
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	return scenario.Parse(file, data, isr.Protocol{Name: DefaultName})
}

func exists(file string) bool {
	_, err := os.Stat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}
