package ddbfake

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake/attr"
	"github.com/isr-sim/isr-sim/ddbfake/internal/partiql"
)

// written is a write that a statement has done.
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

// action returns the action that does what the statement says. WHERE is its condition. An UPDATE of an item that is not
// there fails, because WHERE names the key, and no item fulfils that. A DELETE of an item that is not there succeeds,
// whatever else WHERE says.
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

// returnedBy translates RETURNING.
var returnedBy = map[string]types.ReturnValue{
	"ALL OLD": types.ReturnValueAllOld, "MODIFIED OLD": types.ReturnValueUpdatedOld,
	"ALL NEW": types.ReturnValueAllNew, "MODIFIED NEW": types.ReturnValueUpdatedNew,
}

// returned returns the item that RETURNING asks for; nil if there is none.
func (w *written) returned(what string) map[string]types.AttributeValue {
	return w.action.returned(returnedBy[what], w.write)
}
