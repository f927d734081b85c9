package pagecache

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// Key returns the primary key of the row with the given sort key.
func Key(pk, sk string) map[string]types.AttributeValue {
	key := map[string]types.AttributeValue{attrPK: text(pk)}
	switch sk {
	case isr.SortMeta:
		key[attrSK] = textMeta
	case isr.SortLock:
		key[attrSK] = textLock
	default:
		key[attrSK] = text(sk)
	}
	return key
}

// The values of sort keys, made once: values are only read.
var textMeta, textLock = text(isr.SortMeta), text(isr.SortLock)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// setText and setNumber add what is optional, if it is there.
func setText(item map[string]types.AttributeValue, name, s string) {
	if s != "" {
		item[name] = text(s)
	}
}

func setNumber(item map[string]types.AttributeValue, name string, n int64) {
	if n != 0 {
		item[name] = number(n)
	}
}

// reader takes attributes out of a row and keeps the first error.
type reader struct {
	item map[string]types.AttributeValue
	err  error
}

func (r *reader) text(name string) string {
	s, ok := r.item[name].(*types.AttributeValueMemberS)
	if !ok {
		r.fail(name, "a string (S)")
		return ""
	}
	return s.Value
}

func (r *reader) number(name string) int64 {
	n, ok := r.item[name].(*types.AttributeValueMemberN)
	if !ok {
		r.fail(name, "a number (N)")
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		r.fail(name, "a whole number")
	}
	return v
}

// maybeText and maybeNumber read what may be missing.
func (r *reader) maybeText(name string) string {
	if _, ok := r.item[name]; !ok {
		return ""
	}
	return r.text(name)
}

func (r *reader) maybeNumber(name string) int64 {
	if _, ok := r.item[name]; !ok {
		return 0
	}
	return r.number(name)
}

func (r *reader) fail(name, expected string) {
	if r.err == nil {
		r.err = errors.New("attribute " + name + ": found " + describe(r.item[name]) + ", expected " + expected)
	}
}

func describe(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case *types.AttributeValueMemberS:
		return strconv.Quote(v.Value) + " (S)"
	case *types.AttributeValueMemberN:
		return v.Value + " (N)"
	default:
		return fmt.Sprintf("%T", v)
	}
}
