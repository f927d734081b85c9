package awsjson

import "github.com/isr-sim/isr-sim/internal/wire/sigv4"

// Authorization is the header that names an actor to DynamoDB.
func Authorization(actor, region string) string {
	return sigv4.Authorization(actor, region, "dynamodb")
}

// Signer names the signer of a request. It outlives the request.
type Signer = sigv4.Signer

// SignerOf is sigv4.SignerOf.
func SignerOf(authorization, query, regionSet string) (s Signer, ok bool) {
	return sigv4.SignerOf(authorization, query, regionSet)
}
