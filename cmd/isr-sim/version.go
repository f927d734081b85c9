package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of isr-sim and of the Go that built it",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintf(cmd.OutOrStdout(), "isr-sim %s\n", cmd.Root().Version)
			return nil
		},
	}
}

// version is the module's version, the Go that built it and the commit that was built, as far as the Go command
// recorded them in the binary.
func version(info *debug.BuildInfo, goVersion string) string {
	module, commit := built(info)
	return module + " " + goVersion + commit
}

// built is the module's version, and the commit.
func built(info *debug.BuildInfo) (string, string) {
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
	return module, commit + modified
}
