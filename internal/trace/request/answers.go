package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// Text returns the text of an attribute's value that fingerprints use.
type Text func(attribute, text string) string

// AsItIs is the Text that changes nothing.
func AsItIs(_, text string) string { return text }

// AnswerFingerprint returns the fingerprint of an answer to a client; false if answers of this type have none.
func AnswerFingerprint(out any, err error, value Text) (h fingerprint.Hash, known bool) {
	if err != nil {
		return errorFingerprint(err, value), true
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		h, known = sdkItemFingerprint(out.Item, value)
		return withCost(h, out.ConsumedCapacity, nil), known
	case *dynamodb.QueryOutput:
		h = withCost(h, out.ConsumedCapacity, nil).Number(uint64(out.Count)).Number(uint64(out.ScannedCount))
		for _, item := range append(slices.Clip(out.Items), out.LastEvaluatedKey) {
			row, ok := sdkItemFingerprint(item, value)
			if !ok {
				return h, false
			}
			h = h.Number(uint64(row))
		}
		return h, true
	case *dynamodb.PutItemOutput:
		h, known = sdkItemFingerprint(out.Attributes, value)
		return withCost(h, out.ConsumedCapacity, out.ItemCollectionMetrics), known
	case *dynamodb.UpdateItemOutput:
		h, known = sdkItemFingerprint(out.Attributes, value)
		return withCost(h, out.ConsumedCapacity, out.ItemCollectionMetrics), known
	case *dynamodb.DeleteItemOutput:
		h, known = sdkItemFingerprint(out.Attributes, value)
		return withCost(h, out.ConsumedCapacity, out.ItemCollectionMetrics), known
	case *dynamodb.TransactWriteItemsOutput:
		return h, out.ConsumedCapacity == nil && out.ItemCollectionMetrics == nil
	default:
		items, rest := severalItems(out)
		if rest == nil {
			return h, false
		}
		for _, item := range items {
			row, ok := sdkItemFingerprint(item, value)
			if !ok {
				return h, false
			}
			h = h.Number(uint64(row))
		}
		return h.Text(value("", asJSON(rest))), true
	}
}

// severalItems splits the answer to a request about several rows into its items, in order, and the rest of the answer.
// For a batch, the rest has the number of items of each table. The types of keys in the rest follow from the request,
// or from the table. The rest is nil for other answers.
func severalItems(out any) (items []map[string]types.AttributeValue, rest any) {
	switch out := out.(type) {
	case *dynamodb.BatchGetItemOutput:
		same, each := *out, map[string]int{}
		for _, table := range slices.Sorted(maps.Keys(out.Responses)) {
			items, each[table] = append(items, out.Responses[table]...), len(out.Responses[table])
		}
		same.Responses = nil
		return items, []any{each, same}
	case *dynamodb.TransactGetItemsOutput:
		for _, r := range out.Responses {
			items = append(items, r.Item)
		}
		same := *out
		same.Responses = nil
		return items, same
	case *dynamodb.BatchWriteItemOutput: // what is left undone is in the request
		return nil, *out
	case *dynamodb.ScanOutput:
		same := *out
		same.Items = nil
		return out.Items, same
	case *dynamodb.ExecuteStatementOutput:
		same := *out
		same.Items = nil
		return out.Items, same
	case *dynamodb.BatchExecuteStatementOutput:
		same := *out
		same.Responses = slices.Clone(out.Responses)
		for i, r := range same.Responses {
			items, same.Responses[i].Item = append(items, r.Item), nil
			if r.Error != nil {
				e := *r.Error
				items, e.Item = append(items, e.Item), nil
				same.Responses[i].Error = &e
			}
		}
		return items, same
	default:
		return nil, nil
	}
}

// withCost adds the cost of a request to the fingerprint of its answer, if the request asked for it: a write's cost
// depends on the row that it replaces.
func withCost(h fingerprint.Hash, units *types.ConsumedCapacity, sizes *types.ItemCollectionMetrics) fingerprint.Hash {
	if units == nil && sizes == nil {
		return h
	}
	return h.Text(asJSON([]any{units, sizes}))
}

func asJSON(part any) string {
	text, err := json.Marshal(part)
	if err != nil {
		panic(fmt.Errorf("scenario: a part of an answer that is no JSON: %w", err))
	}
	return string(text)
}

func errorFingerprint(err error, value Text) fingerprint.Hash {
	h := fingerprint.Hash(1)
	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		item, _ := sdkItemFingerprint(c.Item, value)
		return h.Text(c.ErrorCode()).Number(uint64(item))
	}
	if c, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		h = h.Text(c.ErrorCode())
		for _, reason := range c.CancellationReasons {
			item, _ := sdkItemFingerprint(reason.Item, value)
			h = h.Text(aws.ToString(reason.Code)).Text(value("", aws.ToString(reason.Message))).Number(uint64(item))
		}
		return h
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return h.Text(api.ErrorCode()).Text(value("", api.ErrorMessage()))
	}
	return h.Text(value("", err.Error()))
}

// ItemFingerprint returns the fingerprint of a row, 0 if there is none.
func ItemFingerprint(item attr.Item, text Text) (sum fingerprint.Hash) {
	//isrsim:unordered a sum has no order
	for name, value := range item {
		sum += kindFingerprint(value).Text(name).Text(text(name, valueText(value)))
	}
	return sum
}

// kindFingerprint returns the number that stands for a value's type in fingerprints.
func kindFingerprint(v attr.Value) fingerprint.Hash {
	switch v.(type) {
	case attr.S:
		return 1
	case attr.N:
		return 2
	case attr.B:
		return 3
	case attr.BOOL:
		return 4
	case attr.NULL:
		return 5
	case attr.M:
		return 6
	case attr.L:
		return 7
	case attr.SS:
		return 8
	case attr.NS:
		return 9
	default: // BS
		return 10
	}
}

func valueText(v attr.Value) string {
	if s, ok := v.(attr.S); ok {
		return string(s)
	}
	return v.String()
}

// sdkItemFingerprint is ItemFingerprint for the SDK's form of an item; false if it is not a valid one.
func sdkItemFingerprint(item map[string]types.AttributeValue, text Text) (sum fingerprint.Hash, ok bool) {
	if item != nil {
		sum = 1
	}
	//isrsim:unordered a sum has no order
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			sum += kindFingerprint(attr.S("")).Text(name).Text(text(name, v.Value))
		case *types.AttributeValueMemberN:
			sum += kindFingerprint(attr.N{}).Text(name).Text(v.Value)
		default:
			own, err := attr.FromSDK(value)
			if err != nil {
				return 0, false
			}
			sum += kindFingerprint(own).Text(name).Text(text(name, valueText(own)))
		}
	}
	return sum, true
}
