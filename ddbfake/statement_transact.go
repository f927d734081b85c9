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
	"github.com/isr-sim/isr-sim/internal/base/fingerprint"
)

// executeTransaction serves ExecuteTransaction.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteTransaction.html
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/executeTransaction.test.ts
func (db *DB) executeTransaction(
	r *request, in *dynamodb.ExecuteTransactionInput,
) (*dynamodb.ExecuteTransactionOutput, error) {
	if err := checkExecuteTransaction(in); err != nil {
		return nil, err
	}
	statements, reads, err := transactStatements(in)
	if err != nil {
		return nil, err
	}
	tables, err := db.transactTables(r, statements)
	if err != nil {
		return nil, err
	}
	if reads {
		return db.readStatements(r, statements, tables, in)
	}
	return db.writeStatements(r, statements, tables, in)
}

// checkExecuteTransaction checks the parameters one by one.
func checkExecuteTransaction(in *dynamodb.ExecuteTransactionInput) error {
	var c constraints
	c.optionalText(in.ClientRequestToken, "clientRequestToken", 1, maxTokenLength)
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.statements(len(in.TransactStatements), in.TransactStatements == nil, "transactStatements", maxTransactItems)
	for i := range in.TransactStatements {
		s := &in.TransactStatements[i]
		c.statement(s.Statement, s.Parameters, member("transactStatements", i, ""))
		c.returnValuesOnFailure(s.ReturnValuesOnConditionCheckFailure, member("transactStatements", i, ""))
	}
	return c.err()
}

// failedAt refuses a whole transaction because of the error of one statement.
func failedAt(i int, err error) error {
	return invalid("Validation failed in TransactStatements[%d]: %s", i, messageOf(err))
}

// transactStatements checks everything that needs no table, and reports whether the statements are reads.
func transactStatements(in *dynamodb.ExecuteTransactionInput) (all []*statement, reads bool, err error) {
	all = make([]*statement, len(in.TransactStatements))
	values := make([][]attr.Value, len(all))
	for i := range values {
		if values[i], err = parametersOf(in.TransactStatements[i].Parameters); err != nil {
			return nil, false, err
		}
	}
	writes := false
	for i := range all {
		s, err := newStatement(in.TransactStatements[i].Statement, values[i])
		if err != nil {
			return nil, false, failedAt(i, err)
		}
		all[i] = s
		reads, writes = reads || s.Reads(), writes || !s.Reads()
	}
	if reads && writes {
		// Source: https://github.com/floci-io/floci (DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java, seen on AWS)
		return nil, false,
			invalid("ExecuteTransaction API does not support both read and write operations in the same request.")
	}
	return all, reads, nil
}

// transactTables finds the tables of statements. It refuses a statement that a transaction may not have. If it refuses
// no statement, a missing table cancels the transaction.
func (db *DB) transactTables(r *request, statements []*statement) ([]*table, error) {
	tables := make([]*table, len(statements))
	missing := false
	for i, s := range statements {
		var err error
		if tables[i], err = db.find(r, s.Table()); err != nil {
			return nil, failedAt(i, err)
		}
		if tables[i] == nil {
			missing = true
			continue
		}
		if err := s.checkTransaction(tables[i]); err != nil {
			return nil, failedAt(i, err)
		}
	}
	if missing {
		return nil, cancelledWhere(len(tables), func(i int) bool { return tables[i] == nil }, reasonNoTable,
			aws.String("Requested resource not found"))
	}
	return tables, nil
}

// checkTransaction refuses a statement that is not allowed within a transaction.
func (s *statement) checkTransaction(t *table) error {
	switch {
	case s.Returning() != "":
		return invalid("RETURNING clause is not supported in ExecuteTransaction.")
	case s.Index() != "":
		return invalid("Reads on indices are not supported within transactions.")
	case s.Reads():
		_, err := s.read(t, "ExecuteTransaction")
		return err
	case s.Verb() == partiql.Exists:
		_, err := s.key(t)
		if _, conditions := s.Equalities(); err != nil || conditions <= t.schema.size() {
			return invalid("EXISTS() must contain a single item read with additional condition")
		}
	}
	return nil
}

func (db *DB) readStatements(
	r *request, statements []*statement, tables []*table, in *dynamodb.ExecuteTransactionInput,
) (*dynamodb.ExecuteTransactionOutput, error) {
	gets := make([]get, len(statements))
	reasons := make([]types.CancellationReason, len(statements))
	unfit := false
	for i, s := range statements {
		g, err := s.read(tables[i], "ExecuteTransaction")
		if err != nil {
			return nil, failedAt(i, err)
		}
		gets[i] = *g
		if err := gets[i].prepare(db); err != nil {
			return nil, err
		}
		gets[i].table = tables[i]
		if err := gets[i].resolve(); err != nil {
			unfit, reasons[i] = true, reasonFor(err)
		}
	}
	if unfit {
		return nil, cancelled(reasons)
	}
	if err := resolveGets(gets); err != nil {
		return nil, err
	}
	responses, units, err := db.runGets(r, gets)
	if err != nil {
		return nil, err
	}
	return &dynamodb.ExecuteTransactionOutput{
		Responses: responses, ConsumedCapacity: units.consumed(in.ReturnConsumedCapacity, true),
	}, nil
}

// writeStatements makes the writes and checks. Unlike TransactWriteItems, it reports every statement whose key does not
// fit its table.
func (db *DB) writeStatements(
	r *request, statements []*statement, tables []*table, in *dynamodb.ExecuteTransactionInput,
) (*dynamodb.ExecuteTransactionOutput, error) {
	if db.transaction == nil {
		db.transaction = new(transaction)
	}
	actions := make([]action, len(statements))
	reasons := make([]types.CancellationReason, len(statements))
	unfit := false
	for i, s := range statements {
		a, err := s.action(tables[i])
		if err != nil {
			if messageOf(err) == noWholeKey {
				err = invalid(keyMismatch)
			}
			unfit, reasons[i] = true, reasonFor(err)
			continue
		}
		actions[i] = *a
		actions[i].returnOld = in.TransactStatements[i].ReturnValuesOnConditionCheckFailure ==
			types.ReturnValuesOnConditionCheckFailureAllOld
		if err := actions[i].prepare(db); err != nil {
			return nil, err
		}
		actions[i].table = tables[i]
		if err := actions[i].resolve(); err != nil {
			unfit, reasons[i] = true, reasonFor(err)
		}
	}
	print := func() fingerprint.Wide { return fingerprintOfStatements(in) }
	units, replay, err := db.seen(r, in.ClientRequestToken, print)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.ExecuteTransactionOutput{Responses: []types.ItemResponse{}}
	switch {
	case replay:
		out.ConsumedCapacity = db.replay(r, actions, units, in.ReturnConsumedCapacity)
		return out, nil
	case unfit:
		return nil, cancelled(reasons)
	}
	writes, err := db.transact(r, actions)
	if err != nil {
		return nil, err
	}
	db.remember(r, in.ClientRequestToken, print, writes)
	out.ConsumedCapacity = transacted(writes, in.ReturnConsumedCapacity)
	return out, nil
}

// maxBatchStatements is the number of statements in a batch.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html
const maxBatchStatements = 25

// onlyKeys is the refusal of a SELECT that does not read a single item by its key alone.
//
// Source: https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/batchExecuteStatement.test.ts
const onlyKeys = "Select statements within %s must specify the primary key in the where clause."

// batchExecuteStatement serves BatchExecuteStatement: statements that are executed one after the other, independently.
//
// Deviation: a failed write takes its units, and Metrics count them, but ConsumedCapacity does not report them. The
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

type batchStatement struct {
	*statement
	in     *types.BatchStatementRequest
	err    error
	get    *get // the get of a SELECT
	action *action
	table  *table // nil if the statement is refused before it runs
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

// note adds the item to seen, the items of the batch. It refuses an item that an earlier statement has named.
func (s *batchStatement) note(seen batchKeys) error {
	key, ok := s.table.schema.within(s.values())
	if !ok {
		return nil // the statement will fail
	}
	return seen.add(s.table, key)
}

// values returns the key of the item, perhaps with other attributes.
func (s *batchStatement) values() map[string]types.AttributeValue {
	if s.get != nil {
		return s.get.values
	}
	return s.action.values
}

// read returns the read of the one item that a SELECT names. The SELECT must name it by its key alone.
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
// The item of a failed condition is inside the error, not beside it.
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
