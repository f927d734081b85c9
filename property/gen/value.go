package gen

import (
	"encoding/base64"
	"fmt"

	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/rules/conformance/differential"
)

// Values draws attribute values of all ten types, nested at most two deep, including those at the limits of the
// service: numbers of 38 digits and of the greatest and smallest magnitude, empty texts, texts of several bytes per
// letter.
func Values() *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value { return valueOf(differential.Value(t)) })
}

// itemOf converts a row from JSON.
func itemOf(from map[string]any) attr.Item {
	item := attr.Item{}
	//isrsim:unordered a map is filled
	for name, v := range from {
		item[name] = valueOf(v)
	}
	return item
}

// valueOf converts a value from JSON: an object with one member, whose name is the type.
func valueOf(from any) attr.Value {
	object, _ := from.(map[string]any)
	//isrsim:unordered there is one member
	for kind, v := range object {
		switch kind {
		case "S":
			return attr.S(v.(string))
		case "N":
			return attr.N{Number: numberOf(v)}
		case "B":
			return attr.B(bytesOf(v))
		case "BOOL":
			return attr.BOOL(v.(bool))
		case "NULL":
			return attr.NULL{}
		case "SS":
			return attr.SS(listOf(v, func(v any) string { return v.(string) }))
		case "NS":
			return attr.NS(listOf(v, numberOf))
		case "BS":
			return attr.BS(listOf(v, bytesOf))
		case "L":
			return attr.L(listOf(v, valueOf))
		case "M":
			return attr.M(itemOf(v.(map[string]any)))
		}
	}
	panic(fmt.Sprintf("gen: %v is no value, which is a mistake of this package", from))
}

func listOf[T any](from any, one func(any) T) []T {
	list := []T{}
	for _, v := range from.([]any) {
		list = append(list, one(v))
	}
	return list
}

func numberOf(from any) attr.Number {
	n, err := attr.ParseNumber(from.(string))
	if err != nil {
		panic(fmt.Sprintf("gen: %v, which is a mistake of this package", err))
	}
	return n
}

func bytesOf(from any) []byte {
	b, err := base64.StdEncoding.DecodeString(from.(string))
	if err != nil {
		panic(fmt.Sprintf("gen: %v, which is a mistake of this package", err))
	}
	return b
}
