package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/audit"
	"github.com/isr-sim/isr-sim/internal/cli/check"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/cli/fleet"
	"github.com/isr-sim/isr-sim/internal/lab/policycommand"
)

const longHelp = `isr-sim runs caches (incremental static regeneration), locks and idempotency layers
on DynamoDB under chaos. It reports the invariant that breaks and the schedule that
breaks it.

isr-sim check answers whether your own code is right. Without arguments isr-sim
runs every embedded scenario on the embedded fake. The pages that help texts name,
docs/..., are at https://github.com/isr-sim/isr-sim/tree/main/docs

Exit codes: 0 as expected; 1 an invariant is violated, or a campaign never
reached a mark that its scenario declares; 2 usage or bad input; 3 unknown, or
the infrastructure failed.`

func newRoot(out, progress io.Writer) *cobra.Command {
	info, _ := debug.ReadBuildInfo() // nil where there is none
	root := &cobra.Command{
		Use:           "isr-sim",
		Short:         "Find, explain and replay the bugs of ISR caches on DynamoDB",
		Long:          longHelp,
		Example:       "  isr-sim\n  isr-sim run --protocol blind-publish paused-writer\n  isr-sim list",
		Args:          cli.NoCommand,
		Version:       version(info, runtime.Version()),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true // the root command has another one
	root.SetFlagErrorFunc(cli.FlagError)
	new(runCommand).register(root)
	root.Flags().Bool("version", false, "print the version of isr-sim, and of the Go that built it")
	root.SetVersionTemplate("isr-sim {{.Version}}\n")
	root.SetHelpCommand(with(cli.NewHelp(root), newMan()))
	for _, group := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"code", "Check your code:", []*cobra.Command{check.NewCommand(), newProve(), audit.NewCommand()}},
		{"run", "Run scenarios, and study a run:", []*cobra.Command{
			with(newRun(), newConcurrent()), newReplay(), newShrink(), newExplain(),
			with(newReport(), fleet.NewDashboard()), newScenario(), newList(),
		}},
		{"serve", "Serve the fake:", []*cobra.Command{with(newServe(), cli.NewHealth()), newMCP()}},
		{"campaign", "Long campaigns:", []*cobra.Command{fleet.NewExplore(), fleet.NewMerge()}},
		{"about", "Policies, and the toolkit itself:", []*cobra.Command{
			policycommand.New(out, progress), newSelftest(), flags.NewCompletion(root),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, cmd := range group.commands {
			cmd.GroupID = group.id
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommandGroupID("about")
	for old, now := range moved { //isrsim:unordered each is a command of its own
		root.AddCommand(newMoved(old, now))
	}
	flags.Complete(root)
	return root
}

func with(cmd, below *cobra.Command) *cobra.Command {
	cmd.AddCommand(below)
	return cmd
}

// moved maps the commands of version 0.0 to where they went, for one version.
var moved = map[string]string{
	"concurrent": "run concurrent", "dashboard": "report dashboard", "health": "serve health", "man": "help man",
	"museum": "selftest museum", "mutants": "selftest mutants", "version": "--version",
}

// newMoved returns a command that prints where it went.
func newMoved(old, now string) *cobra.Command {
	return &cobra.Command{
		Use:                old,
		Short:              "Now: isr-sim " + now,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.Usage(fmt.Errorf("found the command %q, which has another name now", old), "isr-sim "+now)
		},
	}
}

// version is the module's version, the Go that built it and the commit, as far as the Go command recorded them in the
// binary.
func version(info *debug.BuildInfo, goVersion string) string {
	module, commit, modified := "(devel)", "", ""
	if info != nil {
		if info.Main.Version != "" {
			module = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = ", commit " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ", modified"
			}
		}
	}
	return module + " " + goVersion + commit + modified
}
