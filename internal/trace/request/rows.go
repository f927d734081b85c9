package request

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// EachRow calls visit for each row that a call to DynamoDB names, with the row's key or with the item that is put. It
// returns false if the call may concern other rows, too.
func EachRow(input any, visit func(table *string, key map[string]types.AttributeValue, write bool)) (all bool) {
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		visit(in.TableName, in.Key, false)
	case *dynamodb.PutItemInput:
		visit(in.TableName, in.Item, true)
	case *dynamodb.UpdateItemInput:
		visit(in.TableName, in.Key, true)
	case *dynamodb.DeleteItemInput:
		visit(in.TableName, in.Key, true)
	case *dynamodb.TransactWriteItemsInput:
		for _, action := range in.TransactItems {
			switch {
			case action.Put != nil:
				visit(action.Put.TableName, action.Put.Item, true)
			case action.Update != nil:
				visit(action.Update.TableName, action.Update.Key, true)
			case action.Delete != nil:
				visit(action.Delete.TableName, action.Delete.Key, true)
			case action.ConditionCheck != nil:
				visit(action.ConditionCheck.TableName, action.ConditionCheck.Key, false)
			}
		}
	case *dynamodb.TransactGetItemsInput:
		for _, action := range in.TransactItems {
			if action.Get != nil {
				visit(action.Get.TableName, action.Get.Key, false)
			}
		}
		return false
	case *dynamodb.BatchGetItemInput:
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, key := range in.RequestItems[table].Keys {
				visit(&table, key, false)
			}
		}
		return false
	case *dynamodb.BatchWriteItemInput:
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, write := range in.RequestItems[table] {
				switch {
				case write.PutRequest != nil:
					visit(&table, write.PutRequest.Item, true)
				case write.DeleteRequest != nil:
					visit(&table, write.DeleteRequest.Key, true)
				}
			}
		}
		return false
	default:
		return false
	}
	return true
}

// HasOwnKeys reports whether a table has other keys than the rows META and LOCK.
func HasOwnKeys(table *dynamodb.CreateTableInput) bool {
	return table != nil && (len(table.KeySchema) < 2 ||
		slices.ContainsFunc(table.KeySchema, func(k types.KeySchemaElement) bool {
			name := aws.ToString(k.AttributeName)
			return name != "pk" && name != "sk"
		}))
}

// TableName returns the name of the table that a request gives by name or ARN.
func TableName(nameOrARN string) string {
	if _, name, is := strings.Cut(nameOrARN, ":table/"); is {
		return name
	}
	return nameOrARN
}

// Done returns the part of a batch that was done, for a store in which no fault would leave the rest undone. A batch of
// reads changes nothing and is returned unchanged. The result is nil if no statement was done.
func Done(in, out any) any {
	if batch, ok := in.(*dynamodb.BatchExecuteStatementInput); ok {
		return doneStatements(batch, out)
	}
	write, ok := in.(*dynamodb.BatchWriteItemInput)
	answer, answered := out.(*dynamodb.BatchWriteItemOutput)
	if !ok || !answered {
		return in
	}
	part := *write
	part.RequestItems = map[string][]types.WriteRequest{}
	for _, table := range slices.Sorted(maps.Keys(write.RequestItems)) {
		left := answer.UnprocessedItems[table]
		done := slices.DeleteFunc(slices.Clone(write.RequestItems[table]),
			func(q types.WriteRequest) bool { return slices.Contains(left, q) })
		if len(done) > 0 {
			part.RequestItems[table] = done
		}
	}
	return &part
}

func doneStatements(in *dynamodb.BatchExecuteStatementInput, out any) any {
	answer, ok := out.(*dynamodb.BatchExecuteStatementOutput)
	if !ok {
		return in
	}
	part := *in
	part.Statements = nil
	for i, s := range in.Statements {
		if !LeftUndone(answer.Responses[i]) {
			part.Statements = append(part.Statements, s)
		}
	}
	if part.Statements == nil {
		return nil
	}
	return &part
}

// SeesPasts reports whether the answer to a request, or its effect, depends on more than the present rows: a stream has
// all writes in their order, and a table may be restored to any earlier time.
func SeesPasts(input any) bool {
	switch input.(type) {
	case *dynamodbstreams.DescribeStreamInput, *dynamodbstreams.GetRecordsInput, *dynamodbstreams.GetShardIteratorInput,
		*dynamodb.RestoreTableToPointInTimeInput:
		return true
	}
	return false
}

// ChangesTables reports whether a request may change anything other than rows.
func ChangesTables(input any) bool {
	switch input.(type) {
	case *dynamodb.CreateTableInput, *dynamodb.DeleteTableInput, *dynamodb.UpdateTableInput,
		*dynamodb.UpdateTimeToLiveInput, *dynamodb.TagResourceInput, *dynamodb.UntagResourceInput,
		*dynamodb.CreateBackupInput, *dynamodb.DeleteBackupInput,
		*dynamodb.UpdateContinuousBackupsInput, *dynamodb.RestoreTableFromBackupInput,
		*dynamodb.RestoreTableToPointInTimeInput:
		return true
	}
	return false
}

// TableOf returns the table of a request that names one table for all its rows, and "" otherwise.
func TableOf(input any) string {
	f := reflect.Indirect(reflect.ValueOf(input)).FieldByName("TableName")
	if !f.IsValid() {
		return ""
	}
	name, _ := f.Interface().(*string)
	return aws.ToString(name)
}
