package awsjson

import (
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

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

// notScalar returns the error for the next value if a scalar is expected there. The service names the scalar by a short
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

// notArray returns the error for the next value if an array is expected there.
func (d *decoder) notArray(member bool) error {
	if d.kind() == '{' {
		return errStructure
	}
	return unexpected(member)
}

// notObject returns the error for the next value if an object is expected there.
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
// HTTP status: 400 or 500. It returns 0 for an error that is not an answer of the service: a lost connection, or a
// context that is done.
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

// serializationCode is the one code whose message has a capital letter although the SDK has no struct for it.
const serializationCode = "SerializationException"

// namespaceOf returns the namespace of an error code, which stands before it in __type.
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
