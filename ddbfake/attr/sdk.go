package attr

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/internal/slab"
)

// MaxDepth is the maximum number of levels of an attribute's value: a scalar or set has one, and a list or map has one
// more than its deepest element.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-attributes
const MaxDepth = 32

var (
	errNoType = &refusal{"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"}
	errDepth  = alike("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels " +
		"beyond supported limit")
	errNull    = alike(invalidValues + "Null attribute value types must have the value of true")
	errNoName  = &refusal{"Empty attribute name"} // the rule is AWS's, and the text is from DynamoDB Local 3.3.1
	errLong    = &refusal{"Attribute name is too large, must be less than 65536 bytes"}
	errEmptySS = alike(invalidValues + "An string set  may not be empty")
	errEmptyNS = alike(invalidValues + "An number set  may not be empty")
	errEmptyBS = alike(invalidValues + "Binary sets should not be empty")
)

// maxNameBytes is the maximum length of an attribute name.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html and
// https://github.com/scylladb/scylladb/issues/9169
const maxNameBytes = 1<<16 - 1

const invalidValues = "One or more parameter values were invalid: "

// FromSDK converts a value of the SDK and copies all memory that the caller could still write to. It refuses, with an
// error, the values that DynamoDB refuses: no type, null false, bad numbers, empty sets, duplicates in sets, empty
// names, documents too deep. Sets are sorted: the service keeps no order, so any order will do.
//
// Null false is refused, as the API documents; in June 2026 some regions took it for null true, but none does so any
// more.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/putItem.test.ts
func FromSDK(v types.AttributeValue) (Value, error) { return fromSDK(v, 1) }

// ItemFromSDK converts a row, with the errors of [FromSDK]. If several attributes are wrong it reports the first by
// name. Nil gives nil.
func ItemFromSDK(m map[string]types.AttributeValue) (Item, error) {
	if m == nil {
		return nil, nil
	}
	out, err := mapFromSDK(m, 1)
	return Item(out), err
}

func fromSDK(v types.AttributeValue, depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if v != nil {
			return S(v.Value), nil
		}
	case *types.AttributeValueMemberN:
		if v != nil {
			n, err := ParseNumber(v.Value)
			if err != nil {
				return nil, err
			}
			return N{n}, nil
		}
	case *types.AttributeValueMemberB:
		if v != nil {
			return append(B{}, v.Value...), nil
		}
	case *types.AttributeValueMemberBOOL:
		if v != nil {
			return BOOL(v.Value), nil
		}
	case *types.AttributeValueMemberNULL:
		if v != nil {
			if !v.Value {
				return nil, errNull
			}
			return NULL{}, nil
		}
	case *types.AttributeValueMemberM:
		if v != nil {
			m, err := mapFromSDK(v.Value, depth+1)
			if err != nil {
				return nil, err
			}
			return M(m), nil
		}
	case *types.AttributeValueMemberL:
		if v != nil {
			l := make(L, len(v.Value))
			for i, e := range v.Value {
				w, err := fromSDK(e, depth+1)
				if err != nil {
					return nil, err
				}
				l[i] = w
			}
			return l, nil
		}
	case *types.AttributeValueMemberSS:
		if v != nil {
			return stringSet(v.Value)
		}
	case *types.AttributeValueMemberNS:
		if v != nil {
			return numberSet(v.Value)
		}
	case *types.AttributeValueMemberBS:
		if v != nil {
			return binarySet(v.Value)
		}
	}
	return nil, errNoType
}

func mapFromSDK(m map[string]types.AttributeValue, depth int) (map[string]Value, error) {
	out := make(map[string]Value, len(m))
	var failed string
	var failure error
	//isrsim:unordered the failure reported is that of the first name
	for name, e := range m {
		v, err := fromSDK(e, depth)
		switch {
		case name == "":
			err = errNoName
		case len(name) > maxNameBytes:
			err = errLong
		}
		if err != nil && (failure == nil || name < failed) {
			failed, failure = name, err
		}
		out[name] = v
	}
	if failure != nil {
		return nil, failure
	}
	return out, nil
}

func stringSet(in []string) (Value, error) {
	if len(in) == 0 {
		return nil, errEmptySS
	}
	set := SS(slices.Sorted(slices.Values(in)))
	if hasDuplicates(set, cmp.Compare) {
		listed := upToRepeat(in, cmp.Compare)
		return nil, duplicates(`["`+strings.Join(listed, `", "`)+`"]`, "["+strings.Join(in, ", ")+"]")
	}
	return set, nil
}

func numberSet(in []string) (Value, error) {
	if len(in) == 0 {
		return nil, errEmptyNS
	}
	set := make(NS, len(in))
	for i, text := range in {
		n, err := ParseNumber(text)
		if err != nil {
			return nil, err
		}
		set[i] = n
	}
	slices.SortFunc(set, Number.Cmp)
	if hasDuplicates(set, Number.Cmp) {
		return nil, &layered{invalidValues + "Input collection contains duplicates.",
			"Input collection contains duplicates"}
	}
	return set, nil
}

func binarySet(in [][]byte) (Value, error) {
	if len(in) == 0 {
		return nil, errEmptyBS
	}
	set := make(BS, len(in))
	for i, b := range in {
		set[i] = append([]byte{}, b...)
	}
	slices.SortFunc(set, bytes.Compare)
	if hasDuplicates(set, bytes.Compare) {
		join := func(set [][]byte, between string) string {
			texts := make([]string, len(set))
			for i, b := range set {
				texts[i] = base64.StdEncoding.EncodeToString(b)
			}
			return strings.Join(texts, between)
		}
		const of = "of type BS"
		return nil, duplicates(`["`+join(upToRepeat(in, bytes.Compare), `","`)+`"]`+of, "["+join(in, ", ")+"]"+of)
	}
	return set, nil
}

// layered is a refusal with two texts, one for each layer of validation in the service. The newer layer does not say
// which value of an expression it refuses. Some operations still use the older layer.
//
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/valueLayers.test.ts
// Source: https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json (nesting)
type layered struct{ message, older string }

// alike returns a refusal with the same text in both layers.
func alike(message string) *layered { return &layered{message, message} }

// Error returns the text of the newer layer.
func (e *layered) Error() string { return e.message }

// Older returns the text of the older layer.
func (e *layered) Older() string { return e.older }

// duplicates is the error for a set in which an element comes twice; elements is the set as the text shows it. Binaries
// have their own form, and the text about numbers shows no elements at all.
func duplicates(elements, older string) error {
	return &layered{
		invalidValues + "Input collection " + elements + " contains duplicates.",
		invalidValues + "Input collection " + older + " contains duplicates.",
	}
}

// upToRepeat returns elements in the order in which the service lists them: sorted up to the first repeat, and then as
// sent.
func upToRepeat[E any](sent []E, order func(E, E) int) []E {
	var listed []E
	for i, e := range sent {
		at, again := slices.BinarySearchFunc(listed, e, order)
		if again {
			return append(listed, sent[i:]...)
		}
		listed = slices.Insert(listed, at, e)
	}
	return listed
}

func hasDuplicates[E any](sorted []E, order func(E, E) int) bool {
	for i := 1; i < len(sorted); i++ {
		if order(sorted[i-1], sorted[i]) == 0 {
			return true
		}
	}
	return false
}

// ToSDK converts a value to the SDK's type. The result shares no memory that its owner could write to. Nil gives nil.
func ToSDK(v Value) types.AttributeValue {
	var s slab.Slab
	return toSDK(&s, v)
}

// ToSDK converts the row to the SDK's type; nil gives nil.
func (it Item) ToSDK() map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	s := slab.Slab{Strings: len(it), Numbers: len(it)}
	return mapToSDK(&s, it)
}

func mapToSDK(s *slab.Slab, m map[string]Value) map[string]types.AttributeValue {
	out := make(map[string]types.AttributeValue, len(m))
	//isrsim:unordered the result is a map again
	for name, v := range m {
		out[name] = toSDK(s, v)
	}
	return out
}

func toSDK(s *slab.Slab, v Value) types.AttributeValue {
	switch v := v.(type) {
	case S:
		return s.String(string(v))
	case N:
		var digits [maxDigits + 2]byte
		return s.Number(s.Text(v.Append(digits[:0])))
	case B:
		return &types.AttributeValueMemberB{Value: append([]byte{}, v...)}
	case BOOL:
		return &types.AttributeValueMemberBOOL{Value: bool(v)}
	case NULL:
		return &types.AttributeValueMemberNULL{Value: true}
	case M:
		s.Strings, s.Numbers = s.Strings+len(v), s.Numbers+len(v)
		return &types.AttributeValueMemberM{Value: mapToSDK(s, v)}
	case L:
		s.Strings, s.Numbers = s.Strings+len(v), s.Numbers+len(v)
		l := make([]types.AttributeValue, len(v))
		for i, e := range v {
			l[i] = toSDK(s, e)
		}
		return &types.AttributeValueMemberL{Value: l}
	case SS:
		return &types.AttributeValueMemberSS{Value: slices.Clone(v)}
	case NS:
		texts := make([]string, len(v))
		for i, n := range v {
			texts[i] = n.String()
		}
		return &types.AttributeValueMemberNS{Value: texts}
	case BS:
		set := make([][]byte, len(v))
		for i, b := range v {
			set[i] = append([]byte{}, b...)
		}
		return &types.AttributeValueMemberBS{Value: set}
	}
	return nil
}
