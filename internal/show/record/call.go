package record

import (
	"errors"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/hooks"
	"github.com/isr-sim/isr-sim/internal/invariant"
	"github.com/isr-sim/isr-sim/internal/protocols/rowmap"
	"github.com/isr-sim/isr-sim/scenario/isr"
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

// membersOf returns the members that are set in an input or output of the SDK, in DynamoDB's JSON.
func membersOf(shape any) map[string]any {
	members, _ := wire(reflect.ValueOf(shape)).(map[string]any)
	return members
}

var attributeValue = reflect.TypeFor[types.AttributeValue]()

// wire converts an SDK's value for encoding/json: its members have the names of the API. For a member that is not set,
// it returns nil.
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

// meanings returns the meanings of the changed rows, by the changes' sequence numbers, and notes in the record which
// attributes are times.
func (r *Record) meanings(ev invariant.Evidence) (map[int][]Meaning, error) {
	mapping, err := rowmap.New(ev.Schema)
	if err != nil {
		return nil, err
	}
	r.Times = mapping.Times()
	changes := ev.Changes
	if mapping != nil {
		changes = mapping.Log(changes)
	}
	of := map[int][]Meaning{}
	for _, c := range changes {
		if m, ok := meaningOf(c, ev.Revalidate); ok {
			of[c.Seq] = append(of[c.Seq], m)
		}
	}
	return of, nil
}

// meaningOf reads a change of META, LOCK, VER# or REQ#, or returns false for any other row. The parameter window is the
// freshness window of a page whose row has none.
func meaningOf(c ddbfake.Change, window time.Duration) (Meaning, bool) {
	sk, _ := c.Key.Str("sk")
	kind, _, _ := strings.Cut(sk, "#")
	m := Meaning{Gone: c.After == nil}
	switch kind {
	case isr.SortLock:
		m.Role = "lock"
		m.Token, _ = c.After.Str("lease_token")
		m.Until = instant(c.After, "lease_expires_at")
	case isr.SortMeta, "VER":
		m.Role = "version"
		if kind == isr.SortMeta {
			m.Role = "page"
		}
		m.Until = freshUntil(c.After, window)
	case "REQ":
		m.Role = "request"
	default:
		return Meaning{}, false
	}
	if m.Until != nil && !recordable(*m.Until) {
		m.Until = nil // the row has the number
	}
	return m, true
}

// recordable reports whether JSON can hold a time: it cannot after the year 9999. A time read in another unit than it
// was written in may be later.
func recordable(t time.Time) bool {
	const last = 9999
	return t.Year() >= 0 && t.Year() <= last
}

func freshUntil(row attr.Item, window time.Duration) *time.Time {
	if until := instant(row, "fresh_until"); until != nil {
		return until
	}
	generated := instant(row, "generated_at")
	if generated == nil {
		return nil
	}
	if length := instant(row, "revalidate_seconds"); length != nil {
		window = length.Sub(time.Unix(0, 0))
	}
	if window <= 0 {
		return nil
	}
	until := generated.Add(window)
	return &until
}

// instant returns a time in a row, or nil.
func instant(row attr.Item, name string) *time.Time {
	t, ok := rowmap.Instant(row, name)
	if !ok {
		return nil
	}
	t = t.UTC()
	return &t
}
