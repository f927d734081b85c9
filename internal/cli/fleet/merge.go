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
	"github.com/isr-sim/isr-sim/internal/show/results"
	"github.com/isr-sim/isr-sim/internal/show/verdicts"
	"github.com/isr-sim/isr-sim/internal/study/explore"
	"github.com/isr-sim/isr-sim/internal/study/shared"
)

// NewMerge returns isr-sim merge.
func NewMerge() *cobra.Command {
	var file, certificate string
	var r flags.Results
	cmd := &cobra.Command{
		Use:   "merge FILE|FOLDER|TARBALL|BUCKET...",
		Short: "Add up the shards of campaigns that explore has run, and the parts of proofs, and judge the whole",
		Long: `Merge reads the files that isr-sim explore --out has written, from folders, tarballs
(.tar, .tar.gz, .tgz) and buckets (s3://BUCKET/PREFIX) as well, adds up the counts and
findings of the shards of each campaign, and prints the result as explore does for a
whole campaign. Only the whole
is judged for the marks that its scenario declares. The coverage is an estimate, from
samples in the files. The file of --out is the one that explore --out writes for the
campaign in one piece.

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
			return merge(cmd.Context(), &r, file, certificate, args)
		}),
	}
	r.RegisterFormats(cmd)
	cmd.Flags().StringVar(&file, "out", "", "write the result to this file, as JSON; in a folder/ it is merged.json")
	cmd.Flags().StringVar(&certificate, "certificate", "",
		"write the states of the proof whose parts these are to `FILE`")
	return cmd
}

func merge(ctx context.Context, r *flags.Results, file, certificate string, names []string) error {
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
	proofs, err := shards.Proofs(ctx)
	if err != nil {
		return cli.Coded(err)
	}
	if result != nil && len(merged) == 0 {
		return cli.Usage(errors.New("--out: found no shard of a campaign, expected some"),
			"a proof has its --certificate, and --format json=FILE")
	}
	if certificate != "" && len(proofs) != 1 {
		return cli.Usage(fmt.Errorf("--certificate: found the parts of %d proofs, expected those of one", len(proofs)),
			"")
	}
	var sum Sum
	if len(merged) > 0 {
		fmt.Fprintln(r.Out, prose.Header())
	}
	for _, x := range merged {
		sum.Print(r.Out, x)
		if unjudged := verdicts.Unjudged(x.NotSimulated); unjudged != "" {
			fmt.Fprintf(r.Out, "%s\n\n", unjudged)
		}
		r.Add(x.File, x.Results(shell.Program())...)
	}
	for _, p := range proofs {
		why := prose.Report(&p.Report, shell.Program(), shell.Quote(p.File))
		fmt.Fprintf(r.Out, "seed %d\n%s\n", p.Seed, prose.ProofHeader())
		sum.Proof(r.Out, p.Proof, why)
		r.Add(p.File, results.OfProof(p.Proof, shell.Program(), shell.Quote(p.File), why))
		if certificate != "" && p.Explored.Complete && p.Passed() {
			r.Lose(flags.Certify(r.Out, certificate, p.Proof))
		}
	}
	if len(merged) > 0 {
		r.Lose(Save(result, merged))
	}
	return sum.End(r.Out)
}
