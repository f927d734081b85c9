package record

import (
	"errors"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/internal/hooks"
)

// callOf converts a request for records; nil stays nil.
func callOf(c *hooks.Call) *Call {
	if c == nil {
		return nil
	}
	name := strings.TrimSuffix(reflect.Indirect(reflect.ValueOf(c.Input)).Type().Name(), "Input")
	made := &Call{Operation: name, Request: membersOf(c.Input)}
	var api smithy.APIError
	switch {
	case errors.As(c.Err, &api):
		made.Error = api.ErrorCode()
	case c.Err != nil:
		made.Error = c.Err.Error()
	case c.Output != nil:
		made.Answer = membersOf(c.Output)
	}
	return made
}

// membersOf returns the set members of an input or output of the SDK, in DynamoDB's JSON.
func membersOf(shape any) map[string]any {
	members, _ := wire(reflect.ValueOf(shape)).(map[string]any)
	return members
}

var attributeValue = reflect.TypeFor[types.AttributeValue]()

// wire is the form of an SDK's value for encoding/json: its members have the names of the API. If a member is not set,
// wire returns nil.
func wire(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.Type() == attributeValue {
		value, ok := v.Interface().(types.AttributeValue)
		if !ok {
			return nil
		}
		return valueOf(value)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return wire(v.Elem())
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !field.IsExported() || field.Name == "ResultMetadata" {
				continue
			}
			if member := wire(v.Field(i)); member != nil {
				members[field.Name] = member
			}
		}
		return members
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		members := make(map[string]any, v.Len())
		for _, name := range v.MapKeys() {
			members[name.String()] = wire(v.MapIndex(name))
		}
		return members
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = wire(v.Index(i))
		}
		return list
	case reflect.String:
		if v.Len() == 0 { // an enumeration that is not set
			return nil
		}
		return v.String()
	default:
		return v.Interface()
	}
}
