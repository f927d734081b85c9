package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// transactTables finds the tables, and refuses statements that a transaction cannot have. If no statement is refused, a
// missing table cancels the transaction.
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

// readStatements makes the reads.
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

// writeStatements makes the writes and checks. Unlike TransactWriteItems it names every statement whose key does not
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
