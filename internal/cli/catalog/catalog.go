// Package catalog finds scenarios as a user names them: embedded ones by name, others by file.
package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/mistake"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/protocols"
	"github.com/isr-sim/isr-sim/internal/protocols/policyprotocol"
	"github.com/isr-sim/isr-sim/internal/show/record"
	"github.com/isr-sim/isr-sim/internal/subject/list"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// IsFile reports whether a word can only mean a file: no embedded scenario has a slash or a dot in its name.
func IsFile(word string) bool { return strings.ContainsAny(word, `/\`) || filepath.Ext(word) != "" }

// Stdin is the name of the standard input.
const Stdin = "-"

// Load finds a scenario by its embedded name or as a file; - is the standard input. Its errors are mistakes of the
// user, with a hint at the end where possible.
func Load(name string) (*spec.Scenario, error) {
	if name == Stdin {
		data, err := io.ReadAll(io.LimitReader(os.Stdin, maxStdin))
		if err != nil {
			return nil, fmt.Errorf("scenario: standard input: %w", err)
		}
		return spec.Parse("<stdin>", data)
	}
	if !IsFile(name) {
		if data, err := fixtures.Read(name); err == nil {
			return spec.Parse(name+".yaml", data)
		}
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf(
			"scenario: found the directory %s, expected a file\nhint: name the files in it: %s/*.yaml",
			name, shell.Quote(name),
		)
	case err == nil && filepath.Ext(name) == ".json":
		return loadRecord(name)
	case err == nil || IsFile(name):
		s, err := spec.Load(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w\nhint: %s", err, missingFileHint(name))
		}
		return s, err
	}
	hint := suggest.Hint(name, slices.Concat(fixtures.Names(), fixtures.Museum()), "isr-sim list prints their names")
	return nil, fmt.Errorf("scenario: found %q, expected a file or the name of an embedded scenario\nhint: %s", name,
		hint)
}

// maxStdin bounds the input, far beyond the size of a scenario.
const maxStdin = 8 << 20

// LoadAll loads several scenarios, each as Load does.
func LoadAll(names []string) ([]*spec.Scenario, error) {
	scenarios := make([]*spec.Scenario, len(names))
	for i, name := range names {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		scenarios[i] = s
	}
	return scenarios, nil
}

// missingFileHint guesses what the name of a missing file means: most often an embedded scenario.
func missingFileHint(name string) string {
	base := filepath.Base(name)
	if option, ok := suggest.Nearest(strings.TrimSuffix(base, filepath.Ext(base)), fixtures.Names()); ok {
		return fmt.Sprintf("the embedded scenario is called %s", option)
	}
	return "embedded scenarios are named without a path; isr-sim list prints them"
}

// Summary returns the first sentence about a scenario, on one line.
func Summary(s *spec.Scenario) string {
	text := strings.Join(strings.Fields(s.About), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// List prints the names of scenarios, protocols and invariants, each with a sentence.
func List(out io.Writer) error {
	scenarios, err := LoadAll(fixtures.Names())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "scenarios")
	for _, s := range scenarios {
		fmt.Fprintf(out, "  %-24s %s\n", s.Name, Summary(s))
	}
	museum, err := LoadAll(fixtures.Museum())
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "\nthe museum (isr-sim selftest museum)")
	for _, s := range museum {
		fmt.Fprintf(out, "  %-30s %s\n", s.Name, Summary(s))
	}
	policies := policyprotocol.All()
	fmt.Fprintln(out, "\nprotocols")
	listProtocols(out, slices.DeleteFunc(kernel.Protocols(), func(p isr.Protocol) bool {
		return slices.ContainsFunc(policies, func(policy isr.Protocol) bool { return policy.Name == p.Name })
	}))
	fmt.Fprintln(out, "\npolicies of expiry, as protocols")
	listProtocols(out, policies)
	for _, of := range list.Subjects() {
		fmt.Fprintf(out, "\ninvariants of %s\n", of.Name())
		for _, inv := range of.All {
			fmt.Fprintf(out, "  %-24s %s\n", inv.Name, inv.Statement)
		}
	}
	return nil
}

func listProtocols(out io.Writer, protocols []isr.Protocol) {
	for _, p := range protocols {
		breaks := ""
		if p.Breaks != "" {
			breaks = " (breaks " + p.Breaks + ")"
		}
		fmt.Fprintf(out, "  %-24s %s%s\n", p.Name, p.Summary, breaks)
	}
}

// loadRecord reads the scenario in the record of a run, with its replay entry.
func loadRecord(name string) (*spec.Scenario, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	r, err := record.Read(file)
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w\nhint: a scenario is a file in YAML, or the record of a run", name,
			err)
	}
	if r.Watched {
		return nil,
			fmt.Errorf("scenario: %s: found the record of a run that no schedule decided, expected one that can "+
				"be replayed\n"+
				"hint: isr-sim report draws it; to replay a bug, find it with isr-sim run", name)
	}
	if r.File == "" {
		return nil,
			fmt.Errorf("scenario: %s: found a record whose scenario no file can hold, expected one with a scenario\n"+
				"hint: the test that left the record runs it again", name)
	}
	if protocols.UnderTest(r.Protocol) {
		return nil,
			fmt.Errorf("scenario: %s: found the record of code in a Go test, expected one of a protocol that "+
				"isr-sim list prints\n"+
				"hint: the test runs it again: go test -v -run '^%s$'", name,
				strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))
	}
	return spec.Parse(name, []byte(r.File))
}

// Rows finds a row mapping: a ready-made one by name, others by file. Its errors are mistakes of the user.
func Rows(name string) (isr.Schema, error) {
	ready, err := isr.SchemaNamed(name)
	if err == nil {
		return ready, nil
	}
	s, err := spec.LoadRows(name)
	if errors.Is(err, fs.ErrNotExist) {
		var names []string
		for _, s := range isr.Schemas() {
			names = append(names, s.Name)
		}
		err = fmt.Errorf("--rows: found %q, expected a file, or one of %s", name, strings.Join(names, ", "))
		return s, mistake.New(err, "docs/SCENARIOS.md says what is in the file")
	}
	if err != nil {
		return s, mistake.New(fmt.Errorf("--rows: %w", err), "")
	}
	return s, nil
}
