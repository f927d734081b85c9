package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/isr-sim/isr-sim/fixtures"
	"github.com/isr-sim/isr-sim/internal/catalog"
	"github.com/isr-sim/isr-sim/internal/shell"
	"github.com/isr-sim/isr-sim/internal/suggest"
)

// NoCommand refuses a word in the place of a command. The name of a scenario is the likeliest mistake.
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
	return Usage(fmt.Errorf("found the command %q, expected one of those that %s --help prints", word, cmd.CommandPath()), hint)
}

// NoArguments refuses arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usage(fmt.Errorf("%s: found the argument %q, expected none", cmd.Name(), args[0]), cmd.CommandPath()+" --help")
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
		return Usage(fmt.Errorf("found the flag %s%s, expected one of those that %s --help prints", dashes, e.GetSpecifiedName(), cmd.CommandPath()), help)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usage(fmt.Errorf("--%s: found %q, expected %s", e.GetFlag().Name, e.GetValue(), expectedValue(e.GetFlag())), help)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return Usage(fmt.Errorf("--%s: found no value, expected %s", e.GetFlag().Name, expectedValue(e.GetFlag())), help)
	}
	return Usage(err, help)
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
		return "a number, a slash and s, m, h or d, such as 200/s or 0.1/h"
	case "count":
		return "a whole number from 1 to 1000M, such as 500, 10k or 1M"
	case "lag":
		return "never, at-once, fixed 10m, uniform 1m 48h, exponential 10m, or the mean of an exponential lag, such as 10m"
	case "float64":
		return "a number"
	default:
		return "one"
	}
}
