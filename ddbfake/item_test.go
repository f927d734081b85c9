package ddbfake_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/isr-sim/isr-sim/ddbfake"
)

const validation = "ValidationException"

// itemRules are the rules on PutItem, GetItem, UpdateItem and DeleteItem that end in an error. Each names its rule;
// sources: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html, API_GetItem.html,
// API_UpdateItem.html, API_DeleteItem.html of the same folder, and
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html for limits. Where AWS documents no
// text, it is the one its clients report.
var itemRules = []struct {
	rule          string
	in            any
	code, message string
}{
	{
		"a table name is required",
		&dynamodb.PutItemInput{Item: key("a", "b")},
		validation, "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
	},
	{
		"a table name has at least three characters",
		&dynamodb.GetItemInput{TableName: aws.String("ab"), Key: key("a", "b")},
		validation, "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
	},
	{
		"a table name has at most 255 characters",
		&dynamodb.GetItemInput{TableName: aws.String(strings.Repeat("a", 256)), Key: key("a", "b")},
		validation, "1 validation error detected: Value '" + strings.Repeat("a", 256) + "' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255",
	},
	{
		"a table name has only certain characters",
		&dynamodb.PutItemInput{TableName: aws.String("bad table!@#"), Item: key("a", "b")},
		validation, "1 validation error detected: Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
	},
	{
		"every broken constraint is listed",
		&dynamodb.PutItemInput{TableName: aws.String("nowhere"), Item: key("a", "b"), ReturnConsumedCapacity: "X", ReturnItemCollectionMetrics: "Y", ReturnValues: "Z"},
		validation, "3 validation errors detected: " +
			"Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; " +
			"Value 'Z' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; " +
			"Value 'Y' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]",
	},
	{
		"an invalid ReturnValuesOnConditionCheckFailure is refused",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ReturnValuesOnConditionCheckFailure: "ALL_NEW"},
		validation, "1 validation error detected: Value 'ALL_NEW' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]",
	},
	{
		"PutItem returns old values or none",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b"), ReturnValues: types.ReturnValueAllNew},
		validation, "ReturnValues can only be ALL_OLD or NONE",
	},
	{
		"DeleteItem returns old values or none",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: types.ReturnValueUpdatedOld},
		validation, "ReturnValues can only be ALL_OLD or NONE",
	},
	{
		"a key is required",
		&dynamodb.GetItemInput{TableName: aws.String("cache")},
		validation, "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
	},
	{
		"an unknown table is not found",
		&dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: key("a", "b")},
		"ResourceNotFoundException", "Requested resource not found",
	},
	{
		"an expression error comes before the table",
		&dynamodb.PutItemInput{TableName: aws.String("nowhere"), Item: key("a", "b"), ConditionExpression: aws.String("")},
		validation, "Invalid ConditionExpression: The expression can not be empty;",
	},
	{
		"the table comes before the key",
		&dynamodb.PutItemInput{TableName: aws.String("nowhere"), Item: values{}},
		"ResourceNotFoundException", "Requested resource not found",
	},
	{
		"the key comes before the condition",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: values{"pk": s("a")}, ConditionExpression: aws.String("attribute_exists(pk)")},
		validation, "The provided key element does not match the schema",
	},
	{
		"an item has its key",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: values{"sk": s("b")}},
		validation, "One or more parameter values were invalid: Missing the key pk in the item",
	},
	{
		"an item's key has the table's types",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: values{"pk": s("a"), "sk": n("1")}},
		validation, "One or more parameter values were invalid: Type mismatch for key sk expected: S actual: N",
	},
	{
		"a key of other types does not match the schema",
		&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: values{"pk": s("a"), "sk": n("1")}},
		validation, "The provided key element does not match the schema",
	},
	{
		"a key has nothing but the key attributes",
		&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: with(key("a", "b"), "c", s("d"))},
		validation, "The provided key element does not match the schema",
	},
	{
		"a key string is not empty",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "")},
		validation, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk",
	},
	{
		"a key binary is not empty",
		&dynamodb.DeleteItemInput{TableName: aws.String("blobs"), Key: values{"id": b("")}},
		validation, "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: id",
	},
	{
		"a partition key has at most 2048 bytes",
		&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key(strings.Repeat("a", 2049), "b")},
		validation, "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes",
	},
	{
		"a sort key has at most 1024 bytes",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", strings.Repeat("b", 1025))},
		validation, "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
	},
	{
		"an item has at most 400 KB with its names",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: with(key("a", "b"), "c", s(strings.Repeat("x", 400*1024-6)))},
		validation, "Item size has exceeded the maximum allowed size",
	},
	{
		"an update makes an item of at most 400 KB",
		&dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET c = :c"),
			ExpressionAttributeValues: values{":c": s(strings.Repeat("x", 400*1024))},
		},
		validation, "Item size to update has exceeded the maximum allowed size",
	},
	{
		"key attributes cannot be updated",
		&dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET c = :c REMOVE sk"),
			ExpressionAttributeValues: values{":c": s("x")},
		},
		validation, "One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key",
	},
	{
		"a number has at most 38 digits",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: with(key("a", "b"), "n", n(strings.Repeat("1", 39)))},
		validation, "Attempting to store more than 38 significant digits in a Number",
	},
	{
		"a set is not empty",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: with(key("a", "b"), "set", ss())},
		validation, "One or more parameter values were invalid: An string set  may not be empty",
	},
	{
		"names without an expression",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b"), ExpressionAttributeNames: map[string]string{"#a": "a"}},
		validation, "ExpressionAttributeNames can only be specified when using expressions",
	},
	{
		"values without an expression",
		&dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b"), ExpressionAttributeValues: values{":a": s("a")}},
		validation, "ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null",
	},
	{
		"values without an expression, of an update",
		&dynamodb.UpdateItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ExpressionAttributeValues: values{":a": s("a")}},
		validation, "ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null",
	},
	{
		"names are not empty",
		&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ProjectionExpression: aws.String("a"), ExpressionAttributeNames: map[string]string{}},
		validation, "ExpressionAttributeNames must not be empty",
	},
	{
		"values are not empty",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConditionExpression: aws.String("attribute_exists(a)"), ExpressionAttributeValues: values{}},
		validation, "ExpressionAttributeValues must not be empty",
	},
	{
		"a name placeholder begins with #",
		&dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ProjectionExpression: aws.String("a"), ExpressionAttributeNames: map[string]string{"a": "a"}},
		validation, `ExpressionAttributeNames contains invalid key: Syntax error; key: "a"`,
	},
	{
		"a value placeholder begins with :",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: values{":a": s("a"), "a": s("b")}},
		validation, `ExpressionAttributeValues contains invalid key: Syntax error; key: "a"`,
	},
	{
		"a value of an expression is valid",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConditionExpression: aws.String("a = :a"), ExpressionAttributeValues: values{":a": n("x")}},
		validation, "ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: x for key :a",
	},
	{
		"names are used",
		&dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET attr1 = :v"),
			ExpressionAttributeNames: map[string]string{"#unused": "x"}, ExpressionAttributeValues: values{":v": s("x")},
		},
		validation, "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}",
	},
	{
		"values are used",
		&dynamodb.UpdateItemInput{
			TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET attr1 = :v"),
			ExpressionAttributeValues: values{":v": s("x"), ":unused": s("y")},
		},
		validation, "Value provided in ExpressionAttributeValues unused in expressions: keys: {:unused}",
	},
	{
		"used values are given",
		&dynamodb.UpdateItemInput{TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET attr1 = :v")},
		validation, "Invalid UpdateExpression: An expression attribute value used in expression is not defined; attribute value: :v",
	},
	{
		"a condition that does not hold",
		&dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConditionExpression: aws.String("attribute_exists(pk)")},
		"ConditionalCheckFailedException", "The conditional request failed",
	},
	{
		"legacy parameters do not mix with expressions",
		&dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: key("a", "b"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
			Expected: map[string]types.ExpectedAttributeValue{"pk": {Exists: aws.Bool(false)}},
		},
		validation, "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
	},
	{
		"legacy parameters are judged, not ignored",
		&dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: key("a", "b"),
			Expected: map[string]types.ExpectedAttributeValue{"pk": {Value: s("a")}},
		},
		"ConditionalCheckFailedException", "The conditional request failed",
	},
}

func TestItemErrors(t *testing.T) {
	for _, tc := range itemRules {
		t.Run(tc.rule, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			table(t, w.db, "blobs", "id", "B", "", "")
			before := w.db.Hash()
			_, err := w.db.Do(t.Context(), ddbfake.Call{Input: tc.in})
			wantError(t, err, tc.code, tc.message)
			if w.db.Hash() != before || len(w.db.Changes()) != 0 {
				t.Error("a refused call left a change")
			}
		})
	}
}

// A broken variant for the checks on sizes: an item exactly at the limit passes.
func TestItemLimits(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(
		with(key("a", "b"), "c", s(strings.Repeat("x", 400*1024-7))),
		key(strings.Repeat("a", 2048), strings.Repeat("b", 1024)),
		with(key("a", "c"), "empty", s(""), "n", n(strings.Repeat("1", 38))),
	)
	if _, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "c"), UpdateExpression: aws.String("REMOVE #e, n SET c = :c"),
		ExpressionAttributeNames:  map[string]string{"#e": "empty"},
		ExpressionAttributeValues: values{":c": s(strings.Repeat("x", 400*1024-7))},
	}); err != nil {
		t.Errorf("an update to 400 KB: %v", err)
	}
	if got := len(w.db.Items("cache")); got != 3 {
		t.Errorf("got %d rows, want 3", got)
	}
	if _, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("arn:aws:dynamodb:us-east-1:000000000000:table/cache"), Key: key("a", "c"),
	}); err != nil {
		t.Errorf("a table's ARN stands for its name: %v", err)
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html#DDB-UpdateItem-request-ReturnValues
func TestUpdateReturnValues(t *testing.T) {
	old := with(key("a", "b"), "x", n("1"), "doc", m(values{"in": n("1"), "out": n("2")}))
	updated := with(key("a", "b"), "x", n("3"), "doc", m(values{"in": n("9"), "out": n("2")}), "y", s("new"))
	for _, tc := range []struct {
		ask  types.ReturnValue
		want values
	}{
		{"", nil},
		{types.ReturnValueNone, nil},
		{types.ReturnValueAllOld, old},
		{types.ReturnValueAllNew, updated},
		{types.ReturnValueUpdatedOld, values{"x": n("1"), "doc": m(values{"in": n("1")})}},
		{types.ReturnValueUpdatedNew, values{"x": n("3"), "doc": m(values{"in": n("9")}), "y": s("new")}},
	} {
		t.Run(string(tc.ask), func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			w.put(old)
			out, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
				TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: tc.ask,
				UpdateExpression:          aws.String("SET x = :x, doc.#in = :in, y = :y"),
				ExpressionAttributeNames:  map[string]string{"#in": "in"},
				ExpressionAttributeValues: values{":x": n("3.0"), ":in": n("9"), ":y": s("new")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := diff(t, out.Attributes, tc.want); d != "" {
				t.Errorf("attributes (-want +got):\n%s", d)
			}
			if d := diff(t, w.get(key("a", "b")).ToSDK(), updated); d != "" {
				t.Errorf("row (-want +got):\n%s", d)
			}
		})
	}
}

// There is no map of attributes where there is nothing to return.
func TestUpdateReturnsNothing(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(key("a", "b"))
	out, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: types.ReturnValueUpdatedOld,
		UpdateExpression: aws.String("SET x = :x"), ExpressionAttributeValues: values{":x": n("1")},
	})
	if err != nil || out.Attributes != nil {
		t.Errorf("got %v, %v, want no attributes", out, err)
	}
}

// What UpdateItem does to a key that has no row.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html
func TestUpdateOfMissing(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		update *string
		want   values // nil: no row
	}{
		{"SET creates it", aws.String("SET x = :v"), with(key("a", "b"), "x", n("1"))},
		{"ADD creates it", aws.String("ADD x :v"), with(key("a", "b"), "x", n("1"))},
		{"without an expression the key is created", nil, key("a", "b")},
		{"REMOVE alone creates nothing", aws.String("REMOVE x"), nil},
		{"DELETE alone creates nothing", aws.String("DELETE x :set"), nil},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			in := &dynamodb.UpdateItemInput{TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: tc.update}
			if tc.update != nil {
				switch {
				case strings.Contains(*tc.update, ":v"):
					in.ExpressionAttributeValues = values{":v": n("1")}
				case strings.Contains(*tc.update, ":set"):
					in.ExpressionAttributeValues = values{":set": ss("q")}
				}
			}
			if _, err := w.c.UpdateItem(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			if d := diff(t, w.get(key("a", "b")).ToSDK(), tc.want); d != "" {
				t.Errorf("row (-want +got):\n%s", d)
			}
		})
	}
}

// SET reads the old image.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html
func TestUpdateSwaps(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "b"), "x", n("1"), "y", n("2")))
	if _, err := w.c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), UpdateExpression: aws.String("SET x = y, y = x"),
	}); err != nil {
		t.Fatal(err)
	}
	if d := diff(t, w.get(key("a", "b")).ToSDK(), with(key("a", "b"), "x", n("2"), "y", n("1"))); d != "" {
		t.Error(d)
	}
}

func TestOldValues(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	put := func(v string) values {
		out, err := w.c.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("cache"), Item: with(key("a", "b"), "v", s(v)), ReturnValues: types.ReturnValueAllOld,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes
	}
	remove := func() values {
		out, err := w.c.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{
			TableName: aws.String("cache"), Key: key("a", "b"), ReturnValues: types.ReturnValueAllOld,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.Attributes
	}
	for i, step := range []struct{ got, want values }{
		{put("one"), nil},
		{put("two"), with(key("a", "b"), "v", s("one"))},
		{remove(), with(key("a", "b"), "v", s("two"))},
		{remove(), nil},
	} {
		if d := diff(t, step.got, step.want); d != "" {
			t.Errorf("step %d (-want +got):\n%s", i, d)
		}
	}
}

// The conditions that leases are built on.
// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
func TestConditions(t *testing.T) {
	lock := with(key("a", "LOCK"), "lease_token", s("t1"), "lease_expires_at", n("100"), "text", s("50"))
	for _, tc := range []struct {
		rule      string
		sk        string
		condition string
		holds     bool
	}{
		{"a missing item has no attributes", "MISSING", "attribute_not_exists(pk)", true},
		{"a missing item has no key attributes either", "MISSING", "attribute_exists(pk)", false},
		{"a comparison with a missing item is false", "MISSING", "lease_expires_at < :now", false},
		{"<> with a missing attribute is true", "MISSING", "lease_token <> :t2", true},
		{"a comparison with a missing attribute is false", "LOCK", "no_such < :now", false},
		{"a comparison between types is false", "LOCK", "#text < :now", false},
		{"numbers compare as numbers", "LOCK", "lease_expires_at < :now", true},
		{"equal numbers are equal however they are written", "LOCK", "lease_expires_at = :hundred", true},
		{"equal strings", "LOCK", "lease_token = :t2", false},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			w.put(lock)
			in := &dynamodb.DeleteItemInput{
				TableName: aws.String("cache"), Key: key("a", tc.sk), ConditionExpression: &tc.condition,
				ExpressionAttributeValues: values{},
			}
			for name, v := range (values{":now": n("900"), ":t2": s("t2"), ":hundred": n("1.0E2")}) {
				if strings.Contains(tc.condition, name) {
					in.ExpressionAttributeValues[name] = v
				}
			}
			if len(in.ExpressionAttributeValues) == 0 {
				in.ExpressionAttributeValues = nil
			}
			if strings.Contains(tc.condition, "#text") {
				in.ExpressionAttributeNames = map[string]string{"#text": "text"}
			}
			_, err := w.c.DeleteItem(t.Context(), in)
			wantCode := ""
			if !tc.holds {
				wantCode = "ConditionalCheckFailedException"
			}
			if got, message := code(err); got != wantCode {
				t.Errorf("got %q (%s), want %q", got, message, wantCode)
			}
		})
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html#DDB-PutItem-request-ReturnValuesOnConditionCheckFailure
func TestOldItemOfFailedCondition(t *testing.T) {
	row := with(key("a", "b"), "v", s("one"))
	for _, tc := range []struct {
		name string
		ask  types.ReturnValuesOnConditionCheckFailure
		sk   string
		want values
	}{
		{"asked for", types.ReturnValuesOnConditionCheckFailureAllOld, "b", row},
		{"asked for, no item", types.ReturnValuesOnConditionCheckFailureAllOld, "c", nil},
		{"not asked for", types.ReturnValuesOnConditionCheckFailureNone, "b", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, ddbfake.LagManual)
			w.put(row)
			_, err := w.c.PutItem(t.Context(), &dynamodb.PutItemInput{
				TableName: aws.String("cache"), Item: key("a", tc.sk), ConditionExpression: aws.String("v = :v"),
				ExpressionAttributeValues: values{":v": s("two")}, ReturnValuesOnConditionCheckFailure: tc.ask,
			})
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				t.Fatalf("got %v, want a ConditionalCheckFailedException", err)
			}
			if d := diff(t, failed.Item, tc.want); d != "" {
				t.Errorf("item (-want +got):\n%s", d)
			}
		})
	}
}

func TestGetItem(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	w.put(with(key("a", "b"), "n", n("0012.50"), "doc", m(values{"x": n("1"), "y": n("2")})))
	out, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("cache"), Key: key("a", "b"), ProjectionExpression: aws.String("n, doc.x, nothing"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(t, out.Item, values{"n": n("12.5"), "doc": m(values{"x": n("1")})}); d != "" {
		t.Errorf("projection (-want +got):\n%s", d)
	}
	if got := out.Item["n"].(*types.AttributeValueMemberN).Value; got != "12.5" {
		t.Errorf("got number %q, want it normalised: 12.5", got)
	}
	if out, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "c")}); err != nil || out.Item != nil {
		t.Errorf("missing row: got %v, %v, want nil, nil", out.Item, err)
	}
}

// The caller's maps and the engine's rows share nothing.
func TestInputsAndOutputsAreTheCallers(t *testing.T) {
	w := newWorld(t, ddbfake.LagManual)
	blob := []byte("blob")
	item := with(key("a", "b"), "blob", &types.AttributeValueMemberB{Value: blob})
	w.put(item)
	blob[0] = 'X'
	item["more"] = s("more")
	out, err := w.c.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	out.Item["pk"].(*types.AttributeValueMemberS).Value = "Y"
	out.Item["blob"].(*types.AttributeValueMemberB).Value[1] = 'Z'
	if d := diff(t, w.get(key("a", "b")).ToSDK(), with(key("a", "b"), "blob", b("blob"))); d != "" {
		t.Error(d)
	}
}

// Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func TestConsumedCapacity(t *testing.T) {
	big := func(bytes int) values { return with(key("a", "b"), "c", s(strings.Repeat("x", bytes-7))) }
	for _, tc := range []struct {
		rule string
		seed values
		in   any
		want float64
	}{
		{"a small write is one unit", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")}, 1},
		{"1 KB is one unit", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: big(1024)}, 1},
		{"a byte more is two", nil, &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: big(1025)}, 2},
		{"the larger image counts", big(3000), &dynamodb.PutItemInput{TableName: aws.String("cache"), Item: key("a", "b")}, 3},
		{"a delete costs what it deletes", big(3000), &dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 3},
		{"a delete of nothing is one unit", nil, &dynamodb.DeleteItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 1},
		{"an eventually consistent read of 4 KB is half a unit", big(4096), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 0.5},
		{"a consistent one is a unit", big(4096), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConsistentRead: aws.Bool(true)}, 1},
		{"a byte more doubles it", big(4097), &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b"), ConsistentRead: aws.Bool(true)}, 2},
		{"a read of nothing costs like a small one", nil, &dynamodb.GetItemInput{TableName: aws.String("cache"), Key: key("a", "b")}, 0.5},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			for _, ask := range []types.ReturnConsumedCapacity{"", types.ReturnConsumedCapacityNone, types.ReturnConsumedCapacityTotal, types.ReturnConsumedCapacityIndexes} {
				w := newWorld(t, ddbfake.LagManual)
				if tc.seed != nil {
					w.put(tc.seed)
				}
				var got *types.ConsumedCapacity
				switch in := tc.in.(type) {
				case *dynamodb.PutItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.PutItem(t.Context(), in)
					got = out.ConsumedCapacity
				case *dynamodb.DeleteItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.DeleteItem(t.Context(), in)
					got = out.ConsumedCapacity
				case *dynamodb.GetItemInput:
					in.ReturnConsumedCapacity = ask
					out, _ := w.c.GetItem(t.Context(), in)
					got = out.ConsumedCapacity
				}
				switch ask {
				case "", types.ReturnConsumedCapacityNone:
					if got != nil {
						t.Errorf("%s: got %v, want nothing", ask, got)
					}
					continue
				case types.ReturnConsumedCapacityTotal:
					if got.Table != nil {
						t.Errorf("%s: got a part for the table", ask)
					}
				case types.ReturnConsumedCapacityIndexes:
					if *got.Table.CapacityUnits != tc.want {
						t.Errorf("%s: got %v units of the table, want %v", ask, *got.Table.CapacityUnits, tc.want)
					}
				}
				if *got.CapacityUnits != tc.want || *got.TableName != "cache" || got.ReadCapacityUnits != nil || got.WriteCapacityUnits != nil {
					t.Errorf("%s: got %v of %s, want %v of cache, and no division", ask, *got.CapacityUnits, *got.TableName, tc.want)
				}
			}
		})
	}
}
