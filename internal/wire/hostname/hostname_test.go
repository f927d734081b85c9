package hostname

import "testing"

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:8000": true, "[::1]": true, "192.0.2.7:8000": true, "LOCALHOST.:8000": true, "cache.localhost": true, "dynamo.test:8000": true,
		"": false, "evil.example:8000": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "notlocalhost": false, "not.dynamo.test": false,
	} {
		if got := Local(host, "Dynamo.test"); got != want {
			t.Errorf("%q: got %t, want %t", host, got, want)
		}
	}
}
