package differential

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Reasons that several differences have.
const (
	ownWords  = "Local refuses it too, in words of its own"
	lenient   = "Local does not check it"
	undivided = "Local does not say whether units were read or written"
	refuses   = "Local refuses the request where the service cancels the transaction"
	oneError  = "of several errors Local reports another one"
)

// Where the service's answers are from.
const (
	docCapacity = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html"
	docTypes    = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html"
	docErrors   = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html"
	docTransact = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"
	docIndexes  = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes"
	docLSI      = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html#LSI.ThroughputConsiderations.Reads"
	docUpdates  = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html"
	docQuery    = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html"
	dynalite    = "https://github.com/architect/dynalite/blob/main/test/"
	parity      = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	captures    = "https://github.com/paritysuite/dynamodb-conformance/blob/main/captures/cross-region-latest.json"
	alternator  = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
	scylla5862  = "https://github.com/scylladb/scylladb/issues/5862"
)

// Beginnings and parts of messages, as patterns.
const (
	v          = "ValidationException: "
	constraint = v + `\d+ validation errors? detected: `
	ofValues   = "ExpressionAttributeValues contains invalid value: "
	canceled   = `TransactionCanceledException: .*ValidationError.* - ValidationError: `
	anything   = ".*"
	// localKey is Local's message about a key or an item that does not fit.
	localKey = `(The number of conditions on the keys is invalid|One of the required keys was not given a value|` +
		`One or more parameter values were invalid: Type mismatch for key|Invalid attribute value type|` +
		`The list of keys in RequestItems for BatchGetItem may not contain null or empty values: .*)`
	// runtime are the errors of an update that depend on the item.
	runtime = `(The provided expression refers to an attribute that does not exist in the item|` +
		`The document path provided in the update expression is invalid for update|` +
		`An operand in the update expression has an incorrect data type|` +
		`Number overflow\. .*|Number underflow\. .*|DynamoDB only supports precision up to 38 digits)`
)

// Local are the known differences between DynamoDB Local 3.3.1 and the fake. In each of them the fake answers as the
// service does, by the source, or as far as is known.
var Local = append([]*Known{
	// Errors: names, keys and values.
	{
		Path: "error", Fake: "ResourceNotFoundException: Requested resource not found",
		Local:  "ResourceNotFoundException: Cannot do operations on a non-existent table",
		Reason: ownWords, Source: docErrors,
	},
	{
		Path: "error", Fake: constraint + `.*'([a-zA-Z0-9.]*tableName|[rR]equestItems.*)' failed .*`,
		Local: v + `Invalid table/index name\. .*|ResourceNotFoundException: Cannot do operations .*`, Reason: ownWords,
		Source: dynalite + "getItem.js",
	},
	{
		Path:  "error",
		Fake:  constraint + `.*Value null at '(tableName|transactItems\.1\.member\.[a-zA-Z]+\.tableName)' .*`,
		Local: v + `(Value null at '.*ableName' .*|Requested resource not found|.*)`, Reason: ownWords,
		Source: dynalite + "getItem.js",
	},
	{
		Path: "error", Fake: "SerializationException: .*", Local: anything, Diverges: true,
		Reason: "Local takes a number or a boolean for a string, and has other words for the rest",
		Source: dynalite + "helpers.js",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled + `)The provided key element does not match the schema.*`,
		Local: `(ValidationException|TransactionCanceledException): .*` + localKey + anything, Reason: ownWords,
		Source: dynalite + "getItem.js",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled +
			`)One or more parameter values were invalid: (Missing the key \S+ in the item|Type mismatch for key ).*`,
		Local: `(ValidationException|TransactionCanceledException): .*` + localKey + anything, Reason: ownWords,
		Source: dynalite + "putItem.js",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled + `).*Type mismatch for Index Key \S+ Expected: .*`,
		Local: `(ValidationException|TransactionCanceledException): .*(Type mismatch for Index Key|Invalid attribute value type).*`, Reason: ownWords, Source: dynalite + "putItem.js",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled + `).*Type mismatch for Index Key \S+ Expected: .*`,
		Local:  `(ValidationException|TransactionCanceledException): .*Item size to update has exceeded the maximum allowed size.*`,
		Reason: "Local looks at the item's size first", Source: dynalite + "updateItem.js",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled +
			`).*attempted to update the secondary index key beyond allowed size limits.*`, Local: "ok", Diverges: true,
		Reason: "Local lets an update make the attributes of a key too long together",
		Source: docTransact + "#API_TransactWriteItems_Errors",
	},
	{
		Path: "error", Fake: "(" + v + "|" + canceled +
			`).*Size of hashkey has exceeded the maximum size limit of2048 bytes.*`,
		Local: `(ValidationException|TransactionCanceledException): .*Hash primary key values must be under 2048 bytes.*`, Reason: ownWords, Source: dynalite + "getItem.js",
	},
	{
		Path: "error",
		Fake: v +
			`.*(The parameter cannot be converted to a numeric value|Attempting to store more than 38 significant digits in a Number).*`,
		Local: v +
			`.*(A value provided cannot be converted into a number|DynamoDB only supports precision up to 38 digits).*`,
		Reason: ownWords, Source: dynalite + "getItem.js",
	},
	{
		Path: "error",
		Fake: v +
			`.*Input collection (contains duplicates|\[.*\]of type BS contains duplicates\.|\[.*\] contains duplicates\.).*`,
		Local: v +
			`.*Input collection (contains duplicates|of type BS contains duplicates\.|\[.*\] contains duplicates).*`,
		Reason: ownWords, Source: dynalite + "getItem.js",
	},

	// Errors: parameters.
	{
		Path: "error",
		Fake: constraint +
			`.*'(returnConsumedCapacity|(transactItems\.\d+\.member\.\w+\.)?returnValuesOnConditionCheckFailure)' failed .*`, Local: anything, Diverges: true,
		Reason: lenient, Source: parity + "tier3/validation-ordering/updateItem.test.ts",
	},
	{
		Operations: writesOfOne, Path: "error", Fake: v + envelope + anything, Local: v + anything, If: sameButEnvelope,
		Reason: "Local has the texts of before 2026", Source: captures,
	},
	{
		Operations: writesOfOne + " Query", Path: "error", Fake: v + anything,
		Local: v + ofValues + anything + " for key .*", If: sameButKey,
		Reason: "Local has the texts of before 2026, which say which value it is",
		Source: parity + "tier3/error-messages/valueLayers.test.ts",
	},
	{
		Operations: writesOfOne, Path: "error", Fake: constraint + `.*('returnValues' failed |UPDATE_NEW).*|` + v +
			envelope + `ReturnValues can only be ALL_OLD or NONE`,
		Local: v + "Return values set to invalid value", Reason: ownWords, Source: dynalite + "putItem.js",
	},
	{
		Operations: "Query Scan", Path: "error", Fake: constraint + `.*'select' failed .*`,
		Local: v + "Select must be ALL_ATTRIBUTES, .*", Reason: ownWords, Source: dynalite + "query.js",
	},
	{
		Operations: "Query Scan", Path: "error", Fake: constraint + `.*'[lL]imit' failed .*`,
		Local: v + "Limit must be greater than or equal to 1", Reason: ownWords, Source: dynalite + "query.js",
	},
	{
		Operations: "Scan", Path: "error", Fake: constraint + `.*'(segment|totalSegments)' failed .*|` + v +
			`The (Segment|TotalSegments) parameter is .*`,
		Local: v +
			`(If (total segments|segment) is specified, .*|1 validation error detected: Value '.*' at 'segment' .*)`,
		Reason: ownWords, Source: dynalite + "scan.js",
	},
	{
		Operations: "TransactWriteItems TransactGetItems", Path: "error",
		Fake:   constraint + `Value .* at '(transactItems.*|clientRequestToken)' failed .*`,
		Local:  v + `(Value .* at '(transactItems|clientRequestToken).*' failed .*|Member must have length .*)`,
		Reason: ownWords, Source: docTransact,
	},
	{
		Operations: "BatchGetItem", Path: "error",
		Fake: constraint + `.*Member must have length (less|greater) than or equal to 1(00)?.*`,
		Local: v +
			`(Too many items requested for the BatchGetItem call|Provided list of item keys contains duplicates|The list of keys in RequestItems for BatchGetItem is required: .*)`,
		Reason: ownWords, Source: parity + "tier3/error-messages/batchGetItem.test.ts",
	},
	{
		Operations: "BatchWriteItem", Path: "error",
		Fake: v + `(Too many items requested .*|\d+ validation errors? detected: .*Member must have length .*)`,
		Local: v +
			`(Too many items requested for the BatchWriteItem call|Provided list of item keys contains duplicates|The batch write request list for a table cannot be null or empty: .*)`,
		Reason: ownWords, Source: parity + "tier3/validation-ordering/batchOperations.test.ts",
	},

	// Errors: expressions.
	{
		Path: "error", Fake: v + `Invalid \w+Expression: Invalid attribute type name found; type: .*`, If: sameSorted,
		Local:  v + `Invalid \w+Expression: Invalid attribute type name found; type: .*`,
		Reason: "the types are listed in another order, in which a Java set has them", Source: dynalite + "putItem.js",
	},
	{
		Path: "error", Fake: v + `Invalid \w+Expression: The BETWEEN operator requires .*`, If: sameButOperands,
		Local:  v + `Invalid \w+Expression: The BETWEEN operator requires .*`,
		Reason: "Local prints numbers as they were sent, and of binaries where they are in its memory",
		Source: dynalite + "query.js",
	},
	{
		Path:   "error",
		Fake:   v + "Invalid (Projection|Update)Expression: Two document paths overlap with each other; .*",
		Local:  v + "Invalid (Projection|Update)Expression: Two document paths overlap with each other; .*",
		Reason: "Local names another pair of paths, which may even be one that does not overlap",
		Source: dynalite + "getItem.js",
	},
	{
		Operations: "Query", Path: "error", Fake: v +
			`Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key`,
		Local: v +
			`(KeyConditionExpressions must only contain one condition per key|Query key condition not supported)`,
		Reason: ownWords,
		Source: parity + "tier3/error-messages/queryKeyConditionOperands.test.ts",
	},
	{
		Operations: "Query", Path: "error", Fake: v +
			`(Query condition missed key schema element: .*|Conditions can be of length 1 or 2 only|KeyConditionExpressions .*|Query key condition not supported)`,
		Local: v +
			`(Query condition missed key schema element|Conditions can be of length 1 or 2 only|Query key condition not supported|Key attributes must be scalars; .*)`, Reason: ownWords, Source: dynalite + "query.js",
	},
	{
		Operations: "Scan", Path: "error", Fake: v + "Invalid FilterExpression: The expression can not be empty;",
		Local:  v + "ExpressionAttribute(Values|Names) can only be specified when using expressions.*",
		Reason: "Local takes an empty filter of a Scan for none", Source: dynalite + "scan.js",
	},
	{
		Operations: "Query Scan", Path: "error",
		Fake: v +
			`The provided starting key (is invalid.*|does not match the range key predicate|is outside query boundaries .*)`,
		Local: v +
			`(Exclusive Start Key must have same size as table's key schema|The provided starting key .*|Type mismatch for attribute to update|A value provided cannot be converted into a number)`, Reason: ownWords, Source: dynalite + "query.js",
	},

	{
		Path: "error", Fake: v + "Supplied AttributeValue has more than one datatypes set, .*", FakeIsWrong: true,
		Local: v +
			"ExpressionAttributeValues contains invalid value: Supplied AttributeValue has more than one " +
			"datatypes set, .*",
		Reason: "the fake refuses such a value where it decodes it, before it knows what it is for",
		Source: dynalite + "query.js",
	},

	{
		Operations: "Query Scan", Path: "error",
		Fake: v + "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
		Local: v + "Cannot specify the (ProjectionExpression|AttributesToGet) when choosing to get " +
			"ALL_PROJECTED_ATTRIBUTES", Reason: oneError, Source: docQuery,
	},

	{
		Operations: "Query", Path: "error", Fake: v +
			"Filter Expression can only contain non-primary key attributes: .*",
		Local:  v + "Filter Expression can only contain non-primary key attributes: .*",
		Reason: "of several key attributes in a filter Local names another one", Source: dynalite + "query.js",
	},

	// Errors of updates.
	{
		Operations: "UpdateItem", Path: "error", Fake: v + runtime, Local: v + runtime,
		Reason: "of several errors in one update Local reports another one; which comes first is not documented. A " +
			"sum of too many digits is an overflow in tests that are run against the service",
		Source: alternator + "test_number.py",
	},
	{
		Operations: "UpdateItem TransactWriteItems", Path: "error", Fake: "ok|TransactionCanceledException: .*",
		Local: `(TransactionCanceledException: .*)?ValidationE.*The document path provided in the update expression is invalid for update.*`, Diverges: true,
		When:   func(r Request) bool { return onlyRemoves(r.Body) },
		Reason: "Local refuses to REMOVE a nested path where there is no item",
		Source: alternator + "test_update_expression.py",
	},
	{
		Operations: "UpdateItem TransactWriteItems", Path: "Attributes", Fake: "absent", Local: `\{.*\}`,
		Diverges: true, Reason: "Local creates the item of an update that only removes; tests that are run against " +
			"the service say that it does not", Source: scylla5862,
	},
	{
		Silent: func(r Request) bool { return onlyRemoves(r.Body) },
		Reason: "Local creates the item of an update that only removes, and says nothing of it", Source: scylla5862,
	},

	{
		Operations: "UpdateItem", Path: `Attributes\..*`, Fake: anything, Local: `[^a].*`, When: updatesNested,
		Reason: "Local returns the whole attribute of a nested path and not the path",
		Source: alternator + "test_returnvalues.py",
	},

	// Transactions.
	{
		Operations: "TransactWriteItems", Path: "error",
		Fake:   canceled + "One or more parameter values were invalid: Cannot update attribute .*",
		Local:  canceled + "One or more parameter values were invalid: Cannot update attribute .*",
		Reason: "Local gives the reason of one action alone", Source: docTransact,
	},
	{
		Operations: "TransactWriteItems TransactGetItems", Path: `CancellationReasons\[\d+\]\.Message`,
		Fake:   `"(The provided key element does not match the schema|One or more parameter values were invalid: .*)"`,
		Local:  `".*(` + localKey + `|Type mismatch for Index Key|Hash primary key values must be under 2048 bytes).*"`,
		Reason: ownWords, Source: docTransact,
	},
	{
		Operations: "TransactWriteItems ExecuteTransaction", Path: "error",
		Fake:   v + "Transaction request cannot include multiple operations on one item",
		Local:  "TransactionCanceledException: .*ConditionalCheckFailed.*|" + v + runtime,
		Reason: "Local judges conditions before it looks for one item twice", Source: docTransact,
	},
	{
		Operations: "TransactWriteItems", Path: "error", Fake: canceled + anything, Local: v + runtime,
		Reason: refuses, Source: docTransact,
	},
	{
		Operations: "TransactWriteItems TransactGetItems", Path: "error",
		Fake:  canceled + `Key attributes must be scalars; .*`,
		Local: v + `Key attributes must be scalars; .*`, Reason: refuses, Source: docTransact,
	},
	{
		Operations: "TransactWriteItems", Path: "error", Fake: canceled + `Key attributes must be scalars; .*`,
		Local: `ok|TransactionCanceledException: .*`, Diverges: true,
		Reason: "Local does not look at the paths of condition checks", Source: alternator + "test_gsi.py",
	},
	{
		Operations: "TransactWriteItems", Path: `CancellationReasons\[\d+\]\.Message`,
		Fake: `"The conditional request failed"`, Local: `"The conditional request failed\."`,
		Reason: "Local ends the text with a full stop if there is no item", Source: docTransact,
	},
	{
		Operations: "TransactWriteItems", Path: "error", Fake: "IdempotentParameterMismatchException: .+",
		Local:  "IdempotentParameterMismatchException: ",
		Reason: "Local gives no text", Source: docTransact,
	},

	// Numbers.
	{
		Path: `.*\.(N|NS\[\d+\])`, Fake: `".*"`, Local: `".*"`, If: sameNumber,
		Reason: "Local does not normalise numbers inside of lists and maps, nor all that it has computed",
		Source: docTypes,
	},

	// Indexes.
	{
		Operations: "Scan", Path: `Count|Items.*|ConsumedCapacity.*`, Fake: anything, Local: anything,
		When: filtersIndex,
		Reason: "Local filters a Scan of an index by attributes that the index does not have, and does not count " +
			"the rows that it fetches",
		Source: "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/indexQualifier.test.ts",
	},

	{
		Operations: "Query", Path: `ConsumedCapacity\..*`, Fake: anything, Local: anything, When: projectsInto,
		Reason: "Local fetches rows for a path into an attribute that a local index has", Source: docCapacity,
	},

	// Pages.
	{
		Operations: "Query", Path: "ScannedCount", Fake: `\[.*,0\]`, Local: `\[.*\]`, If: emptyPage,
		Reason: "Local gives no LastEvaluatedKey after Limit rows if the condition on the key leaves no others",
		Source: docQuery,
	},

	// Capacity.
	{
		Operations: "DeleteItem", Path: "ConsumedCapacity", Fake: "absent", Local: `\{"CapacityUnits":1,.*`,
		Reason: "Local reports the consumption of a delete that finds nothing, even where the request does " +
			"not ask for it", Source: docCapacity,
	},
	{
		Operations: "TransactGetItems TransactWriteItems",
		Path:       `ConsumedCapacity\[\d+\](\..*)?\.(Read|Write)CapacityUnits`, Fake: `[0-9]+`, Local: "absent",
		Reason: undivided, Source: docTransact,
	},
	{
		Operations: "Query Scan",
		Path:       `ConsumedCapacity\.((Table|(Local|Global)SecondaryIndexes\.\w+)\.)?CapacityUnits`, Fake: "1|0.5",
		Local: "0", Reason: "Local takes no units for a read that finds nothing", Source: docCapacity,
	},
	{
		Operations: "Query", Path: `ConsumedCapacity\.(Table\.)?CapacityUnits`, Fake: "[0-9.]+", Local: "[0-9.]+",
		When: projectsFromPart, If: less,
		Reason: "Local fetches rows from the table though a local index has all that is asked for", Source: docLSI,
	},
	{
		Operations: "BatchGetItem", Path: `ConsumedCapacity\[\d+\]\.(Table\.)?CapacityUnits`, Fake: "[0-9]+",
		Local: "[0-9]+", If: more,
		Reason: "Local takes no units for items of a batch that do not exist", Source: docCapacity,
	},
	{
		Operations: "TransactWriteItems", Path: `ConsumedCapacity\[\d+\]\.(.*\.)?CapacityUnits`, Fake: "[0-9]+",
		Local: "[0-9]+", If: more,
		Reason: "Local does not count two units for each action of a transaction", Source: docCapacity,
	},
	{
		Operations: "PutItem UpdateItem DeleteItem BatchWriteItem TransactWriteItems",
		Path:       `ConsumedCapacity(\[\d+\])?\.(GlobalSecondaryIndexes(\.\w+)?(\.CapacityUnits)?|LocalSecondaryIndexes\.\w+\.CapacityUnits)`,
		Fake:       "absent|[0-9]+", Local: `\{.*|[0-9]+`, If: moreIndexes,
		Reason: "Local counts a write to an index for an item that has only a part of the index's key, and is not " +
			"in it; and 100 bytes more for each row in an index, which the documentation counts for storage only",
		Source: docIndexes,
	},
	{
		Operations: "PutItem UpdateItem DeleteItem BatchWriteItem TransactWriteItems",
		Path:       `ConsumedCapacity(\[\d+\])?\.CapacityUnits`,
		Fake:       "[0-9]+", Local: "[0-9]+", If: less,
		Reason: "the sum includes the units that Local counts too much for indexes", Source: docIndexes,
	},
	{
		Operations: "BatchWriteItem", Path: `ConsumedCapacity\[\d+\]\.(Table\.)?CapacityUnits`, Fake: "[0-9]+",
		Local: "[0-9]+", If: less,
		Reason: "Local counts two units for a delete in a batch that finds nothing", Source: docCapacity,
	},
}, slices.Concat(localStatements, localLegacy, localMade)...)

// more says that the fake has the larger number.
func more(fake, local string) bool {
	f, ferr := strconv.ParseFloat(fake, 64)
	l, lerr := strconv.ParseFloat(local, 64)
	return ferr == nil && lerr == nil && f > l
}

// moreIndexes says that Local counts an index, or more for it.
func moreIndexes(fake, local string) bool { return fake == "absent" || less(fake, local) }

// emptyPage says that the fake gives a last page without rows.
func emptyPage(fake, local string) bool { return fake == strings.TrimSuffix(local, "]")+",0]" }

// filtersIndex says whether a request filters a Scan of an index which does not have everything, or asks a local one
// for more than it has.
func filtersIndex(r Request) bool {
	name := r.Body["IndexName"]
	all := r.Body["Select"] == "ALL_ATTRIBUTES" || r.Body["ProjectionExpression"] != nil
	return (name == "byHeight" || name == "byBoth" || name == "localBytes") &&
		(r.Body["FilterExpression"] != nil || all)
}

// projectsFromPart says whether a request names attributes of a local index that does not hold all of a row.
func projectsFromPart(r Request) bool {
	return r.Body["IndexName"] == "localBytes" &&
		(r.Body["ProjectionExpression"] != nil || r.Body["AttributesToGet"] != nil)
}

// projectsInto says whether a request reads paths into attributes from a local index.
func projectsInto(r Request) bool {
	text, _ := r.Body["ProjectionExpression"].(string)
	return r.Body["IndexName"] == "localBytes" && strings.ContainsAny(text, "[.")
}

var nestedTarget = regexp.MustCompile(`(SET|REMOVE|,) #?[a-z]+[.[]`)

// updatesNested reports whether an update has a path into an attribute and asks for the updated values.
func updatesNested(r Request) bool {
	text, _ := r.Body["UpdateExpression"].(string)
	which, _ := r.Body["ReturnValues"].(string)
	return strings.HasPrefix(which, "UPDATED_") && nestedTarget.MatchString(text)
}

func less(fake, local string) bool { return more(local, fake) }

// operands are the values in a message about the bounds of BETWEEN.
var operands = regexp.MustCompile(`\{[NB]:[^}]*\}`)

// sameButOperands says that two messages differ in how they print values only.
func sameButOperands(fake, local string) bool {
	return operands.ReplaceAllString(fake, "") == operands.ReplaceAllString(local, "")
}

var braces = regexp.MustCompile(`\{[^}]*\}`)

// sameSorted says that two messages differ in the order of a list only.
func sameSorted(fake, local string) bool {
	return braces.ReplaceAllStringFunc(fake, sortedList) == braces.ReplaceAllStringFunc(local, sortedList)
}

// sameNumber says that two numbers are one, which the fake gives back in its normal form.
func sameNumber(fake, local string) bool {
	f, l := strings.Trim(fake, `"`), strings.Trim(local, `"`)
	return f == normalNumber(f) && f == normalNumber(l)
}

// onlyDeletes says whether AttributeUpdates only delete.
func onlyDeletes(updates object) bool {
	for _, name := range sortedKeys(updates) {
		if of, _ := updates[name].(object); of["Action"] != "DELETE" {
			return false
		}
	}
	return true
}

// onlyRemoves says whether a request has an update that only removes and deletes.
func onlyRemoves(v any) bool {
	switch v := v.(type) {
	case object:
		if text, ok := v["UpdateExpression"].(string); ok && !strings.Contains(text, "SET ") &&
			!strings.Contains(text, "ADD ") {
			return true
		}
		if updates, ok := v["AttributeUpdates"].(object); ok && onlyDeletes(updates) {
			return true
		}
		for _, name := range sortedKeys(v) {
			if onlyRemoves(v[name]) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if onlyRemoves(inner) {
				return true
			}
		}
	}
	return false
}
