package base_test

import (
	"os"
	"testing"

	"github.com/isr-sim/isr-sim/internal/base/shell"
)

// TestProgram checks that printed commands call isr-sim in a way that works for the reader.
func TestProgram(t *testing.T) {
	called := os.Args[0]
	defer func() { os.Args[0] = called }()
	for path, want := range map[string]string{
		"isr-sim": "isr-sim", "/usr/bin/isr-sim": "isr-sim",
		"/shop/node_modules/@isr-sim/linux-x64/isr-sim": "npx isr-sim",
		"/tmp/go-build12/b001/exe/isr-sim":              "go run github.com/isr-sim/isr-sim/cmd/isr-sim",
	} {
		if os.Args[0] = path; shell.Program() != want {
			t.Errorf("%s: got %s, want %s", path, shell.Program(), want)
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"paused-writer": "paused-writer", "./a_b/c+d,e:f@g%h.yaml": "./a_b/c+d,e:f@g%h.yaml",
		"": "''", "a b": "'a b'", "$HOME": "'$HOME'", "it's": `'it'\''s'`, "a\nb": "'a\nb'", "é": "'é'",
	} {
		if got := shell.Quote(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
