package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/isr-sim/isr-sim/internal/terminal"
)

// On a terminal with 80 columns no line is wider, except commands to copy, and no word is lost.
func TestTextFitsATerminal(t *testing.T) {
	for _, args := range [][]string{
		{"--schedules", "10"},
		{"--help"},
		{"list"},
		{"run", "--schedules", "500", "--protocol", "blind-publish", "paused-writer", "two-contenders"},
		{"prove", "prove-two-writers"},
		{"prove", "--protocol", "blind-release", "prove-two-writers"},
		{"explain", "--tails", "5", "--protocol", "blind-publish", "--seed", "17911839290282890590", "--choices", "0000000000", "paused-writer"},
	} {
		var stdout, stderr, narrow bytes.Buffer
		run(t.Context(), args, &stdout, &stderr)
		fit := terminal.Fit(&narrow, 80)
		if _, err := fit.Write(stdout.Bytes()); err != nil {
			t.Fatal(err)
		}
		if err := fit.Close(); err != nil {
			t.Fatal(err)
		}
		wide := 0
		for _, line := range strings.Split(narrow.String(), "\n") {
			if utf8.RuneCountInString(line) > 80 && !strings.HasPrefix(line, "replay: ") && !strings.HasPrefix(line, "shrink: ") {
				wide++
				t.Errorf("%q: a line of %d characters: %s", args, utf8.RuneCountInString(line), line)
			}
		}
		if stdout.Len() == 0 {
			t.Errorf("%q printed nothing: %s", args, &stderr)
		}
		if got, want := strings.Fields(narrow.String()), strings.Fields(stdout.String()); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%q: other words on a narrow terminal:\n%s", args, &narrow)
		}
	}
}
