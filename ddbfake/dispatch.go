package ddbfake

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/isr-sim/isr-sim/ddbfake/internal/awsjson"
)

// operation is one row of the dispatch table.
type operation struct {
	name     string
	target   string       // its name on the wire
	input    reflect.Type // the pointer type, as in Call.Input
	newInput func() any
	isNil    func(in any) bool
	serve    func(db *DB, r *request, in any) (any, error)
}

// ofStreams reports whether the operation belongs to the API of streams.
func (op *operation) ofStreams() bool {
	return strings.HasPrefix(op.target, awsjson.StreamsTargetPrefix)
}

// handle makes an entry of the dispatch table out of a typed method of DB.
func handle[I, O any](name string, serve func(*DB, *request, *I) (*O, error)) *operation {
	input := reflect.TypeFor[*I]()
	target := awsjson.TargetPrefix + name
	if input.Elem().PkgPath() == reflect.TypeFor[dynamodbstreams.Options]().PkgPath() {
		target = awsjson.StreamsTargetPrefix + name
	}
	return &operation{
		name:     name,
		target:   target,
		input:    input,
		newInput: func() any { return new(I) },
		isNil:    func(in any) bool { return in.(*I) == nil },
		serve: func(db *DB, r *request, in any) (any, error) {
			out, err := serve(db, r, in.(*I))
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	}
}

// operations is the dispatch table. An operation that is not here is not supported.
var operations = []*operation{
	handle("BatchExecuteStatement", (*DB).batchExecuteStatement),
	handle("BatchGetItem", (*DB).batchGetItem),
	handle("BatchWriteItem", (*DB).batchWriteItem),
	handle("CreateBackup", (*DB).createBackup),
	handle("CreateTable", (*DB).createTable),
	handle("DeleteBackup", (*DB).deleteBackup),
	handle("DeleteItem", (*DB).deleteItem),
	handle("DeleteTable", (*DB).deleteTable),
	handle("DescribeBackup", (*DB).describeBackup),
	handle("DescribeContinuousBackups", (*DB).describeContinuousBackups),
	handle("DescribeContributorInsights", (*DB).describeContributorInsights),
	handle("DescribeEndpoints", (*DB).describeEndpoints),
	handle("DescribeKinesisStreamingDestination", (*DB).describeKinesis),
	handle("DescribeLimits", (*DB).describeLimits),
	handle("DescribeStream", (*DB).describeStream),
	handle("DescribeTable", (*DB).describeTable),
	handle("DescribeTimeToLive", (*DB).describeTimeToLive),
	handle("ExecuteStatement", (*DB).executeStatement),
	handle("ExecuteTransaction", (*DB).executeTransaction),
	handle("GetItem", (*DB).getItem),
	handle("GetRecords", (*DB).getRecords),
	handle("GetResourcePolicy", (*DB).getResourcePolicy),
	handle("GetShardIterator", (*DB).getShardIterator),
	handle("ListBackups", (*DB).listBackups),
	handle("ListExports", (*DB).listExports),
	handle("ListGlobalTables", (*DB).listGlobalTables),
	handle("ListImports", (*DB).listImports),
	handle("ListStreams", (*DB).listStreams),
	handle("ListTables", (*DB).listTables),
	handle("ListTagsOfResource", (*DB).listTagsOfResource),
	handle("PutItem", (*DB).putItem),
	handle("Query", (*DB).query),
	handle("RestoreTableFromBackup", (*DB).restoreTableFromBackup),
	handle("RestoreTableToPointInTime", (*DB).restoreTableToPointInTime),
	handle("Scan", (*DB).scan),
	handle("TagResource", (*DB).tagResource),
	handle("TransactGetItems", (*DB).transactGetItems),
	handle("TransactWriteItems", (*DB).transactWriteItems),
	handle("UntagResource", (*DB).untagResource),
	handle("UpdateContinuousBackups", (*DB).updateContinuousBackups),
	handle("UpdateItem", (*DB).updateItem),
	handle("UpdateTable", (*DB).updateTable),
	handle("UpdateTimeToLive", (*DB).updateTimeToLive),
}

var operationByInput, operationByTarget = func() (map[reflect.Type]*operation, map[string]*operation) {
	byInput := make(map[reflect.Type]*operation, len(operations))
	byTarget := make(map[string]*operation, len(operations))
	for _, op := range operations {
		byInput[op.input] = op
		byTarget[op.target] = op
	}
	return byInput, byTarget
}()

// Nearly every call is one of these operations.
var (
	getItemOperation            = operationByInput[reflect.TypeFor[*dynamodb.GetItemInput]()]
	putItemOperation            = operationByInput[reflect.TypeFor[*dynamodb.PutItemInput]()]
	updateItemOperation         = operationByInput[reflect.TypeFor[*dynamodb.UpdateItemInput]()]
	transactWriteItemsOperation = operationByInput[reflect.TypeFor[*dynamodb.TransactWriteItemsInput]()]
)

// operationOf returns the operation that an input belongs to; nil if there is none.
func operationOf(in any) *operation {
	switch in.(type) {
	case nil:
		return nil
	case *dynamodb.GetItemInput:
		return getItemOperation
	case *dynamodb.PutItemInput:
		return putItemOperation
	case *dynamodb.UpdateItemInput:
		return updateItemOperation
	case *dynamodb.TransactWriteItemsInput:
		return transactWriteItemsOperation
	}
	return operationByInput[reflect.TypeOf(in)]
}

// inputName names the type of a Call.Input in the error for an unsupported one.
func inputName(in any) string {
	if in == nil {
		return "a nil input"
	}
	t := reflect.TypeOf(in)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := t.Name()
	const suffix = "Input"
	if n := len(name) - len(suffix); n > 0 && name[n:] == suffix {
		return name[:n]
	}
	return fmt.Sprintf("input of type %T", in)
}

// Operations returns the names of the supported operations, sorted.
func Operations() []string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = op.name
	}
	return names
}
