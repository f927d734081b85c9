package awsjson

import (
	"math/bits"
	"strings"

	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// The protocol is AWS JSON 1.0: one POST to / a call, the operation in a header, errors by __type.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
// Source: https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
const (
	ContentType = "application/x-amz-json-1.0"

	// The prefixes of an operation's name in X-Amz-Target.
	TargetPrefix        = "DynamoDB_20120810."
	StreamsTargetPrefix = "DynamoDBStreams_20120810."
)

// OperationIn returns the name of the operation in a target; false if the target is not DynamoDB's.
func OperationIn(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, TargetPrefix); !ok {
		name, ok = strings.CutPrefix(target, StreamsTargetPrefix)
	}
	return name, ok
}

// RequestID names a request of a door by its number, in the form of the service's own: 52 digits and capital letters.
func RequestID(n uint64) (id [52]byte) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	copy(id[:], "ISRSIM0000000000000000000000000000000000000000000000")
	for i := len(id) - 1; n > 0; i, n = i-1, n/36 {
		id[i] = digits[n%36]
	}
	return id
}

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

// plain has the bytes that need no escape in a JSON string, and are valid UTF-8 whatever bytes surround them.
var plain = func() (bytes [256]bool) {
	for c := byte(' '); c < 0x7f; c++ {
		bytes[c] = c != '"' && c != '\\'
	}
	return bytes
}()

// plainPrefix returns how many bytes at the beginning of s are plain. It looks at eight bytes at a time;
// TestPlainPrefix tries every byte at every place.
//
// Source: https://graphics.stanford.edu/~seander/bithacks.html#ZeroInWord
func plainPrefix(s string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := s[i : i+8]
		x := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		quotes, escapes := x^'"'*ones, x^'\\'*ones
		// Only the lowest bit that is set can be trusted: a carry may have set the bits above it.
		found := x | (x + ones) | // 0x7f and above
			(x-' '*ones)&^x | (quotes-ones)&^quotes | (escapes-ones)&^escapes
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && plain[s[i]] {
		i++
	}
	return i
}
