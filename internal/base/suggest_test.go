package base_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/suggest"
)

func TestNearest(t *testing.T) {
	options := []string{"run", "replay", "list", "version"}
	for _, test := range []struct {
		word string
		want string // "" is none
	}{
		{"run", "run"},
		{"rnu", "run"},
		{"ru", "run"},
		{"runn", "run"},
		{"reply", "replay"},
		{"verison", "version"},
		{"lsit", "list"},
		{"ver", "version"},
		{"ve", ""},
		{"", ""},
		{"explore", ""},
	} {
		got, ok := suggest.Nearest(test.word, options)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", test.word, got, ok, test.want)
		}
	}
	if got, ok := suggest.Nearest("ab", []string{"ax", "ay"}); got != "ax" || !ok {
		t.Errorf("of two equally near: got %q, %v, want the first", got, ok)
	}
	if got, ok := suggest.Nearest("blind",
		[]string{"blind-publish-late", "blind-publish", "blind-release"}); got != "blind-publish" || !ok {
		t.Errorf("of several that the word begins: got %q, %v, want the first of the shortest", got, ok)
	}
}

// TestEdits checks how many edits two words are apart: one is allowed, or a third of the first word's letters.
func TestEdits(t *testing.T) {
	for _, test := range []struct {
		word, option string
		near         bool
	}{
		{"", "a", true}, {"", "ab", false}, {"a", "", true}, {"ab", "", false},
		{"xxxkitten", "xxxsitting", true}, {"xxkitten", "xxsitting", false}, // three
		{"lock", "block", true},
		{"xxabcd", "xxbadc", true}, {"abcd", "badc", false}, // two
		{"ab", "ba", true},
	} {
		if _, got := suggest.Nearest(test.word, []string{test.option}); got != test.near {
			t.Errorf("%q is near %q: %v, want %v", test.word, test.option, got, test.near)
		}
	}
	if got, _ := suggest.Nearest("lock", []string{"block", "lock"}); got != "lock" {
		t.Errorf("got %q, want the word itself, which is no edit away", got)
	}
}
