package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/explore"
	"github.com/isr-sim/isr-sim/internal/prose"
)

func newMerge(out io.Writer) *cobra.Command {
	var file string
	var forms formats
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
			return usage(errors.New("merge: found no files, expected the files that isr-sim explore --out has written"), cmd.CommandPath()+" --help")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return forms.around(cmd, &out, func() error { return merge(out, file, args, &forms) })
		},
	}
	forms.flags(cmd)
	cmd.Flags().StringVar(&file, "out", "", "write the result to this file, as JSON")
	return cmd
}

func merge(out io.Writer, file string, names []string, forms *formats) error {
	var files []explore.ShardFile
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return usage(fmt.Errorf("merge: %w", err), "")
		}
		explorations, err := explore.ReadExplorations(name, data)
		if err != nil {
			return usage(fmt.Errorf("merge: %w", err), "")
		}
		files = append(files, explore.ShardFile{Name: name, Explorations: explorations})
	}
	merged, err := explore.MergeExplorations(files)
	if err != nil {
		return usage(err, "name all files of one campaign, each once")
	}
	result, err := newFile(file)
	if err != nil {
		return usage(fmt.Errorf("--out: %w", err), "")
	}
	defer result.Discard()
	fmt.Fprintln(out, prose.Header())
	var results results
	for _, x := range merged {
		results.print(out, x)
		forms.add(ofExploration(x, x.File)...)
	}
	if err := save(result, merged); err != nil {
		return unknown(fmt.Errorf("--out: %w", err), "")
	}
	return results.end(out)
}
