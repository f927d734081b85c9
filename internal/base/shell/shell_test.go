package shell

import "testing"

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"paused-writer": "paused-writer", "./a_b/c+d,e:f@g%h.yaml": "./a_b/c+d,e:f@g%h.yaml",
		"": "''", "a b": "'a b'", "$HOME": "'$HOME'", "it's": `'it'\''s'`, "a\nb": "'a\nb'", "é": "'é'",
	} {
		if got := Quote(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
