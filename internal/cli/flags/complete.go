package flags

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/cli"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/kernel"
)

// Complete tells shells the words that the commands take: scenarios, protocols, strategies and formats.
func Complete(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		Complete(cmd)
		for flag, words := range map[string]func() []cobra.Completion{ //isrsim:unordered each is set by itself
			"protocol": protocolWords, "strategy": strategies, "format": formats,
		} {
			if cmd.Flags().Lookup(flag) != nil {
				// The only error is an unknown flag.
				_ = cmd.RegisterFlagCompletionFunc(flag,
					func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
						return words(), cobra.ShellCompDirectiveNoFileComp
					})
			}
		}
		if cmd.ValidArgsFunction != nil {
			continue
		}
		switch cmd.CommandPath() {
		case "isr-sim run", "isr-sim explore", "isr-sim prove":
			cmd.ValidArgsFunction = scenarioWords(fixtures.Names(), cobra.ShellCompDirectiveDefault)
		case "isr-sim replay", "isr-sim shrink", "isr-sim explain":
			cmd.ValidArgsFunction = scenarioWords(slices.Concat(fixtures.Names(), fixtures.Museum()),
				cobra.ShellCompDirectiveDefault)
		case "isr-sim scenario show":
			cmd.ValidArgsFunction = scenarioWords(slices.Concat(fixtures.Names(), fixtures.Museum()),
				cobra.ShellCompDirectiveNoFileComp)
		case "isr-sim selftest museum":
			cmd.ValidArgsFunction = scenarioWords(fixtures.Museum(), cobra.ShellCompDirectiveNoFileComp)
		}
	}
}

// scenarioWords are the names of scenarios, each with a sentence about it. Most commands take files, too.
func scenarioWords(names []string, files cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, given []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		for _, name := range names {
			if slices.Contains(given, name) {
				continue
			}
			s, err := catalog.Load(name)
			if err != nil {
				continue
			}
			words = append(words, cobra.CompletionWithDesc(name, catalog.Summary(s)))
		}
		return words, files
	}
}

func protocolWords() []cobra.Completion {
	var words []cobra.Completion
	for _, p := range kernel.Protocols() {
		words = append(words, cobra.CompletionWithDesc(p.Name, p.Summary))
	}
	return words
}

// NewCompletion is cobra's command, with help like that of the others.
func NewCompletion(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print a script that has a shell complete commands, scenarios and protocols",
		Long: `Completion prints a script for a shell. With it the shell completes commands, flags,
the names of scenarios, protocols and strategies, and formats.`,
		Example: "  source <(isr-sim completion bash)\n" +
			"  isr-sim completion zsh > \"${fpath[1]}/_isr-sim\"\n" +
			"  isr-sim completion fish > ~/.config/fish/completions/isr-sim.fish",
		Args:      oneShell,
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(out)
			}
		},
	}
}

var shells = []cobra.Completion{"bash", "zsh", "fish", "powershell"}

func oneShell(cmd *cobra.Command, args []string) error {
	if err := cli.Arguments("a shell: bash, zsh, fish or powershell", 1, 1)(cmd, args); err != nil {
		return err
	}
	if !slices.Contains(shells, args[0]) {
		return cli.Usage(fmt.Errorf("completion: found the shell %q, expected bash, zsh, fish or powershell", args[0]),
			"")
	}
	return nil
}
