package property

import "testing"

func TestOfWallYear(t *testing.T) {
	for text, want := range map[string]bool{
		"946684800": true, "946684810": true, "946684810000": true, "946684810000000": true, "946684810000000000": true, "2000-01-01T00:00:10Z": true,
		"2208988800": false, "2208988800000": false, "950400000": false, "946684810000000001": false, "123456789": false,
		"1234567890123456789": false,
	} {
		if got := ofWallYear(text); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
