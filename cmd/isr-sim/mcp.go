package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/mcp"
)

func newMCP() *cobra.Command {
	var allow []string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve these commands as tools to a coding agent, on the standard input and output (MCP)",
		Long: `Mcp is a server of the Model Context Protocol for the agent that has started it. Its
tools are commands, with typed results: check, run, replay, explain, shrink, prove,
list, scenario_check; suggest_rows, which makes a mapping from sample rows; and read
for the rest of an answer, which has at most 20 KB.

Tools read and write files only in the folder in which the server was started. They
run no program but those of --allow, letter by letter, and no test in Go.
docs/CI.md says how to add it to an agent.`,
		Example: "  isr-sim mcp\n  isr-sim mcp --allow 'node cache.mjs'",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := mcp.Server{Root: cmd.Root(), Version: cmd.Root().Version, Run: run, Allow: allow}
			return s.Serve(cmd.Context(), os.Stdin, os.Stdout)
		},
	}
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "a `command` that tools may run as --exec; repeatable")
	return cmd
}
