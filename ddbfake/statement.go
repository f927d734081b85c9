package ddbfake

import (
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/expr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
)

// A PartiQL statement is executed by the parts of the other operations. A SELECT is a query for each partition and
// range that its WHERE names, or a scan; INSERT, UPDATE and DELETE are actions; EXISTS is a condition check of a
// transaction.

// maxStatement is the maximum number of characters of a statement.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteStatement.html
const (
	maxStatement = 8192
	maxNextToken = 32768
)

// onlyTransactions is the refusal of an EXISTS outside a transaction.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-functions.exists.html
const onlyTransactions = "EXISTS can only be used in ExecuteTransaction write requests."

// executeStatement serves ExecuteStatement.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteStatement.html
func (db *DB) executeStatement(
	r *request, in *dynamodb.ExecuteStatementInput,
) (*dynamodb.ExecuteStatementOutput, error) {
	if err := checkExecute(in); err != nil {
		return nil, err
	}
	values, err := parametersOf(in.Parameters)
	if err != nil {
		return nil, err
	}
	s, err := newStatement(in.Statement, values)
	if err != nil {
		return nil, err
	}
	switch s.Verb() {
	case partiql.Select:
		return s.page(db, r, in)
	case partiql.Exists:
		return nil, invalid(onlyTransactions)
	}
	w, err := s.write(db, r, in.ReturnValuesOnConditionCheckFailure)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.ExecuteStatementOutput{
		Items: []map[string]types.AttributeValue{}, ConsumedCapacity: w.consumed(in.ReturnConsumedCapacity),
	}
	if item := w.returned(s.Returning()); item != nil {
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// checkExecute checks the parameters one by one.
func checkExecute(in *dynamodb.ExecuteStatementInput) error {
	var c constraints
	c.statement(in.Statement, in.Parameters, "")
	c.optionalText(in.NextToken, "nextToken", 1, maxNextToken)
	c.returnConsumedCapacity(in.ReturnConsumedCapacity)
	c.returnValuesOnFailure(in.ReturnValuesOnConditionCheckFailure, "")
	if in.Limit != nil && *in.Limit < 1 {
		c.add("'"+strconv.Itoa(int(*in.Limit))+"'", "limit", "Member must have value greater than or equal to 1")
	}
	return c.err()
}

// statement checks a statement's members.
func (c *constraints) statement(text *string, parameters []types.AttributeValue, parent string) {
	c.requiredText(text, parent+"statement", 1, maxStatement)
	if parameters != nil && len(parameters) == 0 {
		c.length("[]", parent+"parameters", "greater", 1)
	}
}

// statement is a PartiQL statement that is being served.
type statement struct {
	*partiql.Bound
	condition *expr.Condition // WHERE
	update    *expr.Update
	columns   *expr.Projection // nil for *
	item      attr.Item        // the item of an INSERT
}

// Programs send the same statements again and again, so translations repeat, too.
var (
	parseStatement       = once(partiql.Parse)
	parseColumns         = once(expr.ParseColumns)
	parseWhere           = once(expr.ParseStatementCondition)
	parseStatementUpdate = once(expr.ParseStatementUpdate)
)

// parametersOf converts parameters. It checks their values before any statement is examined.
func parametersOf(parameters []types.AttributeValue) ([]attr.Value, error) {
	values := make([]attr.Value, len(parameters))
	for i, v := range parameters {
		var err error
		if values[i], err = attr.FromSDK(v); err != nil {
			return nil, refused(err)
		}
	}
	return values, nil
}

// newStatement checks everything that needs no table.
func newStatement(text *string, values []attr.Value) (*statement, error) {
	parsed, err := parseStatement(aws.ToString(text))
	if err != nil {
		return nil, statementError(err)
	}
	s := &statement{}
	if s.Bound, err = parsed.Bind(values); err == nil {
		err = s.translate()
	}
	if err != nil {
		return nil, statementError(err)
	}
	return s, nil
}

// statementError returns the error of a statement. Even if an expression caused it, it must not name a parameter of the
// request.
func statementError(err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return invalid("%s", e.Message)
	}
	return invalid("%s", err.Error())
}

// translate translates the parts of the statement, and checks them like those of other operations.
func (s *statement) translate() (err error) {
	switch s.Verb() {
	case partiql.Insert:
		s.item, err = s.Item()
		return err
	case partiql.Update:
		if s.update, err = translated(s.Changes, parseStatementUpdate); err != nil {
			return err
		}
	case partiql.Select:
		if s.columns, err = translated(s.Columns, parseColumns); err != nil {
			return err
		}
	}
	if s.condition, err = translated(s.Condition, parseWhere); err != nil {
		return err
	}
	if s.update != nil {
		err = s.update.Check(s.Args())
	}
	if err == nil && s.condition != nil {
		err = s.condition.Check(s.Args())
	}
	return err
}

// translated parses the translation of a part of a statement, if the statement has the part.
func translated[E any](part func() (string, error), parse func(string) (E, error)) (e E, err error) {
	text, err := part()
	if err != nil || text == "" {
		return e, err
	}
	return parse(text)
}

// The functions below find the table and the key of a statement before it is served, for faults and for the log of
// requests. The statement may be refused later.

// readsBy reports whether a statement is a SELECT, and returns the index that it reads; nil if it reads a table.
func readsBy(text *string) (reads bool, index *string) {
	parsed, err := parseStatement(aws.ToString(text))
	if err != nil || !parsed.Reads() {
		return false, nil
	}
	if b, err := parsed.Bind(nil); err == nil && b.Index() != "" {
		index = aws.String(b.Index())
	}
	return true, index
}

// statementTarget returns the table of a statement, and the attributes that it fixes: the key, or the part of it that
// the statement names.
func statementTarget(text *string, parameters []types.AttributeValue) target {
	values, err := parametersOf(parameters)
	if err != nil {
		return target{}
	}
	parsed, err := parseStatement(aws.ToString(text))
	if err != nil {
		return target{}
	}
	b, err := parsed.Bind(values)
	if err != nil {
		return target{}
	}
	t := target{table: nameInARN(b.Table()), values: map[string]types.AttributeValue{}}
	if b.Verb() == partiql.Insert {
		if item, err := b.Item(); err == nil {
			t.values = item.ToSDK()
		}
		return t
	}
	equal, _ := b.Equalities()
	for _, e := range equal {
		if _, again := t.values[e.Attribute]; !again {
			t.values[e.Attribute] = attr.ToSDK(e.Value)
		}
	}
	return t
}

// written is a write that a statement has made.
type written struct {
	write
	action *action
}

// write runs an INSERT, UPDATE or DELETE that is a request by itself, or one of a batch.
func (s *statement) write(db *DB, r *request, onFailure types.ReturnValuesOnConditionCheckFailure) (written, error) {
	t, err := db.table(r, s.Table())
	if err != nil {
		return written{}, err
	}
	a, err := s.action(t)
	if err != nil {
		return written{}, err
	}
	a.returnOld = onFailure == types.ReturnValuesOnConditionCheckFailureAllOld
	w, err := a.perform(db, r)
	return written{w, a}, err
}

// Texts about the key in a WHERE.
//
// Source:
// https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/tier3/error-messages/partiqlGrammar.test.ts
// Source:
// https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/DynamoDbPartiQLEdgeCaseIntegrationTest.java
const (
	noWholeKey  = "Where clause does not contain a mandatory equality on all key attributes"
	severalKeys = "Multiple conditions on same key %s. Only single item Update/Insert/Delete are supported"
)

// action returns the action that executes the statement, with WHERE as its condition. An UPDATE of a missing item
// fails, because no item has the key in WHERE. A DELETE of a missing item succeeds, whatever else WHERE says.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.update.html
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.delete.html
func (s *statement) action(t *table) (*action, error) {
	a := &action{tableName: s.Table(), statement: true, condition: s.condition, update: s.update}
	var err error
	switch s.Verb() {
	case partiql.Insert:
		a.kind, a.insert, a.values = actionPut, true, s.item.ToSDK()
	case partiql.Update:
		a.kind = actionUpdate
	case partiql.Delete:
		a.kind = actionDelete
	case partiql.Exists:
		a.kind = actionCheck
	}
	if a.kind != actionPut {
		if a.values, err = s.key(t); err != nil {
			return nil, err
		}
	}
	if a.kind == actionPut || a.kind == actionDelete {
		unless := func() (string, error) { return s.Unless(t.schema.hash.Name) }
		if a.condition, err = translated(unless, parseWhere); err != nil {
			return nil, statementError(err)
		}
	}
	a.args = s.Args()
	return a, nil
}

// key returns the key that WHERE names.
func (s *statement) key(t *table) (map[string]types.AttributeValue, error) {
	key := map[string]types.AttributeValue{}
	equal, _ := s.Equalities()
	for _, name := range t.schema.names() {
		var first attr.Value
		for _, e := range equal {
			switch {
			case e.Attribute != name:
			case first == nil:
				first = e.Value
				key[name] = attr.ToSDK(first)
			case !attr.Equal(first, e.Value) && s.Verb() != partiql.Exists:
				return nil, invalid(severalKeys, name)
			}
		}
		if first == nil {
			return nil, invalid(noWholeKey)
		}
	}
	return key, nil
}

var returnedBy = map[string]types.ReturnValue{
	"ALL OLD": types.ReturnValueAllOld, "MODIFIED OLD": types.ReturnValueUpdatedOld,
	"ALL NEW": types.ReturnValueAllNew, "MODIFIED NEW": types.ReturnValueUpdatedNew,
}

// returned returns the item for RETURNING; nil if there is none.
func (w *written) returned(what string) map[string]types.AttributeValue {
	return w.action.returned(returnedBy[what], w.write)
}
