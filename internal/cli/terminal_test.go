package cli_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isr-sim/isr-sim/internal/cli/terminal"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

func fitted(t *testing.T, text string, width int) string {
	t.Helper()
	var b strings.Builder
	f := terminal.Fit(&b, width)
	for text != "" { // in pieces
		n := min(7, len(text))
		must.Done(t)(f.Write([]byte(text[:n])))
		text = text[n:]
	}
	must.OK(t, f.Close())
	return b.String()
}

func TestFit(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a short line", "one two\nthree", "one two\nthree"},
		{"words", "one two three four five six seven eight nine\n",
			"one two three four five six\n  seven eight nine\n"},
		{"columns", "name        12  violated: it  one two three\n",
			"name        12  violated: it\n            one two three\n"},
		{"a column that does not fit", "name        1234  violated: it  one\n",
			"name        1234\n            violated: it\n            one\n"},
		{"a column that fits", "name        12  ok  one two three four\n",
			"name        12  ok\n            one two three\n            four\n"},
		{"an indented table", "  name      a sentence of many words about it\n",
			"  name      a sentence of\n            many words about\n            it\n"},
		{"a long word", "abcdefghijklmnopqrstuvwxyzabcdefghijkl\n", "abcdefghijklmnopqrstuvwxyzabcdefghijkl\n"},
		{"a command", "replay: isr-sim replay --seed 1 and more words\n",
			"replay: isr-sim replay --seed 1 and more words\n"},
		{"other letters", "äöü äöü äöü äöü äöü äöü äöü äöü\n", "äöü äöü äöü äöü äöü äöü äöü\n  äöü\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fitted(t, test.text, 28)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A file is no terminal.
func TestOutputIsWholeElsewhere(t *testing.T) {
	var b strings.Builder
	out := terminal.Output(&b)
	line := strings.Repeat("word ", 100) + "\n"
	if _, err := out.Write([]byte(line)); err != nil || b.String() != line {
		t.Errorf("got %q and %v", b.String(), err)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nä — ü 日\n":                             "a\tb\nä — ü 日\n",
		"\x1b]0;title\x07\x1b[2Jx\rno":                `\x1b]0;title\x07\x1b[2Jx\x0dno`,
		"\x1b[1;31mError:\x1b[0m no \u009b31m\x7f":    `Error: no \x9b31m\x7f`,
		"a part of a letter: \xe6\x97, and no letter": "a part of a letter: \xe6\x97, and no letter",
	} {
		var b strings.Builder
		if n, err := terminal.Plain(&b).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q: got %q (%d, %v), want %q", text, b.String(), n, err, want)
		}
	}
}
