package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/atomicfile"
	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/format"
	"github.com/isr-sim/isr-sim/internal/verdicts"
	"github.com/isr-sim/isr-sim/scenario"
)

func newScenario(out io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenario",
		Short: "Print, begin, check and format scenario files",
		Long: `Scenario prints an embedded scenario to copy from, begins a new one, checks files
without running them, and formats them. docs/SCENARIOS.md explains the keys.`,
		Example: "  isr-sim scenario show paused-writer\n  isr-sim scenario new checkout > checkout.yaml\n  isr-sim scenario check *.yaml",
		Args:    cli.NoCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newScenarioShow(out), newScenarioNew(out), newScenarioCheck(out), newScenarioFormat(out))
	return cmd
}

func newScenarioShow(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print the file of an embedded scenario",
		Example: "  isr-sim scenario show paused-writer > mine.yaml",
		Args:    arguments("the name of a scenario", 1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := fixtures.Read(args[0])
			if err != nil {
				// An embedded scenario is looked for as elsewhere, for the hint of a misspelt name.
				if _, err := catalog.Load(args[0]); err != nil {
					return usage(err, "")
				}
				return usage(fmt.Errorf("show: found the file %s, expected the name of an embedded scenario", args[0]), "isr-sim list prints the names")
			}
			_, err = out.Write(data)
			return err
		},
	}
}

func newScenarioNew(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:     "new [NAME]",
		Short:   "Print a scenario to begin with, which runs as it is",
		Example: "  isr-sim scenario new checkout > checkout.yaml\n  isr-sim run checkout.yaml",
		Args:    arguments("a name", 0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "my-scenario"
			if len(args) > 0 {
				name = args[0]
			}
			text := beginning(name)
			if _, err := scenario.Parse(name+".yaml", []byte(text)); err != nil {
				return usage(fmt.Errorf("new: found the name %q, expected letters, digits, - and _ (at most 100)", name), "such as: isr-sim scenario new checkout")
			}
			_, err := io.WriteString(out, text)
			return err
		},
	}
}

// beginning is a scenario to begin with.
func beginning(name string) string {
	return fmt.Sprintf(`# yaml-language-server: $schema=https://raw.githubusercontent.com/isr-sim/isr-sim/main/docs/scenario.schema.json
name: %s
about: |
  A writer is paused after it has acquired the lock, and publishes when another machine
  has taken the lock over. Its page must not replace the newer one.
cache: # how every machine's cache is configured
  lease: 10s
  revalidate: 60s
  render: 3s
actors: # one machine each, and what its client does
  - name: alice
    script: [get /home]
    pauses: 1 # the schedule may stop her machine once, at any moment,
    pause-for: 15s # for at least this long
  - name: bob
    script: [change /home, sleep 5s, get /home]
faults: # what may go wrong in the store, the body store and the origin
  - maybe response-lost op=TransactWriteItems
reach: [pause, lock-taken-over] # marks that a campaign must reach, to count
`, name)
}

func newScenarioCheck(out io.Writer) *cobra.Command {
	var forms formats
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check scenario files without running them",
		Long: `Check reads scenario files and prints all mistakes in them, each with line, column,
caret and hint. Nothing is run. - is the standard input. Exit code 0 says that all
files are scenarios, 2 that one is not.`,
		Example: "  isr-sim scenario check *.yaml\n  isr-sim scenario check - < mine.yaml",
		Args:    arguments("a file", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return forms.around(cmd, &out, func() error {
				return eachFile(cmd.InOrStdin(), args, func(name string, data []byte) error {
					if _, err := scenario.Parse(name, data); err != nil {
						return err
					}
					r := verdicts.Result{Scenario: name, Verdict: verdicts.OK, Passed: true}
					r.File, r.Line = inFile(name)
					forms.add(r)
					_, err := fmt.Fprintf(out, "%s: ok\n", name)
					return err
				})
			})
		},
	}
	forms.flags(cmd)
	return cmd
}

func newScenarioFormat(out io.Writer) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Lay scenario files out as the embedded ones are",
		Long: `Fmt rewrites scenario files: two spaces a level, one space where there were several,
long lists wrapped. Comments, the order of the keys and the kind of each list stay.
It prints the names of the files that it has changed. - reads the standard input and
prints the result.`,
		Example: "  isr-sim scenario fmt *.yaml\n  isr-sim scenario fmt --check *.yaml",
		Args:    arguments("a file", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			untidy := 0
			err := eachFile(cmd.InOrStdin(), args, func(name string, data []byte) error {
				text, err := format.Scenario(name, data)
				if err != nil {
					return err
				}
				same := bytes.Equal(text, data)
				if !same {
					untidy++
				}
				switch {
				case name == stdinName && !check:
					_, err = out.Write(text)
					return err
				case same:
					return nil
				case !check:
					if err := atomicfile.Write(name, text, 0o644); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintln(out, name)
				return err
			})
			if err == nil && check && untidy > 0 {
				return usage(fmt.Errorf("fmt: found files that are not formatted: %d", untidy), "isr-sim scenario fmt "+strings.Join(args, " "))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; exit code 2 if a file is not formatted")
	return cmd
}

// arguments asks for a number of arguments; most is -1 for any.
func arguments(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usage(fmt.Errorf("%s: found no argument, expected %s", cmd.Name(), what), cmd.CommandPath()+" --help")
		case most >= 0 && len(args) > most:
			return usage(fmt.Errorf("%s: found %d arguments, expected %s", cmd.Name(), len(args), what), cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// stdinName is what errors call the standard input.
const stdinName = "<stdin>"

// eachFile reads files, - for the standard input, and goes on after a mistake, so that all are told in one go.
func eachFile(in io.Reader, names []string, use func(name string, data []byte) error) error {
	var wrong []error
	for _, name := range names {
		name, data, err := readScenario(in, name)
		if err == nil {
			err = use(name, data)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return usage(errors.Join(wrong...), "")
}

// maxScenarioBytes is more than the parser takes, which says so.
const maxScenarioBytes = 8 << 20

func readScenario(in io.Reader, name string) (_ string, data []byte, err error) {
	if name == catalog.Stdin {
		data, err = io.ReadAll(io.LimitReader(in, maxScenarioBytes))
		return stdinName, data, err
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return name, nil, err
	case info.IsDir():
		return name, nil, fmt.Errorf("found the directory %s, expected a file\nhint: name the files in it: %s", name, filepath.Join(name, "*.yaml"))
	case !info.Mode().IsRegular():
		return name, nil, fmt.Errorf("%s is no regular file", name) // opening a pipe would wait for a writer
	}
	f, err := os.Open(name)
	if err != nil {
		return name, nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err = io.ReadAll(io.LimitReader(f, maxScenarioBytes))
	return name, data, err
}
