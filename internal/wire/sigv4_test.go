package wire_test

import (
	"testing"

	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

func TestSignerOf(t *testing.T) {
	signer := func(actor, region string) sigv4.Signer { return sigv4.Signer{Actor: actor, Region: region} }
	for _, actor := range []string{"alice", "AKIAIOSFODNN7EXAMPLE", "", "a/b, c%d é=;"} {
		want := signer(actor, "eu-west-1")
		if got, ok := sigv4.SignerOf(sigv4.Authorization(actor, "eu-west-1", "dynamodb"), "", ""); !ok || got != want {
			t.Errorf("%q came back as %q, %t", want, got, ok)
		}
	}
	const spaceless = "AWS4-HMAC-SHA256 " +
		"Credential=AKID/20130524/us-east-1/dynamodb/aws4_request,SignedHeaders=host,Signature=fe5f"
	const asymmetric = "AWS4-ECDSA-P256-SHA256 Credential=AKID/20130524/dynamodb/aws4_request, " +
		"SignedHeaders=host;x-amz-region-set, Signature=fe5f"
	const presigned = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20130524%2Feu-west-1%2Fdynamodb%2Faws4_request&X-Amz-Signature=fe5f"
	for _, c := range []struct {
		name, authorization, query, regionSet string
		want                                  sigv4.Signer
	}{
		{"without spaces", spaceless, "", "", signer("AKID", "us-east-1")},
		{"version 4A", asymmetric, "", "eu-west-1", signer("AKID", "eu-west-1")},
		{"version 4A, two regions", asymmetric, "", "eu-west-1,eu-west-2", signer("AKID", "eu-west-1")},
		{"version 4A, all regions", asymmetric, "", "*", signer("AKID", "")},
		{"presigned", "", presigned, "", signer("AKID", "eu-west-1")},
		{"header before query", spaceless, presigned, "", signer("AKID", "us-east-1")},
	} {
		if got, ok := sigv4.SignerOf(c.authorization, c.query, c.regionSet); !ok || got != c.want {
			t.Errorf("%s: got %q, %t, want %q", c.name, got, ok, c.want)
		}
	}
	for _, header := range []string{"", "AWS4-", "Bearer Credential=a/b/c/d/e", "AWS4-HMAC-SHA256 Credential=alice"} {
		if got, ok := sigv4.SignerOf(header, "", ""); ok {
			t.Errorf("%q names the signer %q", header, got)
		}
	}
	if got, ok := sigv4.SignerOf("", "X-Amz-Credential=a", ""); ok {
		t.Errorf("a query without an algorithm names the signer %q", got)
	}
}
