package hostname

import "testing"

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
		if got := Local(host, OfService); got != want {
			t.Errorf("%s: got %v, want %v", host, got, want)
		}
		if Local(host) || Local(host, "other") {
			t.Errorf("%s is known without OfService", host)
		}
	}
	if n := len(ServiceNames()); n != 38*4 {
		t.Errorf("%d names", n)
	}
}
