package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/atomicfile"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/internal/search/campaign"
	"github.com/isr-sim/isr-sim/internal/show/format"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

func newScenario() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "scenario",
		Short: "Print, begin, check and format scenario files",
		Long: `Scenario prints an embedded scenario to copy from, begins a new one, checks files
without running them, and formats them. docs/SCENARIOS.md explains the keys.`,
		Example: "  isr-sim scenario show paused-writer\n  isr-sim scenario new checkout > checkout.yaml\n" +
			"  isr-sim scenario check *.yaml",
	}, newScenarioShow(), newScenarioNew(), newScenarioCheck(), newScenarioFormat())
}

func newScenarioShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Print the file of an embedded scenario",
		Example: "  isr-sim scenario show paused-writer > mine.yaml",
		Args:    cli.Arguments("the name of a scenario", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := fixtures.Read(args[0])
			if err != nil {
				// Load gives the hint for a misspelt name.
				if _, err := catalog.Load(args[0]); err != nil {
					return cli.Usage(err, "")
				}
				return cli.Usage(fmt.Errorf("show: found the file %s, expected the name of an embedded scenario",
					args[0]), "isr-sim list prints the names")
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
}

func newScenarioNew() *cobra.Command {
	return &cobra.Command{
		Use:     "new [NAME]",
		Short:   "Print a scenario to begin with, which runs as it is",
		Example: "  isr-sim scenario new checkout > checkout.yaml\n  isr-sim run checkout.yaml",
		Args:    cli.Arguments("a name", 0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "my-scenario"
			if len(args) > 0 {
				name = args[0]
			}
			text := catalog.Beginning(name)
			if _, err := spec.Parse(name+".yaml", []byte(text)); err != nil {
				return cli.Usage(fmt.Errorf("new: found the name %q, expected letters, digits, - and _ (at most 100)",
					name), "such as: isr-sim scenario new checkout")
			}
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
}

func newScenarioCheck() *cobra.Command {
	var r flags.Results
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check scenario files without running them",
		Long: `Check reads scenario files and prints all mistakes in them, each with line, column,
caret and hint. Nothing is run, but the protocol is asked whether it can do the commands
of the scripts. - is the standard input. Exit code 0 says that all files are scenarios, 2
that one is not, and 3 that clocks may differ too much in one for an invariant to judge.`,
		Example: "  isr-sim scenario check *.yaml\n  isr-sim scenario check - < mine.yaml",
		Args:    cli.Arguments("a file", 1, -1),
		RunE: r.Around(func(cmd *cobra.Command, args []string) error {
			code := cli.ExitOK
			err := catalog.EachFile(cmd.InOrStdin(), args, func(name string, data []byte) error {
				s, err := spec.Parse(name, data)
				if err != nil {
					return err
				}
				if why, hint := flags.Lacking(cmd.Context(), s, isr.Protocol{}); why != "" {
					return fmt.Errorf("%s: %s\nhint: %s", name, why, hint)
				}
				excused := strings.TrimSpace(prose.Excused(&campaign.Report{
					Scenario: s, Protocol: isr.Protocol{Name: s.Protocol},
				}))
				is, text := verdicts.OK, "ok"
				if excused != "" { // no run of it has a verdict, unless it is a violation
					code, is, text = cli.ExitUnknown, verdicts.Unknown, "unknown; "+excused
				}
				r.Add(name, verdicts.Result{Scenario: name, Verdict: is, Passed: excused == "", Message: excused})
				_, err = fmt.Fprintf(r.Out, "%s: %s\n", name, text)
				return err
			})
			if err == nil && code != cli.ExitOK {
				return &cli.Error{Code: code}
			}
			return cli.Usage(err, "")
		}),
	}
	r.RegisterFormats(cmd)
	return cmd
}

func newScenarioFormat() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "fmt FILE...",
		Short: "Lay scenario files out as the embedded ones are",
		Long: `Fmt rewrites scenario files: two spaces a level, one space where there were several,
long lists wrapped. Comments, the order of the keys and the kind of each list stay.
It prints the names of the files that it has changed. - reads the standard input and
prints the result.`,
		Example: "  isr-sim scenario fmt *.yaml\n  isr-sim scenario fmt --check *.yaml",
		Args:    cli.Arguments("a file", 1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			untidy := 0
			err := catalog.EachFile(cmd.InOrStdin(), args, func(name string, data []byte) error {
				text, err := format.Scenario(name, data)
				if err != nil {
					return err
				}
				same := bytes.Equal(text, data)
				if !same {
					untidy++
				}
				switch {
				case name == catalog.StdinName && !check:
					_, err = cmd.OutOrStdout().Write(text)
					return err
				case same:
					return nil
				case !check:
					if err := atomicfile.Write(name, text, 0o644); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), name)
				return err
			})
			if err == nil && check && untidy > 0 {
				return cli.Usage(fmt.Errorf("fmt: found files that are not formatted: %d", untidy),
					"isr-sim scenario fmt "+strings.Join(args, " "))
			}
			return cli.Usage(err, "")
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; exit code 2 if a file is not formatted")
	return cmd
}

func newList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the embedded scenarios, the protocols and the invariants",
		Args:  cli.NoArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cli.Usage(catalog.List(cmd.OutOrStdout()), "") },
	}
}
