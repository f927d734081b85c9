// Package sigv4 reads and writes the part of a signed request that names its signer. The fakes do not check signatures:
// they take the access key id as the name of an actor.
package sigv4

import (
	"net/url"
	"strings"
)

// Authorization returns the header that names an actor to a service, in the form of Signature Version 4 but without a
// signature.
func Authorization(actor, region, service string) string {
	return "AWS4-HMAC-SHA256 Credential=" + url.PathEscape(actor) + "/20400101/" + region + "/" + service +
		"/aws4_request, SignedHeaders=host, Signature=none"
}

// Signer is who signed a request. It outlives the request.
type Signer struct {
	Actor  string // the access key id
	Region string // the region for which it was signed; "" if none is named
}

// SignerOf returns the signer of a request, from its Authorization header or its query; false if it is not signed. The
// scope of a signature is date/region/service/aws4_request; version 4A has a header for the region, X-Amz-Region-Set.
//
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
func SignerOf(authorization, query, regionSet string) (s Signer, ok bool) {
	algorithm := authorization
	_, credential, ok := strings.Cut(algorithm, "Credential=")
	credential, _, _ = strings.Cut(credential, ",")
	if algorithm == "" && query != "" {
		parameters, _ := url.ParseQuery(query) // an error leaves the parameters that could be parsed
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
			s.Region = credential[i+1:]
		}
		credential = credential[:i]
	}
	if asymmetric {
		if s.Region, _, _ = strings.Cut(regionSet, ","); s.Region == "*" {
			s.Region = ""
		}
		s.Region = strings.Clone(s.Region)
	}
	s.Actor = credential
	if strings.IndexByte(credential, '%') >= 0 {
		if name, err := url.PathUnescape(credential); err == nil {
			s.Actor = name
		}
	}
	return s, true
}
