package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/base/shell"
	"github.com/isr-sim/isr-sim/internal/base/suggest"
	"github.com/isr-sim/isr-sim/internal/cli/catalog"
	"github.com/isr-sim/isr-sim/internal/cli/terminal"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/kernel"
	"github.com/isr-sim/isr-sim/internal/kernel/spec"
	"github.com/isr-sim/isr-sim/scenario/isr"
)

// NoCommand refuses a word that is no command. The name of a scenario is the likeliest mistake.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	var commands []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			commands = append(commands, c.Name())
		}
	}
	hint := cmd.CommandPath() + " --help"
	_, statErr := os.Stat(word)
	if option, ok := suggest.Nearest(word, commands); ok {
		hint = fmt.Sprintf("did you mean %q?", cmd.CommandPath()+" "+option)
	} else if slices.Contains(fixtures.Names(), word) || catalog.IsFile(word) || statErr == nil {
		hint = fmt.Sprintf("a scenario is run with: isr-sim run %s", shell.Quote(word))
	}
	return Usage(
		fmt.Errorf("found the command %q, expected one of those that %s --help prints", word, cmd.CommandPath()), hint,
	)
}

// Group makes a command that only holds others: without a subcommand it prints its help.
func Group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = NoCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(below...)
	return cmd
}

// NewHelp is cobra's help command, except that an unknown topic is an error.
func NewHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return NoCommand(root, args)
			}
			cmd.InitDefaultHelpFlag() // Execute does this only for the command that it runs
			return cmd.Help()
		},
	}
}

// FitHelp makes a command, and all below it, print help that fits into a terminal of the given width; 0 means no
// terminal.
func FitHelp(root *cobra.Command, width int) {
	if width <= 0 {
		return
	}
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := root.OutOrStdout()
		var text strings.Builder
		root.SetOut(&text)
		help(cmd, args)
		root.SetOut(out)
		fmt.Fprint(out, terminal.Help(text.String(), width))
	})
}

// Arguments demands from least to most arguments; most is -1 for any number.
func Arguments(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usage(fmt.Errorf("%s: found no argument, expected %s", cmd.Name(), what),
				cmd.CommandPath()+" --help")
		case most >= 0 && len(args) > most:
			return Usage(fmt.Errorf("%s: found %d arguments, expected %s", cmd.Name(), len(args), what),
				cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// NoArguments refuses arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(fmt.Errorf("%s: found the argument %q, expected none", cmd.Name(), args[0]),
		cmd.CommandPath()+" --help")
}

// OneScenario demands exactly one argument.
func OneScenario(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return Usage(fmt.Errorf("%s: found %d scenarios, expected one", cmd.Name(), len(args)),
		"a run that fails prints its whole replay command; "+cmd.CommandPath()+" --help")
}

// Scenarios loads the named scenarios, or all embedded ones, and returns their names, too.
func Scenarios(names []string) ([]*spec.Scenario, []string, error) {
	if len(names) == 0 {
		names = fixtures.Names()
	}
	scenarios, err := catalog.LoadAll(names)
	return scenarios, names, Usage(err, "")
}

// Protocol finds a protocol by name; it returns the zero Protocol for "".
func Protocol(name string) (isr.Protocol, error) {
	if name == "" {
		return isr.Protocol{}, nil
	}
	p, err := kernel.ProtocolNamed(name)
	return p, Usage(err, "")
}

// FlagError words the errors of package pflag.
func FlagError(cmd *cobra.Command, err error) error {
	help := cmd.CommandPath() + " --help"
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if option, ok := suggest.Nearest(e.GetSpecifiedName(), names); ok {
			help = fmt.Sprintf("did you mean --%s?", option)
		}
		dashes := "--"
		if e.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		return Usage(fmt.Errorf("found the flag %s%s, expected one of those that %s --help prints", dashes,
			e.GetSpecifiedName(), cmd.CommandPath()), help)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usage(
			fmt.Errorf("--%s: found %q, expected %s", e.GetFlag().Name, e.GetValue(), expectedValue(e.GetFlag())), help,
		)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return Usage(fmt.Errorf("--%s: found no value, expected %s", e.GetFlag().Name, expectedValue(e.GetFlag())),
			help)
	}
	return Usage(err, help)
}

// GivenFlags refuses flags with an empty value, such as that of an unset variable of the shell: otherwise the flag
// would silently have no effect.
func GivenFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		ownWords := f.Name == "choices" || f.Name == "exec"
		if err == nil && !ownWords && f.Value.Type() == "string" && f.DefValue == "" && f.Value.String() == "" {
			err = Usage(fmt.Errorf("--%s: found nothing, expected a value", f.Name),
				"leave --"+f.Name+" out if it is not meant")
		}
	})
	return err
}

// expectedValue describes the values that a flag takes.
func expectedValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number from 0 to 18446744073709551615"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration, such as 30s"
	case "rate":
		return "a number, a slash and s, m, h or d, such as 200/s or 0.1/h, and at most 10M/s"
	case "count":
		return "a whole number from 1 to 1000M, such as 500, 10k or 1M"
	case "lag":
		return "never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or the mean of an exponential lag, " +
			"such as 10m"
	case "float64":
		return "a number"
	default:
		return "one"
	}
}

// Output is the writer of a command. It keeps the first error, such as a full disk or a closed pipe, so that a partial
// output is not mistaken for a whole one.
type Output struct {
	To  io.Writer
	Err error
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if err != nil && o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Within returns a context that ends after d of real time, with the given cause. 0 means never.
func Within(ctx context.Context, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, d, cause)
}

// patience is how long a run may go on after the user interrupted the command. Runs of code in Go take less.
const patience = time.Second

// LeaveRuns returns a context whose runs are abandoned if they go on for a while after it has ended: see hooks.Leave.
func LeaveRuns(ctx context.Context) context.Context {
	left := make(chan struct{})
	context.AfterFunc(ctx, func() {
		soon, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer stop()
		<-soon.Done()
		close(left)
	})
	return hooks.Leave(ctx, left)
}
