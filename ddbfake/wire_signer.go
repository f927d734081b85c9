package ddbfake

import (
	"net/url"
	"strings"
)

// authorization is the header that names an actor, in the form of Signature
// Version 4 but without a signature: this side checks none.
func authorization(actor, region string) string {
	return "AWS4-HMAC-SHA256 Credential=" + url.PathEscape(actor) + "/20400101/" + region +
		"/dynamodb/aws4_request, SignedHeaders=host, Signature=none"
}

// signer is who signed a request: the access key id, and the region for which
// it was signed, "" if none is named. It outlives the request.
type signer struct {
	actor, region string
}

// signerOf returns who signed a request, in its Authorization header or in its
// query. The scope of a signature is date/region/service/aws4_request; version
// 4A has a header for the region.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
func signerOf(r *HTTPRequest) (s signer, ok bool) {
	algorithm := r.Authorization
	_, credential, ok := strings.Cut(algorithm, "Credential=")
	credential, _, _ = strings.Cut(credential, ",")
	if algorithm == "" && r.Query != "" {
		parameters, _ := url.ParseQuery(r.Query) // what can be read of it
		algorithm = parameters.Get("X-Amz-Algorithm")
		credential, ok = parameters.Get("X-Amz-Credential"), true
	}
	if !ok || !strings.HasPrefix(algorithm, "AWS4-") {
		return s, false
	}
	credential = strings.Clone(credential)
	asymmetric := strings.HasPrefix(algorithm, "AWS4-ECDSA-")
	for part := range 4 {
		if part == 2 && asymmetric {
			continue // there is no region
		}
		i := strings.LastIndexByte(credential, '/')
		if i < 0 {
			return s, false
		}
		if part == 2 {
			s.region = credential[i+1:]
		}
		credential = credential[:i]
	}
	if asymmetric {
		if s.region, _, _ = strings.Cut(r.RegionSet, ","); s.region == "*" {
			s.region = ""
		}
		s.region = strings.Clone(s.region)
	}
	s.actor = credential
	if strings.IndexByte(credential, '%') >= 0 {
		if name, err := url.PathUnescape(credential); err == nil {
			s.actor = name
		}
	}
	return s, true
}
