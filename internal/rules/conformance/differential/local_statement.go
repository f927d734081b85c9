package differential

import (
	"regexp"
	"strings"
)

const (
	unreported = "Local does not say what a statement consumes"
	aborts     = "Local fails with an error of its own"
	inTables   = "Local looks at the table, the key or the item first"
)

const (
	docSelect     = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.select.html"
	docOperators  = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-operators.html"
	docStatement  = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteStatement.html"
	docStatements = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ExecuteTransaction.html"
	docBatch      = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchExecuteStatement.html"
	nubo          = "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/"
	floci         = "https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/dynamodb/"
	qlGrammar     = parity + "tier3/error-messages/partiqlGrammar.test.ts"
	qlFunctions   = parity + "tier3/error-messages/partiqlFunctions.test.ts"
	qlIndex       = nubo + "tier2/partiql/indexQualifier.test.ts"
	qlTransaction = nubo + "tier2/partiql/executeTransaction.test.ts"
	flociEdge     = floci + "DynamoDbPartiQLEdgeCaseIntegrationTest.java"
	flociSyntax   = floci + "DynamoDbPartiQLDocumentedSyntaxIntegrationTest.java"
)

const (
	// inStatement is how an error of a statement begins.
	inStatement = v + `(Validation failed in TransactStatements\[\d+\]: )?`
	emptyKey    = `One or more parameter values are not valid\. The AttributeValue for a key attribute cannot contain an empty (string|binary) value.*`
	bad         = `One or more parameter values were invalid: `
	internal    = `500 InternalFailure: .*`
)

// localStatements are the known differences about statements of PartiQL.
var localStatements = append([]*Known{
	// Answers.
	{
		Operations: statements, Path: `ConsumedCapacity.*`, Fake: `[\[{].*`, Local: "absent",
		Reason: unreported, Source: docStatement,
	},
	{
		Operations: "ExecuteStatement", Path: `Items.*`, Fake: anything, Local: anything, When: mirrorsKey,
		Reason: "Local reads a value, an operator and a sort key as if they stood the other way round",
		Source: docOperators,
	},
	{
		Operations: "ExecuteTransaction BatchExecuteStatement", Path: `Responses\[\d+\]\.Item.*`, Fake: anything,
		Local: anything, When: selectsInto,
		Reason: "Local gives a path of a SELECT as GetItem does here, and not under its last name as in " +
			"ExecuteStatement", Source: qlTransaction,
	},
	{
		Operations: "ExecuteStatement", Path: `Items.*`, Fake: anything, Local: anything, When: ordersBackwards,
		Reason: "Local gives some partitions forwards where ORDER BY says DESC", Source: docSelect,
	},
	{
		Operations: "ExecuteStatement", Path: `Items.*`, Fake: anything, Local: anything, When: filtersFetched,
		Reason: "Local fetches what the index lacks, and filters by it", Source: qlIndex,
	},
	{
		Operations: "ExecuteStatement BatchExecuteStatement", Path: `(Items|Responses\[\d+\]\.Item).*`, Fake: anything,
		Local: anything, When: returnsNested,
		Reason: "Local returns the whole attribute of a nested path and not the path",
		Source: alternator + "test_returnvalues.py",
	},
	{
		Operations: "ExecuteTransaction", Path: `CancellationReasons\[\d+\]\.Item`, Fake: `\{.*`, Local: "absent",
		When: checks, Reason: "Local gives no item of an EXISTS", Source: docStatements,
	},
	{
		Operations: "ExecuteTransaction", Path: `CancellationReasons\[\d+\]\.Message`,
		Fake: `"The conditional request failed"`, Local: `"The conditional request failed\."`,
		Reason: "Local ends the text with a full stop if there is no item", Source: docStatements,
	},

	{
		Operations: "ExecuteTransaction BatchExecuteStatement",
		Path:       `(CancellationReasons\[\d+\]\.|Responses\[\d+\]\.Error\.)Item\..*\.(M|L)`, Fake: `\{\}|\[\]`,
		Local: "absent", Reason: "Local gives an empty map in a document no type here", Source: docStatements,
	},

	// What Local does not check, or cannot do.
	{
		Operations: "ExecuteStatement", Path: "error",
		Fake:   v + "(Must have at least one non-optional hash key condition .*|Key attributes must be scalars; .*)",
		Local:  internal + "|" + v + bad + "Condition parameter type does not match schema type",
		Reason: "Local fails over ORDER BY", Source: docSelect,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: inStatement +
			`(Overlapping conditions with range keys .*|Too many decomposed read operations .*|Must have .* ORDER BY clause.*)`,
		Local: "ok|" + internal + "|" + v + emptyKey, Reason: lenient, Source: flociEdge,
	},
	{
		Operations: statements, Path: "error", Fake: inStatement + `Unexpected path component at .*`,
		Local: "ok|ConditionalCheckFailedException: .*|" + v +
			"(Argument to ORDER BY must be|The provided expression refers to) .*|" + inStatement +
			`Select statements within ExecuteTransaction must .*`,
		Reason: lenient, Source: qlGrammar,
	},
	{
		Operations: "ExecuteStatement", Path: "error",
		Fake: v + bad + `(Secondary|Global secondary) index \w+ does not project .*`,
		Local: "ok|" + internal + "|" + v + bad +
			`(Global secondary index \w+ does not project .*|Condition parameter type does not match schema type)|` +
			v + emptyKey,
		Reason: "Local filters by attributes that the index does not have", Source: qlIndex,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: "ok", Local: internal + "|" + v + "(" + bad +
			"Condition parameter type does not match schema type|Key attribute's data type .*)", When: ordersOrIndexed,
		Reason: "Local fails over ORDER BY, and where a key of an index is tested once more", Source: docSelect,
	},
	{
		Operations: statements, Path: "error", Fake: constraint +
			`.*'(([a-z.A-Z0-9]*\.)?returnValuesOnConditionCheckFailure|clientRequestToken|([a-z.A-Z0-9]*\.)?parameters)' failed .*`,
		Local: anything, Diverges: true, Reason: lenient, Source: docStatements,
	},

	{
		Operations: statements, Path: "error", Fake: inStatement + `Invalid attribute type name found; .*`,
		Local: inStatement + `Invalid attribute type name found; .*`, If: sameSorted,
		Reason: "the types are listed in another order, in which a Java set has them", Source: qlFunctions,
	},

	{
		Operations: statements, Path: "error", Fake: inStatement +
			`(Unsupported operator in Update Expression\. .*|Unrecognized function: if_not_exists .*)`,
		Local: "ok|" + v + runtime, Diverges: true, Reason: lenient, Source: qlFunctions,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: v +
			"(Invalid NextToken|Unexpected path component at .*|Strongly consistent read is not supported .*)",
		Local: internal, Reason: aborts, Source: docStatement,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: "ok",
		Local:  v + emptyKey,
		Reason: "Local looks for empty keys in conditions that name no key; what the service does is not known",
		Source: docSelect,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: v + emptyKey,
		Local: "ok", When: readsRanges,
		Reason: "Local looks for empty keys in the last of several ranges alone", Source: docSelect,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: v + "Validation failed in TransactStatements.*",
		Local: "(TransactionCanceledException|ResourceNotFoundException): .*|" +
			v + "ExecuteTransaction API does not support both .*", Reason: inTables, Source: docStatements,
	},
	{
		Operations: statements, Path: "error", Fake: inStatement + "Key attributes must be scalars; .*",
		Local: inStatement + "Key attributes must be scalars; .*", Reason: ownWords, Source: docStatement,
	},

	// Transactions.
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: `TransactionCanceledException: .*DuplicateItem.*`,
		Local: `TransactionCanceledException: .*`, If: sameButDuplicate,
		Reason: "Local gives an item that is there the code of an error of validation", Source: qlTransaction,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: canceled + anything, Local: v + runtime,
		Reason: refuses, Source: docStatements,
	},
	{
		Operations: "ExecuteTransaction", Path: "error",
		Fake: canceled + `(The provided key element does not match the schema|Multiple conditions on same key .*|` +
			bad + `.*|Nesting Levels .*)`,
		Local: `TransactionCanceledException: .*`, Reason: ownWords, Source: flociEdge,
	},
	{
		Operations: "ExecuteTransaction", Path: `CancellationReasons\[\d+\]\.Message`,
		Fake:   `"(The provided key element does not match the schema|` + bad + `.*)"`,
		Local:  `"(Key attribute.*|.*Type mismatch for Index Key)"`,
		Reason: ownWords, Source: flociEdge,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: canceled + `Key attributes must be scalars; .*`,
		Local:  inStatement + `Key attributes must be scalars; .*`,
		Reason: refuses, Source: docStatements,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: "TransactionCanceledException: .*ResourceNotFound.*",
		Local:  "ResourceNotFoundException: Requested resource not found",
		Reason: refuses, Source: flociEdge,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: "IdempotentParameterMismatchException: .*",
		Local: "IdempotentParameterMismatchException: .*", Reason: ownWords, Source: docStatements,
	},

	// Errors of updates.
	{
		Operations: "ExecuteStatement BatchExecuteStatement", Path: "error", Fake: v + runtime, Local: v + runtime,
		Reason: "of several errors in one update Local reports another one; which comes first is not documented. A " +
			"sum of too many digits is an overflow in tests that are run against the service",
		Source: alternator + "test_number.py",
	},

	// Batches.
	{
		Operations: "BatchExecuteStatement", Path: "error", Fake: "ok",
		Local: v +
			`.*(Supplied AttributeValue is empty|cannot be converted into a number|precision up to 38 digits|more than one datatypes|` +
			`may not be empty|should not be empty|contains duplicates|Nesting Levels|Number (over|under)flow|Null attribute value).*`, When: broke, Diverges: true,
		Reason: "Local refuses the batch and not the statement whose parameter is wrong", Source: flociEdge,
	},
}, worded...)

// worded are errors that Local words otherwise: a pattern of the fake's text, and one of Local's.
var worded = func() (all []*Known) {
	for _, w := range []struct{ operations, fake, local, reason, source string }{
		{statements, inStatement + `Statement wasn't well formed, can't be processed: .*`,
			inStatement + `(Statement wasn't well formed, can't be processed: .*|Expected .*|Unsupported clause: .*)`,
			ownWords, qlGrammar},
		{statements, `DuplicateItemException: (.*)`, `DuplicateItem(Exception)?: .*`, ownWords,
			nubo + "tier2/partiql/executeStatement.test.ts"},
		{statements, inStatement + `Unsupported clause: \w+ at .*`,
			inStatement + `(Unsupported clause: .*|Unsupported token in expression: DISTINCT)`, ownWords, qlGrammar},
		{statements, inStatement + `Unsupported operation: .*`,
			inStatement +
				`(Invalid operation\. Only select, .*|Unsupported operation in transaction\.|IN operator must have .*|EXISTS can only be used in ExecuteTransaction .*|The arguments to AND/OR must be Expressions|Statement wasn't well formed.*|Unsupported operation: .*)`, ownWords, qlGrammar},
		{statements, inStatement + `Unsupported operator in Condition Expression\. .*`,
			inStatement + `Unsupported operator in Condition Expression\. .*`, ownWords, qlGrammar},
		{statements, inStatement + `Unsupported data type.*`,
			inStatement +
				`(Unsupported .*|Tuple keys must be of type String\. .*|MISSING must be compared using IS operator)`,
			ownWords, qlGrammar},
		{statements, inStatement + `Unrecognized function: .*`,
			inStatement + `(Unrecognized function: .*|Incorrect operand type .*|The function is not allowed in .*)`,
			ownWords, qlFunctions},
		{statements, inStatement + `FROM clause may only contain a single table name`,
			inStatement +
				`(Unexpected from source|Only select from a single table or index is supported\.|FROM clause may only contain .*)`, ownWords, qlGrammar},
		{statements, inStatement + `Incorrect number of operands .*`,
			inStatement + `IN operator must have a left hand argument .*`, ownWords, qlFunctions},
		{statements, inStatement + `Duplicate keys in tuple\. .*`,
			inStatement + `Duplicate keys in tuple\. .* at .*`, ownWords, qlGrammar},
		{statements, inStatement + `Empty bags are not supported`,
			inStatement + `Empty bags are not supported at .*`, ownWords, qlGrammar},
		{statements, inStatement + `.*Input collection .* contains duplicates.*`,
			inStatement + `.*Input collection .*contains duplicates.*`, ownWords, qlGrammar},
		{statements, inStatement + `Nesting Levels have exceeded supported limits.*`,
			inStatement + `Nesting Levels have exceeded supported limits`, ownWords, flociEdge},
		{statements,
			inStatement + `(Number (overflow|underflow)\. .*|Attempting to store more than 38 .*) under root.*`,
			inStatement + `(Number (overflow|underflow)\. .*|DynamoDB only supports precision up to 38 digits)`,
			ownWords, qlGrammar},
		{statements, inStatement + `(The (first|second) argument to )?SET_(ADD|DELETE) must .*`,
			inStatement + `(The (first|second) argument to )?SET_(ADD|DELETE) must .*`, ownWords, qlFunctions},
		{statements, inStatement + `Two document paths (overlap|conflict) with each other; .*`,
			inStatement + `Two document paths (overlap|conflict) with each other; .*`,
			"Local names another pair of paths", docUpdates},
		{statements, v + `The table does not have the specified index`,
			v + `The table does not have the specified index: .*`, ownWords, qlIndex},
		{statements, v + `PartiQL statements cannot be executed on .*`,
			v + `(PartiQL statements cannot be executed on .*|Consistent reads are not supported on .*|Only single item select is supported)`, ownWords, parity + "tier3/error-messages/partiqlMultiAttributeIndex.test.ts"},
		{statements, v + `Strongly consistent read is not supported on Global Secondary Indexes`,
			v + `Consistent reads are not supported on global secondary indexes`, ownWords, qlIndex},
		{statements, v + `Attribute \S+ in ORDER BY clause must be part of the primary key`,
			v + `Variable reference \S+ in ORDER BY .*`, ownWords, flociSyntax},
		{statements, v + `(The provided key element does not match the schema|` + bad + `Type mismatch for key .*)`,
			v + `Key attribute's data type should match .*`, ownWords, flociEdge},
		{statements, v + bad + `Missing the key .*`, v + `Key attribute should be present in the item: .*`, ownWords,
			flociEdge},
		{statements, v + `(Nesting Levels have exceeded supported limits.*|` + bad +
			`(Type mismatch for Index Key|Cannot update attribute) .*|Unrecognized function: .*|Unsupported operator in Update Expression\. .*)`, `ConditionalCheckFailedException: .*|TransactionCanceledException: .*ConditionalCheckFailed.*`, inTables, flociEdge},
		{"BatchExecuteStatement",
			v + `(Unexpected path component|Unrecognized function:|Unsupported|Incorrect|Invalid attribute type|The) .*`, v + `Only single item select is supported`, inTables, docBatch},
		{statements, constraint + `.*`,
			v + `(Number of parameters in request and statement don't match\.|Statement wasn't well formed.*|Invalid NextToken|The statement was empty\.|Duplicate identifiers in select clause: .*|ExecutePartiQLTransaction can not have empty .*` +
				`|Validation failed in TransactStatements.*|Member must have length .*|(BatchWriteItem|BatchGetItem) cannot (write|fetch) more than 25 items)|` + internal, ownWords, docStatement},
		{"BatchExecuteStatement ExecuteTransaction",
			inStatement + `(Select statements within .*|Too many decomposed .*|Overlapping conditions .*)`,
			inStatement + `(Only single item select is supported|Select statements within .*)`, ownWords,
			nubo + "tier2/partiql/batchExecuteStatement.test.ts"},
	} {
		all = append(all, &Known{
			Operations: w.operations, Path: "error", Fake: w.fake, Local: w.local, Reason: w.reason, Source: w.source,
		})
	}
	return all
}()

// mirrored is a value, an operator and a name.
var mirrored = regexp.MustCompile(`(\?|'[^']*'|-?[0-9][0-9.E+-]*) (<|>=) "?(pk|sk|n|b)\b`)

// mirrorsKey says whether a statement compares a value with a sort key, in this order.
func mirrorsKey(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return mirrored.MatchString(text)
}

// pathColumn is a path in the list of a SELECT.
var pathColumn = regexp.MustCompile(`^SELECT [^*]*[a-z]"?[.\[].* FROM`)

// ordersBackwards says whether a statement has ORDER BY with DESC.
func ordersBackwards(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") && strings.HasSuffix(text, " DESC")
}

// filtersFetched says whether a statement has a WHERE over an index that lacks attributes.
func filtersFetched(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return contains("byHeight localBytes", r.index()) && strings.Contains(text, " WHERE ")
}

// manyRanges is a condition that may read several ranges.
var manyRanges = regexp.MustCompile(`(?i)\) OR \(`)

func readsRanges(r Request) bool { return anyStatement(r, manyRanges.MatchString) }

// nestedChange is a path into an attribute as the target of an UPDATE that returns what it has changed.
var nestedChange = regexp.MustCompile(`(SET|REMOVE|,) "?[a-z]+"?[.\[].* RETURNING MODIFIED`)

func returnsNested(r Request) bool { return anyStatement(r, nestedChange.MatchString) }

func selectsInto(r Request) bool { return anyStatement(r, pathColumn.MatchString) }

func checks(r Request) bool {
	return anyStatement(r, func(text string) bool { return strings.HasPrefix(text, "EXISTS") })
}

func anyStatement(r Request, f func(string) bool) bool {
	for _, text := range statementsOf(r) {
		if f(text) {
			return true
		}
	}
	return false
}

// ordersOrIndexed says whether a statement has ORDER BY, or reads an index.
func ordersOrIndexed(r Request) bool {
	text, _ := r.Body["Statement"].(string)
	return strings.Contains(text, " ORDER BY ") || r.index() != ""
}

// broke says whether a request is broken on purpose.
func broke(r Request) bool { return r.Breaks != "" }

// sameButDuplicate says that Local calls an item that is there an error of validation, and that nothing else differs.
func sameButDuplicate(fake, local string) bool {
	same := strings.NewReplacer("DuplicateItem", "ValidationError", "failed.", "failed")
	return same.Replace(fake) == same.Replace(local)
}
