package ddbfake

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
)

// maxBatchStatements is the number of statements in a batch.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
const maxBatchStatements = 25

// onlyKeys is the refusal of a SELECT that does not read one item by its key alone.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/batchExecuteStatement.test.ts
const onlyKeys = "Select statements within %s must specify the primary key in the where clause."

// batchExecuteStatement serves BatchExecuteStatement: statements that are done one after the other, each on its own.
//
// Deviation: a write that fails takes its units, and Metrics count them, but ConsumedCapacity does not report them. The
// service adds them to the total of a table if another statement on the table has succeeded.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/batchExecuteStatement.test.ts
func (db *DB) batchExecuteStatement(
	r *request, in *dynamodb.BatchExecuteStatementInput,
) (*dynamodb.BatchExecuteStatementOutput, error) {
	if err := checkBatchExecute(in); err != nil {
		return nil, err
	}
	all := make([]batchStatement, len(in.Statements))
	reads, writes := false, false
	for i := range all {
		s := &all[i]
		s.in = &in.Statements[i]
		var values []attr.Value
		if values, s.err = parametersOf(s.in.Parameters); s.err != nil {
			continue
		}
		// A statement that can be parsed counts as a read or a write, even if it is refused later.
		if parsed, err := parseStatement(aws.ToString(s.in.Statement)); err == nil {
			reads, writes = reads || parsed.Reads(), writes || !parsed.Reads()
		}
		s.statement, s.err = newStatement(s.in.Statement, values)
	}
	if reads && writes {
		// Source: https://github.com/nubo-db/dynoxide/blob/main/src/actions/batch_execute_statement.rs (seen on AWS)
		return nil, invalid("Read and write requests together in the same batch is not supported.")
	}
	seen := batchKeys{}
	for i := range all {
		if s := &all[i]; s.err == nil {
			s.err = s.prepare(db, r)
		}
		if s := &all[i]; s.err == nil {
			if err := s.note(seen); err != nil {
				return nil, err
			}
		}
	}
	out := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(all))}
	var units tableUnits
	for i := range all {
		if writes && i > 0 {
			db.apart(r)
		}
		out.Responses[i] = all[i].response(db, r, &units)
	}
	if units.tables != nil {
		out.ConsumedCapacity = units.consumedByBatch(in.ReturnConsumedCapacity)
	}
	return out, nil
}

// checkBatchExecute checks the parameters one by one.
func checkBatchExecute(in *dynamodb.BatchExecuteStatementInput) error {
	var c constraints
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.statements(len(in.Statements), in.Statements == nil, "statements", maxBatchStatements)
	for i := range in.Statements {
		c.statement(in.Statements[i].Statement, in.Statements[i].Parameters, member("statements", i, ""))
		c.returnValuesOnFailure(in.Statements[i].ReturnValuesOnConditionCheckFailure, member("statements", i, ""))
	}
	return c.err()
}

// statements checks the number of statements.
func (c *constraints) statements(n int, missing bool, name string, most int) {
	switch {
	case missing:
		c.null(name)
	case n < 1:
		c.length("[]", name, "greater", 1)
	case n > most:
		c.length("[...]", name, "less", most)
	}
}

// batchStatement is a statement of a batch.
type batchStatement struct {
	*statement
	in     *types.BatchStatementRequest
	err    error
	get    *get // the get of a SELECT
	action *action
	table  *table // nil if the statement is refused before it is run
}

// prepare makes the checks that need the table.
func (s *batchStatement) prepare(db *DB, r *request) error {
	if s.Verb() == partiql.Exists {
		return invalid(onlyTransactions)
	}
	t, err := db.table(r, s.Table())
	if err != nil {
		return err
	}
	if s.Reads() {
		s.get, err = s.read(t, "BatchExecuteStatement")
	} else if s.action, err = s.statement.action(t); err == nil {
		s.action.returnOld = s.in.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld
	}
	if err != nil {
		return err
	}
	s.table = t
	return nil
}

// note adds the item to the items of the batch. It refuses an item that an earlier statement has named.
func (s *batchStatement) note(seen batchKeys) error {
	key, ok := s.table.schema.within(s.values())
	if !ok {
		return nil // the statement will fail
	}
	return seen.add(s.table, key)
}

// values are the key of the item, perhaps among other attributes.
func (s *batchStatement) values() map[string]types.AttributeValue {
	if s.get != nil {
		return s.get.values
	}
	return s.action.values
}

// read returns the read of the one item that a SELECT names. The SELECT must name the item by its key alone.
func (s *statement) read(t *table, operation string) (*get, error) {
	if s.Index() != "" {
		if x := t.index(s.Index()); x != nil && (len(x.hash) > 1 || len(x.sort) > 1) {
			return nil, invalid(manyAttributes)
		}
		return nil, invalid(onlyKeys, operation)
	}
	branches, keyed, err := s.Branches(t.schema.hash, t.schema.sort)
	if err != nil {
		return nil, statementError(err)
	}
	for i := range branches {
		for j := range i {
			if attr.Equal(branches[i].Hash, branches[j].Hash) && branches[i].SameSort(branches[j]) {
				return nil, invalid(overlapping)
			}
		}
	}
	if !keyed || len(branches) != 1 || !branches[0].Only || t.schema.hasSort() != branches[0].OneSort() {
		return nil, invalid(onlyKeys, operation)
	}
	key := map[string]types.AttributeValue{t.schema.hash.Name: attr.ToSDK(branches[0].Hash)}
	if t.schema.hasSort() {
		key[t.schema.sort.Name] = attr.ToSDK(branches[0].Sort.Values[0])
	}
	return &get{tableName: s.Table(), values: key, statement: true, args: s.Args(), projection: s.columns}, nil
}

// response runs the statement, unless it was refused.
func (s *batchStatement) response(db *DB, r *request, units *tableUnits) (out types.BatchStatementResponse) {
	if s.err == nil {
		out.Item, s.err = s.run(db, r, units)
	}
	if s.table != nil {
		out.TableName = aws.String(s.table.name)
	}
	if s.err != nil {
		out.Error = batchError(s.err)
	}
	return out
}

func (s *batchStatement) run(db *DB, r *request, units *tableUnits) (map[string]types.AttributeValue, error) {
	if db.withholds(r, s.table.name, s.values()) {
		if r.withheld.Kind == FaultConflict {
			// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
			db.touch(r, s.table).own.TransactionConflict++
			return nil, conflictError()
		}
		withheld := spending{table: s.table, write: s.action != nil}
		db.countThrottled(r, s.table, nil, withheld.write)
		return nil, withheld.refusal(s.table.limitType())
	}
	if s.action != nil {
		w, err := s.action.perform(db, r)
		if err != nil {
			return nil, err
		}
		units.addWrite(&w, 1)
		return (&written{w, s.action}).returned(s.Returning()), nil
	}
	g := s.get
	if err := g.prepare(db); err != nil {
		return nil, err
	}
	if err := g.find(db, r, s.in.ConsistentRead); err != nil {
		return nil, err
	}
	n := readUnits(sizeOf(g.row), aws.ToBool(s.in.ConsistentRead))
	if err := db.spend(r, spending{table: g.table, hash: g.key.hash, keyed: true, units: n}); err != nil {
		return nil, err
	}
	units.add(g.table.name, n)
	return g.run()
}

// batchError turns an error into the error of one statement. The code is that of the error, without the word Exception.
// The item of a condition that failed is in the error, and not beside it.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html
func batchError(err error) *types.BatchStatementError {
	err = inWordsOf("BatchExecuteStatement", err)
	code := fmt.Sprintf("%T", err)
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		code = strings.TrimSuffix(api.ErrorCode(), "Exception")
	}
	switch code {
	case "Validation", "Throttling":
		code += "Error"
	}
	out := &types.BatchStatementError{
		Code: types.BatchStatementErrorCodeEnum(code), Message: aws.String(messageOf(err)),
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		out.Item = failed.Item
	}
	return out
}
