package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(out io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of isr-sim and of the Go that built it",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(out, "isr-sim %s %s\n", version(), runtime.Version())
			return nil
		},
	}
}

// version is the module's, as the Go command recorded it in the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
