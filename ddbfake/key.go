package ddbfake

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/packed"
)

// Limits on the values of keys.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxHashKeyBytes = 2048
	maxSortKeyBytes = 1024
)

// primaryKey is a row's primary key, encoded so that byte order is DynamoDB's order. sort is "" in a table without a
// sort key.
type primaryKey struct {
	hash, sort string
}

func (k primaryKey) compare(o primaryKey) int {
	if c := strings.Compare(k.hash, o.hash); c != 0 {
		return c
	}
	return strings.Compare(k.sort, o.sort)
}

func (k primaryKey) less(o primaryKey) bool { return k.compare(o) < 0 }

// keySchema is a table's key: its attributes and their types.
type keySchema struct {
	hash expr.Key
	sort expr.Key // zero if the key is the partition key alone
}

func (s *keySchema) hasSort() bool { return s.sort.Name != "" }

// has reports whether an attribute is part of the key.
func (s *keySchema) has(name string) bool {
	return name == s.hash.Name || s.hasSort() && name == s.sort.Name
}

func (s *keySchema) size() int {
	if s.hasSort() {
		return 2
	}
	return 1
}

// keyMismatch is the error for a Key that does not fit the table.
const keyMismatch = "The provided key element does not match the schema"

// ofItem returns the key within a whole item. It refuses a key attribute that is missing or has the wrong type.
// checkEmpty and checkSize refuse empty and too long values.
func (s *keySchema) ofItem(item packed.Attributes) (primaryKey, error) {
	var k primaryKey
	v, err := s.itemAttribute(item, s.hash)
	if err != nil {
		return k, err
	}
	k.hash = encodeKey(v)
	if s.hasSort() {
		if v, err = s.itemAttribute(item, s.sort); err != nil {
			return k, err
		}
		k.sort = encodeKey(v)
	}
	return k, nil
}

func (s *keySchema) itemAttribute(item packed.Attributes, key expr.Key) (attr.Value, error) {
	v := item.Get(key.Name)
	if v == nil {
		return nil, invalid("One or more parameter values were invalid: Missing the key %s in the item", key.Name)
	}
	if attr.KindOf(v) != key.Kind {
		return nil,
			invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: %s",
				key.Name, key.Kind, attr.KindOf(v))
	}
	return v, nil
}

// ofKey returns the key given as the Key member of a request: the key attributes and nothing else.
func (s *keySchema) ofKey(key map[string]types.AttributeValue) (primaryKey, error) {
	if k, ok := s.within(key); ok && len(key) == s.size() {
		return k, nil
	}
	return primaryKey{}, invalid(keyMismatch)
}

// within returns the key among these values; false if a key attribute is missing, has the wrong type, or has an invalid
// value.
func (s *keySchema) within(values map[string]types.AttributeValue) (k primaryKey, ok bool) {
	if k.hash, ok = encodeKeySDK(values[s.hash.Name], s.hash.Kind); ok && s.hasSort() {
		k.sort, ok = encodeKeySDK(values[s.sort.Name], s.sort.Kind)
	}
	return k, ok
}

func (s *keySchema) names() []string {
	if s.hasSort() {
		return []string{s.hash.Name, s.sort.Name}
	}
	return []string{s.hash.Name}
}

// checkEmpty refuses empty key values. It is a separate function because a transaction reports this mistake for the
// request and not for the action.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
func (s *keySchema) checkEmpty(k primaryKey) error {
	if k.hash != "" && (k.sort != "" || !s.hasSort()) {
		return nil
	}
	for _, part := range [...]struct {
		key   expr.Key
		value string
	}{{s.hash, k.hash}, {s.sort, k.sort}} {
		if part.key.Name == "" || part.value != "" {
			continue
		}
		word := "string"
		if part.key.Kind == "B" {
			word = "binary"
		}
		return invalid("One or more parameter values are not valid. "+
			"The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", word, part.key.Name)
	}
	return nil
}

// Errors for key values that are too long, with the service's texts.
const (
	hashKeyTooLong = "One or more parameter values were invalid: " +
		"Size of hashkey has exceeded the maximum size limit of2048 bytes"
	sortKeyTooLong = "One or more parameter values were invalid: " +
		"Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
)

// checkSize refuses key values that are too long.
func (s *keySchema) checkSize(k primaryKey) error {
	if len(k.hash) > maxHashKeyBytes && s.hash.Kind != "N" {
		return invalid(hashKeyTooLong)
	}
	if len(k.sort) > maxSortKeyBytes && s.sort.Kind != "N" {
		return invalid(sortKeyTooLong)
	}
	return nil
}

// check applies both rules on key values.
func (s *keySchema) check(k primaryKey) error {
	if err := s.checkEmpty(k); err != nil {
		return err
	}
	return s.checkSize(k)
}

// encodeKeySDK encodes a key value of the wanted type. It builds no attr.Value for a string.
func encodeKeySDK(v types.AttributeValue, kind attr.Kind) (string, bool) {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		if s == nil || kind != "S" {
			return "", false
		}
		return s.Value, true
	}
	value, err := attr.FromSDK(v)
	if err != nil || attr.KindOf(value) != kind {
		return "", false
	}
	return encodeKey(value), true
}

// encodeKey encodes a value of a key type so that byte order is DynamoDB's order: strings by UTF-8 bytes, binaries by
// unsigned bytes, numbers by value.
func encodeKey(v attr.Value) string {
	switch v := v.(type) {
	case attr.S:
		return string(v)
	case attr.B:
		return string(v)
	case attr.N:
		return encodeNumber(v.String())
	}
	return ""
}

// encodeNumber encodes the normalised text of a number: a byte for the sign, a byte for the place of the first digit,
// then the digits. For a negative number, the place and the digits are complemented, and a last high byte puts -1.5
// before -1.
func encodeNumber(text string) string {
	digits, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	whole = strings.TrimLeft(whole, "0")
	place := len(whole)
	all := whole + fraction
	if place == 0 {
		trimmed := strings.TrimLeft(fraction, "0")
		place = len(trimmed) - len(fraction)
		all = trimmed
	}
	all = strings.TrimRight(all, "0")
	if all == "" {
		return "\x01"
	}
	const bias = 129 // places run from -129 to 126
	b := make([]byte, 0, len(all)+3)
	if !negative {
		b = append(b, 2, byte(place+bias))
		return string(append(b, all...))
	}
	b = append(b, 0, ^byte(place+bias))
	for i := range len(all) {
		b = append(b, '0'+'9'-all[i])
	}
	return string(append(b, 0xff))
}

// nestedPaths is an expression whose paths may lead into an attribute.
type nestedPaths interface {
	Nested(expr.Args) []string
}

// checkNested refuses paths into a key attribute of the table or of one of its indexes: a key value is never nested.
//
// Source: https://github.com/architect/dynalite/blob/main/test/getItem.js (projections), scan.js (filters)
// Source: https://github.com/scylladb/scylladb/blob/master/test/alternator/test_gsi.py
// (test_gsi_wrong_type_attribute_update_nested, run on AWS)
func (t *table) checkNested(e nestedPaths, args expr.Args) error {
	for _, name := range e.Nested(args) {
		switch {
		case t.schema.has(name):
			return invalid(
				"Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: %s",
				name,
			)
		case t.isIndexed(name):
			return invalid("Key attributes must be scalars; list random access '[]' and map lookup '.' are not "+
				"allowed: IndexKey: %s", name)
		}
	}
	return nil
}

// isIndexed reports whether an attribute is part of the key of an index.
func (t *table) isIndexed(name string) bool {
	for _, x := range t.indexes {
		if x.has(name) {
			return true
		}
	}
	return false
}
