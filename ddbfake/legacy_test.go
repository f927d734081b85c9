package ddbfake_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/isr-sim/isr-sim/ddbfake"
	"github.com/isr-sim/isr-sim/internal/rules/must"
)

// equivalent has, for each comparison operator, the same condition as an expression, and the number of its values.
//
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.Conditions.html
var equivalent = map[types.ComparisonOperator]struct {
	format string
	values int
}{
	"EQ": {"%s = %s", 1}, "NE": {"%s <> %s", 1},
	"LE": {"%s <= %s", 1}, "LT": {"%s < %s", 1}, "GE": {"%s >= %s", 1}, "GT": {"%s > %s", 1},
	"NULL": {"attribute_not_exists(%s)", 0}, "NOT_NULL": {"attribute_exists(%s)", 0},
	"CONTAINS": {"contains(%s, %s)", 1}, "NOT_CONTAINS": {"attribute_exists(%[1]s) AND NOT contains(%[1]s, %[2]s)", 1},
	"BEGINS_WITH": {"begins_with(%s, %s)", 1}, "IN": {"%s IN (%s, %s, %s)", 3}, "BETWEEN": {"%s BETWEEN %s AND %s", 2},
}

// oldValues are values of each kind. They are few, so that drawn values are often equal.
var oldValues = map[string][]types.AttributeValue{
	"S": {s(""), s("a"), s("ab"), s("b")},
	"N": {n("1"), n("1.0"), n("2"), n("-10")},
	"B": {&types.AttributeValueMemberB{Value: []byte("a")}, &types.AttributeValueMemberB{Value: []byte("ab")}},
	"SS": {
		&types.AttributeValueMemberSS{Value: []string{"a", "b"}}, &types.AttributeValueMemberSS{Value: []string{"b", "a"}},
		&types.AttributeValueMemberSS{Value: []string{"a"}},
	},
	"L": {
		&types.AttributeValueMemberL{Value: []types.AttributeValue{s("a"), n("1")}},
		&types.AttributeValueMemberL{Value: []types.AttributeValue{}},
	},
	"BOOL": {&types.AttributeValueMemberBOOL{Value: true}, &types.AttributeValueMemberBOOL{Value: false}},
	"NULL": {&types.AttributeValueMemberNULL{Value: true}},
}

var oldNames = []string{"x", "status", "x.y", "#0"}

func drawValue(t *rapid.T, label string, kinds ...string) types.AttributeValue {
	return rapid.SampledFrom(oldValues[rapid.SampledFrom(kinds).Draw(t, label+" kind")]).Draw(t, label)
}

func drawRow(t *rapid.T, sk string) values {
	row := values{"pk": s("p"), "sk": s(sk)}
	for _, name := range oldNames {
		if rapid.Bool().Draw(t, sk+" has "+name) {
			row[name] = drawValue(t, sk+" "+name, "S", "N", "B", "SS", "L", "BOOL", "NULL")
		}
	}
	return row
}

func putRow(t *rapid.T, db *ddbfake.DB, row values) {
	must.Done(t)(db.As("setup").PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: row}))
}

// modern are the expression parameters with the same meaning as legacy ones.
type modern struct {
	names  map[string]string
	values values
	parts  []string
}

func (m *modern) name(name string) string {
	key := fmt.Sprintf("#n%d", len(m.names))
	m.names[key] = name
	return key
}

func (m *modern) value(v types.AttributeValue) string {
	key := fmt.Sprintf(":v%d", len(m.values))
	m.values[key] = v
	return key
}

// drawConditions draws legacy conditions, and the same conditions as expressions.
func drawConditions(t *rapid.T) (map[string]types.Condition, *modern) {
	conditions := map[string]types.Condition{}
	m := &modern{names: map[string]string{}, values: values{}}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(oldNames), 1, 3, rapid.ID).Draw(t, "names") {
		op := rapid.SampledFrom(types.ComparisonOperator("").Values()).Draw(t, "operator of "+name)
		c := types.Condition{ComparisonOperator: op}
		kinds := []string{"S", "N", "B"}
		switch op {
		case "EQ", "NE":
			kinds = append(kinds, "SS", "L", "BOOL", "NULL")
		case "BEGINS_WITH":
			kinds = []string{"S", "B"}
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind for "+name)
		operands := []any{m.name(name)}
		for range equivalent[op].values {
			v := drawValue(t, "value for "+name, kind)
			c.AttributeValueList = append(c.AttributeValueList, v)
			operands = append(operands, m.value(v))
		}
		conditions[name] = c
		m.parts = append(m.parts, fmt.Sprintf(equivalent[op].format, operands...))
	}
	return conditions, m
}

// A legacy condition and the expression with the same meaning select the same rows, in a filter and as the condition of
// a write. If one of them is refused, so is the other.
func TestLegacyConditionsAreExpressions(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		db := newWorld(outer, ddbfake.LagManual).db
		for _, sk := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, "there is "+sk) {
				putRow(t, db, drawRow(t, sk))
			}
		}
		conditions, m := drawConditions(t)
		var op types.ConditionalOperator
		joint := ") AND ("
		if len(conditions) > 1 && rapid.Bool().Draw(t, "by OR") {
			op, joint = types.ConditionalOperatorOr, ") OR ("
		}
		expression := "(" + strings.Join(m.parts, joint) + ")"
		old, oldErr := db.As("a").Scan(t.Context(), &dynamodb.ScanInput{
			TableName: aws.String("cache"), ScanFilter: conditions, ConditionalOperator: op,
		})
		in := &dynamodb.ScanInput{TableName: aws.String("cache"), FilterExpression: &expression, ExpressionAttributeNames: m.names}
		if len(m.values) > 0 {
			in.ExpressionAttributeValues = m.values
		}
		got, err := db.As("a").Scan(t.Context(), in)
		if (oldErr == nil) != (err == nil) {
			t.Fatalf("legacy: %v; %s: %v", oldErr, expression, err)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got.Items, old.Items) {
			t.Fatalf("%s: got %d rows, and legacy %d", expression, len(got.Items), len(old.Items))
		}
		expected := map[string]types.ExpectedAttributeValue{}
		for name, c := range conditions {
			expected[name] = types.ExpectedAttributeValue{ComparisonOperator: c.ComparisonOperator, AttributeValueList: c.AttributeValueList}
		}
		key := values{"pk": s("p"), "sk": s(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "deleted"))}
		before := db.Snapshot()
		_, oldErr = db.As("a").DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String("cache"), Key: key, Expected: expected, ConditionalOperator: op,
		})
		oldHash := db.Hash()
		db.Restore(before)
		_, err = db.As("a").DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String("cache"), Key: key, ConditionExpression: &expression, ExpressionAttributeNames: m.names,
			ExpressionAttributeValues: in.ExpressionAttributeValues,
		})
		if fmt.Sprint(oldErr) != fmt.Sprint(err) || db.Hash() != oldHash {
			t.Fatalf("delete if %s: %v, and legacy: %v", expression, err, oldErr)
		}
	})
}

// A legacy update and the expression with the same meaning make the same item, and return the same attributes of it.
func TestLegacyUpdatesAreExpressions(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		db := newWorld(outer, ddbfake.LagManual).db
		if rapid.Bool().Draw(t, "there is an item") {
			putRow(t, db, drawRow(t, "a"))
		}
		m := &modern{names: map[string]string{}, values: values{}}
		updates := map[string]types.AttributeValueUpdate{}
		sections := map[string][]string{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(oldNames), 1, 4, rapid.ID).Draw(t, "names") {
			u := types.AttributeValueUpdate{Action: rapid.SampledFrom(types.AttributeAction("").Values()).Draw(t, "action")}
			target := m.name(name)
			switch {
			case u.Action == types.AttributeActionDelete && rapid.Bool().Draw(t, "whole"):
				sections["REMOVE"] = append(sections["REMOVE"], target)
			case u.Action == types.AttributeActionDelete:
				u.Value = drawValue(t, "elements", "SS")
				sections["DELETE"] = append(sections["DELETE"], target+" "+m.value(u.Value))
			case u.Action == types.AttributeActionPut:
				u.Value = drawValue(t, "value", "S", "N", "B", "SS", "L", "BOOL", "NULL")
				sections["SET"] = append(sections["SET"], target+" = "+m.value(u.Value))
			default:
				u.Value = drawValue(t, "summand", "N", "SS", "L")
				if _, is := u.Value.(*types.AttributeValueMemberL); is {
					empty := m.value(&types.AttributeValueMemberL{Value: []types.AttributeValue{}})
					sections["SET"] = append(sections["SET"], fmt.Sprintf("%[1]s = list_append(if_not_exists(%[1]s, %s), %s)", target, empty, m.value(u.Value)))
				} else {
					sections["ADD"] = append(sections["ADD"], target+" "+m.value(u.Value))
				}
			}
			updates[name] = u
		}
		var parts []string
		for _, section := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
			if len(sections[section]) > 0 {
				parts = append(parts, section+" "+strings.Join(sections[section], ", "))
			}
		}
		expression := strings.Join(parts, " ")
		which := rapid.SampledFrom(types.ReturnValue("").Values()).Draw(t, "returned")
		key := values{"pk": s("p"), "sk": s("a")}
		before := db.Snapshot()
		old, oldErr := db.As("a").UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key, AttributeUpdates: updates, ReturnValues: which,
		})
		oldHash := db.Hash()
		db.Restore(before)
		in := &dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key, UpdateExpression: &expression, ReturnValues: which, ExpressionAttributeNames: m.names,
		}
		if len(m.values) > 0 {
			in.ExpressionAttributeValues = m.values
		}
		got, err := db.As("a").UpdateItem(t.Context(), in)
		if (oldErr == nil) != (err == nil) || db.Hash() != oldHash {
			t.Fatalf("%s: %v, and legacy: %v", expression, err, oldErr)
		}
		if err != nil {
			return
		}
		if !reflect.DeepEqual(got.Attributes, old.Attributes) {
			t.Fatalf("%s returned %v, and legacy %v", expression, got.Attributes, old.Attributes)
		}
	})
}
