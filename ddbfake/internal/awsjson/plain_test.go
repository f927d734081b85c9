package awsjson

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestPlainPrefix(t *testing.T) {
	for c := range 256 {
		special := c < 0x20 || c >= 0x7f || c == '"' || c == '\\'
		for _, others := range []string{" ", "a", "~", "!", "#", "[", "]"} {
			for length := range 20 {
				for at := range length {
					b := []byte(strings.Repeat(others, length))
					b[at] = byte(c)
					want := length
					if special {
						want = at
					}
					if got := plainPrefix(string(b)); got != want {
						t.Fatalf("%q: got %d, want %d", b, got, want)
					}
				}
			}
		}
	}
	if got := plainPrefix("12345678\x00\xff"); got != 8 { // the first of several
		t.Errorf("got %d, want 8", got)
	}
}

// Strings are quoted as package jsontext quotes them.
func TestQuote(t *testing.T) {
	for _, s := range []string{
		"", "a", `"`, `\`, `a"b`, `"5d41402abc4b2a76b9719d911017c592"`, `\\\"`, "a\"\nb", "é", "\"\xff\"", "\u2028\"", "\x7f", strings.Repeat(`a"`, 50),
	} {
		want, _ := jsontext.AppendQuote([]byte("["), s)
		e := newEncoder([]byte("["))
		e.quote(s)
		if got := string(e.release()); got != string(want) {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}
