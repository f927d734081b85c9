package base_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/internal/base/schedule"
)

func TestChoicesPrintAndParseBack(t *testing.T) {
	for want, choices := range map[string]schedule.Choices{
		"-": nil, "0": {0}, "09az": {0, 9, 10, 35}, "1(36)2(1000)": {1, 36, 2, 1000},
	} {
		if got := choices.String(); got != want {
			t.Errorf("%#v prints %q, want %q", choices, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		choices := schedule.Choices(rapid.SliceOf(rapid.IntRange(0, 2000)).Draw(t, "choices"))
		if len(choices) == 0 {
			choices = nil
		}
		got, err := schedule.ParseChoices(choices.String())
		if diff := cmp.Diff(choices, got); err != nil || diff != "" {
			t.Fatalf("%q parses with error %v, (-want +got):\n%s", choices, err, diff)
		}
	})
}

func TestParseChoicesSaysWhatItFoundAndExpected(t *testing.T) {
	for in, want := range map[string]string{
		"":       "choices: found nothing, expected a word such as 0120 (or - for none)",
		"01 2":   `choices: found ' ' at character 3, expected 0 to 9, a to z, or a number in parentheses`,
		"0A":     `choices: found 'A' at character 2, expected 0 to 9, a to z, or a number in parentheses`,
		"0(40":   "choices: the parenthesis at character 2 is never closed",
		"0(x)":   `choices: found "(x)" at character 2, expected a number of at least 36`,
		"(7)":    `choices: found "(7)" at character 1, expected a number of at least 36`,
		"(-100)": `choices: found "(-100)" at character 1, expected a number of at least 36`,
	} {
		_, err := schedule.ParseChoices(in)
		if err == nil || err.Error() != want {
			t.Errorf("ParseChoices(%q) fails with\n got %v\nwant %s", in, err, want)
		}
	}
}
