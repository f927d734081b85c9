package pagecache

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/scenario/isr"
)

// IsMeta is the sort key of a META row: package attributevalue writes it as "META", and reads nothing else.
type IsMeta struct{}

// MarshalDynamoDBAttributeValue implements attributevalue.Marshaler.
func (IsMeta) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) { return textMeta, nil }

// UnmarshalDynamoDBAttributeValue implements attributevalue.Unmarshaler.
func (IsMeta) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	return is(v, isr.SortMeta)
}

// IsLock is the sort key of a LOCK row, as IsMeta is that of META.
type IsLock struct{}

// MarshalDynamoDBAttributeValue implements attributevalue.Marshaler.
func (IsLock) MarshalDynamoDBAttributeValue() (types.AttributeValue, error) { return textLock, nil }

// UnmarshalDynamoDBAttributeValue implements attributevalue.Unmarshaler.
func (IsLock) UnmarshalDynamoDBAttributeValue(v types.AttributeValue) error {
	return is(v, isr.SortLock)
}

func is(v types.AttributeValue, expected string) error {
	if sk, ok := v.(*types.AttributeValueMemberS); ok && sk.Value == expected {
		return nil
	}
	return fmt.Errorf("attribute %s: found %s, expected %q", attrSK, describe(v), expected)
}
