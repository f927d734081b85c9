package ddbfake

import (
	"reflect"
)

// operation is one row of the dispatch table.
type operation struct {
	name     string
	input    reflect.Type // the pointer type, as in Call.Input
	newInput func() any
	isNil    func(in any) bool
	serve    func(db *DB, r *request, in any) (any, error)
}

// handle makes a row of the dispatch table out of a typed method of DB.
func handle[I, O any](name string, serve func(*DB, *request, *I) (*O, error)) *operation {
	return &operation{
		name:     name,
		input:    reflect.TypeFor[*I](),
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

// operations is the dispatch table: what is not here is not supported.
var operations = []*operation{
	handle("BatchGetItem", (*DB).batchGetItem),
	handle("BatchWriteItem", (*DB).batchWriteItem),
	handle("CreateTable", (*DB).createTable),
	handle("DeleteItem", (*DB).deleteItem),
	handle("DeleteTable", (*DB).deleteTable),
	handle("DescribeContinuousBackups", (*DB).describeContinuousBackups),
	handle("DescribeEndpoints", (*DB).describeEndpoints),
	handle("DescribeLimits", (*DB).describeLimits),
	handle("DescribeTable", (*DB).describeTable),
	handle("DescribeTimeToLive", (*DB).describeTimeToLive),
	handle("GetItem", (*DB).getItem),
	handle("ListTables", (*DB).listTables),
	handle("ListTagsOfResource", (*DB).listTagsOfResource),
	handle("PutItem", (*DB).putItem),
	handle("Query", (*DB).query),
	handle("Scan", (*DB).scan),
	handle("TagResource", (*DB).tagResource),
	handle("TransactGetItems", (*DB).transactGetItems),
	handle("TransactWriteItems", (*DB).transactWriteItems),
	handle("UntagResource", (*DB).untagResource),
	handle("UpdateItem", (*DB).updateItem),
	handle("UpdateTable", (*DB).updateTable),
	handle("UpdateTimeToLive", (*DB).updateTimeToLive),
}

var operationByInput, operationByName = func() (map[reflect.Type]*operation, map[string]*operation) {
	byInput := make(map[reflect.Type]*operation, len(operations))
	byName := make(map[string]*operation, len(operations))
	for _, op := range operations {
		byInput[op.input] = op
		byName[op.name] = op
	}
	return byInput, byName
}()

// operationOf returns the operation an input belongs to, nil if none does.
func operationOf(in any) *operation {
	if in == nil {
		return nil
	}
	return operationByInput[reflect.TypeOf(in)]
}

// Operations returns the names of the supported operations, sorted.
func Operations() []string {
	names := make([]string, len(operations))
	for i, op := range operations {
		names[i] = op.name
	}
	return names
}
