package attr

import (
	"testing"
)

func mustParse(t testing.TB, text string) Number {
	t.Helper()
	n, err := ParseNumber(text)
	if err != nil {
		t.Fatalf("ParseNumber(%q): %v", text, err)
	}
	return n
}
