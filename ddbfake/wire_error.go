package ddbfake

import (
	"errors"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// The texts of SerializationException are those that the service was seen to
// answer with by dynalite's tests, which also run against the service.
//
// Source: https://github.com/architect/dynalite/blob/main/test/helpers.js

// errMalformed is for text that is no JSON: the service gives no message.
var errMalformed = serialization("")

func serialization(message string) error {
	return &smithy.GenericAPIError{Code: "SerializationException", Message: message, Fault: smithy.FaultClient}
}

var errStructure = serialization("Start of structure or map found where not expected")

// notScalar is the error for the next value, which should be a scalar that
// the service calls by a short name and by the name of its Java class.
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

// notArray is the error for the next value, which should be an array.
func (d *decoder) notArray(member bool) error {
	if d.kind() == '{' {
		return errStructure
	}
	return unexpected(member)
}

// notObject is the error for the next value, which should be an object.
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

// className is what the service calls a type in error messages.
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

// appendError appends the JSON of an error of the service to dst: what
// DescribeError says of err, and whatever members the SDK's type of err has.
func appendError(dst []byte, err error, e APIError) []byte {
	w := newEncoder(dst)
	w.open('{', frame{})
	w.member("__type", e.Type)
	var typed interface {
		error
		shape
	}
	switch {
	case errors.As(err, &typed):
		typed.SerializeMembers(w)
	case e.Message == "":
	case e.Type == serializationType:
		w.member("Message", e.Message)
	default:
		w.member("message", e.Message)
	}
	w.close('}')
	return w.release()
}

// serializationType is the one type whose message has a capital letter
// although the SDK has no struct for it.
const serializationType = "com.amazon.coral.service#SerializationException"
