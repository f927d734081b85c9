package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/study/explore"
)

func newMerge() *cobra.Command {
	var file string
	var r flags.Results
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Add up the shards of campaigns that explore has run, and judge the whole",
		Long: `Merge reads the files that isr-sim explore --out has written, adds up the counts and
findings of the shards of each campaign, and prints the result as explore does for a
whole campaign. Only the whole is judged for the marks that its scenario declares. The
coverage is an estimate, from samples in the files.

Merge refuses files that do not belong together: those with another scenario, seed,
strategy, number of schedules or number of shards, a shard that is there twice, and a
shard that is missing.`,
		Example: "  isr-sim merge shard-*.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return cli.Usage(errors.New("merge: found no files, expected the files that isr-sim explore --out has written"), cmd.CommandPath()+" --help")
		},
		RunE: r.Around(func(_ *cobra.Command, args []string) error { return merge(&r, file, args) }),
	}
	r.RegisterFormats(cmd)
	cmd.Flags().StringVar(&file, "out", "", "write the result to this file, as JSON")
	return cmd
}

func merge(r *flags.Results, file string, names []string) error {
	var files []explore.ShardFile
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return cli.Usage(fmt.Errorf("merge: %w", err), "")
		}
		explorations, err := explore.ReadExplorations(name, data)
		if err != nil {
			return cli.Usage(fmt.Errorf("merge: %w", err), "")
		}
		files = append(files, explore.ShardFile{Name: name, Explorations: explorations})
	}
	merged, err := explore.MergeExplorations(files)
	if err != nil {
		return cli.Usage(err, "name all files of one campaign, each once")
	}
	result, err := flags.NewFile(file)
	if err != nil {
		return err
	}
	defer result.Discard()
	fmt.Fprintln(r.Out, prose.Header())
	var sum flags.Sum
	for _, x := range merged {
		sum.Print(r.Out, x)
		r.Add(x.File, x.Results(shell.Program())...)
	}
	r.Lose(flags.Save(result, merged))
	return sum.End(r.Out)
}
