package awsjson

import "strings"

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
