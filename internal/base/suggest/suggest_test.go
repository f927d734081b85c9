package suggest

import "testing"

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
		got, ok := Nearest(test.word, options)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", test.word, got, ok, test.want)
		}
	}
	if got, ok := Nearest("ab", []string{"ax", "ay"}); got != "ax" || !ok {
		t.Errorf("of two equally near: got %q, %v, want the first", got, ok)
	}
	if got, ok := Nearest("blind",
		[]string{"blind-publish-late", "blind-publish", "blind-release"}); got != "blind-publish" || !ok {
		t.Errorf("of several that the word begins: got %q, %v, want the first of the shortest", got, ok)
	}
}

func TestEditDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"lock", "lock", 0},
		{"lock", "block", 1},
		{"abcd", "badc", 2},
		{"ab", "ba", 1},
	} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
