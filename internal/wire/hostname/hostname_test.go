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

func TestOfNetwork(t *testing.T) {
	for host, want := range map[string]bool{
		"dynamodb:8000": true, "DYNAMODB.": true, "host.docker.internal": true, "db.cache.svc.cluster.local": true, "db.test": true,
		"": false, ".": false, "evil.example:8000": false, "internal.example": false, "notinternal.example": false,
	} {
		if got := Local(host, OfNetwork); got != want {
			t.Errorf("%q: got %t, want %t", host, got, want)
		}
	}
	if Local("dynamodb:8000") {
		t.Error("dynamodb: a name of the network passed without OfNetwork")
	}
}
