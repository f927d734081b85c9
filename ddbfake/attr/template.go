package attr

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Template is a row made ready to be converted to the SDK's type again and
// again: going through the row's map and printing its numbers, which is half of
// the work, are done once. It is immutable.
type Template struct {
	strings, numbers []namedText
	others           []namedValue
}

type namedText struct{ name, text string }

type namedValue struct {
	name  string
	value Value
}

// Template returns the row's template.
func (it Item) Template() *Template {
	t := &Template{}
	s := slab{expect: len(it)}
	//isrsim:unordered the result is made into a map again
	for name, v := range it {
		switch v := v.(type) {
		case S:
			t.strings = append(t.strings, namedText{name, string(v)})
		case N:
			t.numbers = append(t.numbers, namedText{name, s.text(v.Number)})
		default:
			t.others = append(t.others, namedValue{name, v})
		}
	}
	return t
}

// ToSDK returns what [Item.ToSDK] does of the row: a new map with new values.
func (t *Template) ToSDK() map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(t.strings)+len(t.numbers)+len(t.others))
	s := slab{expect: len(t.strings)}
	for _, a := range t.strings {
		out[a.name] = s.string(a.text)
		s.expect--
	}
	s.expect = len(t.numbers)
	for _, a := range t.numbers {
		out[a.name] = s.number(a.text)
		s.expect--
	}
	for _, a := range t.others {
		out[a.name] = s.value(a.value)
	}
	return out
}
