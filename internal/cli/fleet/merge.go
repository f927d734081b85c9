package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/flags"
	"github.com/isr-sim/isr-sim/internal/show/prose"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/internal/study/shared"
)

// NewMerge returns isr-sim merge.
func NewMerge() *cobra.Command {
	var file string
	var r flags.Results
	cmd := &cobra.Command{
		Use:   "merge FILE|FOLDER|TARBALL|BUCKET...",
		Short: "Add up the shards of campaigns that explore has run, and judge the whole",
		Long: `Merge reads the files that isr-sim explore --out has written, from folders, tarballs
(.tar, .tar.gz, .tgz) and buckets (s3://BUCKET/PREFIX) as well, adds up the counts and
findings of the shards of each campaign, and prints the result as explore does for a
whole campaign. The whole, and no shard by itself, must reach the marks that its
scenario declares. The coverage is an estimate, from samples in the files. The file of
--out is what explore --out would have written for the campaign without shards.

Merge refuses shards that do not belong together: damaged files, shards of another
scenario, seed, strategy, number of schedules or shards, or version of isr-sim, those
that are there twice, and those that are missing. It names all of them, and prints
the command that runs what is missing.`,
		Example: "  isr-sim merge shard-*.json\n" +
			"  isr-sim merge --out merged.json results/ node-7.tar.gz",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return nil
			}
			return cli.Usage(
				errors.New("merge: found no files, expected the files that isr-sim explore --out has written"),
				cmd.CommandPath()+" --help",
			)
		},
		RunE: r.Around(func(cmd *cobra.Command, args []string) error {
			return merge(cmd.Context(), &r, file, args)
		}),
	}
	r.RegisterFormats(cmd)
	cmd.Flags().StringVar(&file, "out", "",
		"write the result to this file, as JSON; a name that ends in / is a folder, which gets merged.json")
	return cmd
}

func merge(ctx context.Context, r *flags.Results, file string, names []string) error {
	result, err := NewFile(file, "merged.json")
	if err != nil {
		return err
	}
	defer result.Discard()
	var shards explore.Shards
	if result != nil {
		shards.Out = result.Place()
	}
	var mirrors []*shared.Mirror
	defer func() {
		for _, m := range mirrors {
			_ = m.Close(ctx) // it was only read
		}
	}()
	for _, name := range names {
		from := name
		if shared.Is(name) {
			mirror, _, err := shared.Open(ctx, name, false)
			switch {
			case errors.Is(err, shared.ErrMissing):
				return cli.Usage(fmt.Errorf("merge: %w, expected the files of shards", err), "")
			case err != nil:
				return cli.Unknown(fmt.Errorf("merge: %w", err), "")
			}
			mirrors = append(mirrors, mirror)
			from = mirror.Folder
		}
		shards.Read(from, name)
	}
	merged, err := shards.Merge(shell.Program())
	if err != nil {
		return cli.Coded(err)
	}
	var sum Sum
	fmt.Fprintln(r.Out, prose.Header())
	for _, x := range merged {
		sum.Print(r.Out, x)
		if unjudged := verdicts.Unjudged(x.NotSimulated); unjudged != "" {
			fmt.Fprintf(r.Out, "%s\n\n", unjudged)
		}
		r.Add(x.File, x.Results(shell.Program())...)
	}
	r.Lose(Save(result, merged))
	return sum.End(r.Out)
}
