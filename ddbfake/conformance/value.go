package conformance

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// attrs is an item or a key as the cases write it: plain Go values stand for
// attribute values (see valueOf).
type attrs map[string]any

// How the cases write the values that have no plain Go form.
type (
	num  string   // a Number, as the request spells it
	nums []string // a Number Set
	strs []string // a String Set
	bins []string // a Binary Set
	list []any    // a List
)

// key is a key of the usual table: pk and sk, both strings.
func key(pk, sk string) attrs { return attrs{"pk": pk, "sk": sk} }

// row is a row of the usual table: its key, then names and values in turn.
func row(pk, sk string, more ...any) attrs {
	r := key(pk, sk)
	for i := 0; i < len(more); i += 2 {
		name, _ := more[i].(string)
		r[name] = more[i+1]
	}
	return r
}

// sdk converts an item; nil stays nil.
func (a attrs) sdk() map[string]types.AttributeValue {
	if a == nil {
		return nil
	}
	out := make(map[string]types.AttributeValue, len(a))
	//isrsim:unordered a map becomes a map
	for name, v := range a {
		out[name] = valueOf(v)
	}
	return out
}

// valueOf converts what a case wrote. It panics at what it does not know: a
// mistake in this package, which any run of it shows.
func valueOf(v any) types.AttributeValue {
	switch v := v.(type) {
	case types.AttributeValue:
		return v
	case string:
		return &types.AttributeValueMemberS{Value: v}
	case int:
		return &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
	case num:
		return &types.AttributeValueMemberN{Value: string(v)}
	case []byte:
		return &types.AttributeValueMemberB{Value: v}
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}
	case attrs:
		return &types.AttributeValueMemberM{Value: v.sdk()}
	case list:
		l := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		for _, e := range v {
			l.Value = append(l.Value, valueOf(e))
		}
		return l
	case strs:
		return &types.AttributeValueMemberSS{Value: v}
	case nums:
		return &types.AttributeValueMemberNS{Value: v}
	case bins:
		s := &types.AttributeValueMemberBS{Value: [][]byte{}}
		for _, e := range v {
			s.Value = append(s.Value, []byte(e))
		}
		return s
	}
	panic(fmt.Sprintf("conformance: no attribute value for a %T", v))
}

// nullFalse is a NULL that DynamoDB refuses.
var nullFalse types.AttributeValue = &types.AttributeValueMemberNULL{Value: false}

// text returns a text of that many bytes.
func text(sizeBytes int) string { return strings.Repeat("x", sizeBytes) }
