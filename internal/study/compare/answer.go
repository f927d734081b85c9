package compare

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
)

// answerText prints the parts of an answer that a client can depend on. Equal answers have equal texts.
func answerText(out any, err error) string {
	if err != nil {
		return errorText(err)
	}
	switch out := out.(type) {
	case *dynamodb.GetItemOutput:
		return "ok " + itemText(out.Item)
	case *dynamodb.QueryOutput:
		items := make([]string, len(out.Items))
		for i, item := range out.Items {
			items[i] = itemText(item)
		}
		return fmt.Sprintf("ok %s, %d of %d, up to %s", strings.Join(items, " "), out.Count, out.ScannedCount,
			itemText(out.LastEvaluatedKey))
	case *dynamodb.PutItemOutput:
		return "ok " + itemText(out.Attributes)
	case *dynamodb.UpdateItemOutput:
		return "ok " + itemText(out.Attributes)
	case *dynamodb.DeleteItemOutput:
		return "ok " + itemText(out.Attributes)
	default:
		return "ok"
	}
}

func errorText(err error) string {
	if c, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		reasons := make([]string, len(c.CancellationReasons))
		for i, r := range c.CancellationReasons {
			reasons[i] = fmt.Sprintf("%s %q %s", aws.ToString(r.Code), aws.ToString(r.Message), itemText(r.Item))
		}
		return fmt.Sprintf("%s %q [%s]", c.ErrorCode(), c.ErrorMessage(), strings.Join(reasons, ", "))
	}
	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return fmt.Sprintf("%s %q %s", c.ErrorCode(), c.ErrorMessage(), itemText(c.Item))
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		return fmt.Sprintf("%s %q", api.ErrorCode(), api.ErrorMessage())
	}
	return err.Error()
}

func itemText(item map[string]types.AttributeValue) string {
	if item == nil {
		return "-"
	}
	own, err := attr.ItemFromSDK(item)
	if err != nil {
		return err.Error()
	}
	return own.String()
}
