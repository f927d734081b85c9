package awsjson

import (
	"errors"
	"math/bits"
	"net/http"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/wire/sigv4"
)

// The protocol is AWS JSON 1.0: one POST to / per call, the operation in a header, errors by __type.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
// Source: https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
const (
	ContentType = "application/x-amz-json-1.0"

	// The prefixes of an operation's name in X-Amz-Target.
	TargetPrefix        = "DynamoDB_20120810."
	StreamsTargetPrefix = "DynamoDBStreams_20120810."
)

// OperationIn returns the name of the operation in a target; false if it is not a target of DynamoDB.
func OperationIn(target string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(target, TargetPrefix); !ok {
		name, ok = strings.CutPrefix(target, StreamsTargetPrefix)
	}
	return name, ok
}

// RequestID returns the id of a door's request by its number, in the form of the service's: 52 digits and capital
// letters.
func RequestID(n uint64) (id [52]byte) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	copy(id[:], "ISRSIM0000000000000000000000000000000000000000000000")
	for i := len(id) - 1; n > 0; i, n = i-1, n/36 {
		id[i] = digits[n%36]
	}
	return id
}

// Authorization returns the header that names an actor to DynamoDB.
func Authorization(actor, region string) string {
	return sigv4.Authorization(actor, region, "dynamodb")
}

// Signer is the name of the signer of a request. It outlives the request.
type Signer = sigv4.Signer

// SignerOf is sigv4.SignerOf.
func SignerOf(authorization, query, regionSet string) (s Signer, ok bool) {
	return sigv4.SignerOf(authorization, query, regionSet)
}

// plain has the bytes that need no escape in a JSON string, and that are valid UTF-8 whatever bytes surround them.
var plain = func() (bytes [256]bool) {
	for c := byte(' '); c < 0x80; c++ {
		bytes[c] = c != '"' && c != '\\'
	}
	return bytes
}()

// plainPrefix returns the number of plain bytes at the beginning of s. It checks eight bytes at a time; TestPlainPrefix
// tries every byte at every place.
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
		// Only the lowest set bit is reliable: a borrow may have set the bits above it.
		found := x | (x - ' '*ones) | (x ^ '"'*ones - ones) | (x ^ '\\'*ones - ones)
		if found &= highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && plain[s[i]] {
		i++
	}
	return i
}

// The texts of SerializationException are the service's. They come from dynalite's tests, which also run against the
// service.
//
// Source: https://github.com/architect/dynalite/blob/main/test/helpers.js

// ErrMalformed is the error for text that is not JSON. The service gives no message.
var ErrMalformed = serialization("")

func serialization(message string) error {
	return &smithy.GenericAPIError{Code: serializationCode, Message: message, Fault: smithy.FaultClient}
}

var errStructure = serialization("Start of structure or map found where not expected")

// notScalar returns the error for the next value where a scalar is expected. The service names the scalar by a short
// name, and by its Java class.
func (d *decoder) notScalar(name, class string) error {
	var token string
	switch d.kind() {
	case '{':
		return errStructure
	case '[':
		return serialization("Unrecognized collection type class " + class)
	case '"':
		token = "STRING_VALUE"
	case 't':
		token = "TRUE_VALUE"
	case 'f':
		token = "FALSE_VALUE"
	case 'n': // an element of a set: elsewhere null is the same as absent
		token = "NULL_VALUE"
	default:
		token = "NUMBER_VALUE"
		if strings.ContainsAny(d.raw(), ".eE") {
			token = "DECIMAL_VALUE"
		}
	}
	return serialization(token + " cannot be converted to " + name)
}

// notArray returns the error for the next value where an array is expected.
func (d *decoder) notArray(member bool) error {
	if d.kind() == '{' {
		return errStructure
	}
	return unexpected(member)
}

// notObject returns the error for the next value where an object is expected.
func (d *decoder) notObject(class string, member bool) error {
	if d.kind() == '[' {
		return serialization("Unrecognized collection type " + class)
	}
	return unexpected(member)
}

func unexpected(member bool) error {
	if member {
		return serialization("Unexpected field type")
	}
	return serialization("Unexpected value type in payload")
}

// className is the service's name of a type in error messages.
func className(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return className(t.Elem())
	case t == reflect.TypeFor[types.AttributeValue]():
		return attributeValueName
	case t == reflect.TypeFor[map[string]types.AttributeValue]():
		return mapName(attributeValueName)
	case t.Kind() == reflect.String:
		return "class java.lang.String"
	case t.Kind() == reflect.Slice:
		return "java.util.List<" + className(t.Elem()) + ">"
	case t.Kind() == reflect.Map:
		return mapName(className(t.Elem()))
	}
	return "class com.amazonaws.dynamodb.v20120810." + t.Name()
}

func mapName(class string) string {
	const prefix = "class "
	if len(class) > len(prefix) && class[:len(prefix)] == prefix {
		class = class[len(prefix):]
	}
	return "java.util.Map<java.lang.String, " + class + ">"
}

// AppendError appends the JSON of an error of the service to dst, with the members of the SDK's type, and returns its
// HTTP status: 400 or 500. It returns 0 for an error that is not an answer of the service: a lost connection, or a done
// context.
func AppendError(dst []byte, err error) (answer []byte, status int) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return dst, 0
	}
	status = http.StatusBadRequest
	if api.ErrorFault() == smithy.FaultServer {
		status = http.StatusInternalServerError
	}
	w := newEncoder(dst)
	w.open('{', frame{})
	w.member("__type", namespaceOf(api.ErrorCode())+api.ErrorCode())
	var typed interface {
		error
		Shape
	}
	switch {
	case errors.As(err, &typed):
		typed.SerializeMembers(w)
	case api.ErrorMessage() == "":
	case api.ErrorCode() == serializationCode:
		w.member("Message", api.ErrorMessage())
	default:
		w.member("message", api.ErrorMessage())
	}
	w.close('}')
	return w.release(), status
}

// serializationCode is the only code whose message has a capital letter although the SDK has no struct for it.
const serializationCode = "SerializationException"

// namespaceOf returns the namespace of an error code, which precedes it in __type.
func namespaceOf(code string) string {
	switch code {
	case "ValidationException":
		return "com.amazon.coral.validate#"
	case serializationCode, "UnknownOperationException", "AccessDeniedException", "MissingAuthenticationTokenException",
		"IncompleteSignatureException", "UnrecognizedClientException", "InvalidSignatureException":
		return "com.amazon.coral.service#"
	case "ThrottlingException":
		return "com.amazon.coral.availability#"
	}
	return "com.amazonaws.dynamodb.v20120810#"
}
