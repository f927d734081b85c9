package base_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/words"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" a  b\tc\n", []string{"a", "b", "c"}},
		{`key="two words" op=x`, []string{`key="two words"`, "op=x"}},
		{`"a\"b"`, []string{`"a\"b"`}},
	} {
		if got, err := words.Split(c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q and %v, want %q", c.text, got, err, c.want)
		}
	}
	for text, want := range map[string]string{`a="b`: "a closing quote", `a="b"c`: "a space"} {
		if _, err := words.Split(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error that expects %s", text, err, want)
		}
	}
}

func TestQuotedWords(t *testing.T) {
	for _, word := range []string{"", "plain", "two words", `"`, `\`, "é", "\x00"} {
		quoted := words.Quote(word)
		if fields, err := words.Split("x=" + quoted); err != nil || len(fields) != 1 {
			t.Errorf("%q: got %q and %v, want one word", word, fields, err)
		}
		if got, err := words.Unquote(quoted); err != nil || got != word {
			t.Errorf("%q: got %q and %v, want it back", word, got, err)
		}
	}
	if _, err := words.Unquote(`"half`); err == nil {
		t.Error("half a quoted word was read")
	}
}
