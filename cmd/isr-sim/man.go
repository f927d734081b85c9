package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write a manual page for each command into a folder",
		Long: "Man writes a manual page for each command into a folder, which it makes if it is not there.\n" +
			"The archives of a release have these pages.",
		Args:   cobra.ExactArgs(1),
		Hidden: true, // packagers read docs/INSTALL.md
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.Mkdir(args[0], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			info, _ := debug.ReadBuildInfo()
			date := committed(info)
			root := cmd.Root()
			root.DisableAutoGenTag = true // the tag has the date of the build
			header := &doc.GenManHeader{Section: "1", Source: "isr-sim", Manual: "isr-sim", Date: &date}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "manual pages: %s\n", args[0])
			return err
		},
	}
}

// committed is the time of the commit that the binary was built from, so that two builds of a commit have the same
// pages. It is the beginning of 1970 if the Go command did not record a commit.
func committed(info *debug.BuildInfo) time.Time {
	if info != nil {
		for _, s := range info.Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return t.UTC()
			}
		}
	}
	return time.Unix(0, 0).UTC()
}
