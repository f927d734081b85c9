package serve

import "testing"

func TestParseClock(t *testing.T) {
	for text, want := range map[string]string{"wall": "wall", "manual": "manual", "2040-01-01T00:00:00Z": "manual"} {
		if _, mode, err := ParseClock(text); mode != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", text, mode, err, want)
		}
	}
	if _, _, err := ParseClock("noon"); err == nil {
		t.Error("noon is a clock, want an error")
	}
}
