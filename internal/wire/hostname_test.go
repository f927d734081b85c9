package wire_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/wire/hostname"
)

func TestLocal(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:8000": true, "[::1]": true, "192.0.2.7:8000": true, "LOCALHOST.:8000": true, "cache.localhost": true,
		"dynamo.test:8000": true, "": false, "evil.example:8000": false, "localhost.evil.example": false,
		"127.0.0.1.evil.example": false, "notlocalhost": false, "not.dynamo.test": false,
	} {
		if got := hostname.Local(host, "Dynamo.test"); got != want {
			t.Errorf("%q: got %t, want %t", host, got, want)
		}
	}
}

func TestOfNetwork(t *testing.T) {
	for host, want := range map[string]bool{
		"dynamodb:8000": true, "DYNAMODB.": true, "host.docker.internal": true, "db.cache.svc.cluster.local": true,
		"db.test": true, "": false, ".": false, "evil.example:8000": false, "internal.example": false,
		"notinternal.example": false,
	} {
		if got := hostname.Local(host, hostname.OfNetwork); got != want {
			t.Errorf("%q: got %t, want %t", host, got, want)
		}
	}
	if hostname.Local("dynamodb:8000") {
		t.Error("dynamodb: a name of the network passed without OfNetwork")
	}
}

func TestServiceNames(t *testing.T) {
	for host, want := range map[string]bool{
		"dynamodb.us-east-1.amazonaws.com":              true,
		"DynamoDB.us-east-1.amazonaws.com.:443":         true,
		"streams.dynamodb.eu-west-3.amazonaws.com":      true,
		"123456789012.ddb.us-gov-west-1.amazonaws.com":  true,
		"dynamodb.cn-northwest-1.amazonaws.com.cn":      true,
		"dynamodb.amazonaws.com":                        false,
		"x.dynamodb.us-east-1.amazonaws.com":            false,
		"12345678901.ddb.us-east-1.amazonaws.com":       false,
		"dynamodb.us-east-1.elb.amazonaws.com":          false,
		"dynamodb.s3-website-us-east-1.amazonaws.com":   false,
		"dynamodb.us-east-1.amazonaws.com.evil.example": false,
		"evil.example": false,
	} {
		if got := hostname.Local(host, hostname.OfService); got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
		if hostname.Local(host) || hostname.Local(host, "other") {
			t.Errorf("%s is known without OfService", host)
		}
	}
	if n := len(hostname.ServiceNames()); n != 38*4 {
		t.Errorf("%d names", n)
	}
}
