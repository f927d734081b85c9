package conformance

// Answers that DynamoDB Local gives in many cases.
const (
	localNoTable = "ResourceNotFoundException: Cannot do operations on a non-existent table"
	localBadName = "ValidationException: Invalid table/index name.  Table/index names must be between 3 and " +
		"255 characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
	localKeyCount = "ValidationException: The number of conditions on the keys is invalid"
	localKeySize  = "ValidationException: Hash primary key values must be under 2048 bytes, and range primary " +
		"key values must be under 1024 bytes"
	localReturnValues = "ValidationException: Return values set to invalid value"
	localNotNumber    = "ValidationException: A value provided cannot be converted into a number"
	localKeyMissing   = "ValidationException: One of the required keys was not given a value"
	localKeyType      = "ValidationException: One or more parameter values were invalid: Type mismatch for key"
	localValueType    = "ValidationException: Invalid attribute value type"
	localFailure      = "InternalFailure: The request processing has failed because of an unknown error, exception " +
		"or failure."
	localNoKey = "ValidationException: Cannot have null key for GetItem, DeleteItem, or UpdateItem"
)

// Reasons of DynamoDB Local's answers in many cases.
const (
	ownWords      = "Local refuses it too, in words of its own"
	lenient       = "Local does not check it"
	tableFirst    = "Local looks for the table before anything else"
	oneConstraint = "Local reports one of the broken constraints"
	unasked       = "Local reports the consumption of a delete that finds nothing, even where the request does " +
		"not ask for it"
	undivided = "Local does not say whether units were read or written"
	creates   = "Local creates the item; tests that are run against the service say that it does not"
	whole     = "Local returns the whole attribute and not the path"
	dot       = "Local ends the text with a full stop if there is no item"
	twice     = "Local judges conditions before it looks for one item twice"
	refuses   = "Local refuses the request where the service cancels the transaction"
)

// hashKeyFirst is Local's answer to a sort key that stands first, in a table and in an index.
const hashKeyFirst = "ValidationException: Invalid key order. " +
	"Hash Key must be specified first in key schema, Range Key must be " +
	"specifed second" //nolint:misspell // the spelling is Local's

// Local's texts about a set with one element twice.
const (
	localDuplicates = "ValidationException: One or more parameter values were invalid: Input collection [q, p, " +
		"q] contains duplicates"
	localDuplicateValue = "ValidationException: ExpressionAttributeValues contains invalid value: One or more " +
		"parameter values were invalid: Input collection [q, p, q] contains duplicates for key :x"
)

// localDeviations are the answers of DynamoDB Local 3.3.1 that differ from DynamoDB's. A new version with other answers
// fails the test until this list has them.
var localDeviations = []deviation{
	{"item/long name", steps{1, 2}, localFailure, "Local fails"},
	{"item/long name in a legacy parameter", steps{2}, "nothing", lenient},
	{"item/long name in a legacy parameter", steps{3}, localInternal, "Local fails"},
	{"item/exponents", steps{2, 3, 4, 7}, localNotNumber, ownWords},
	{"item/exponents", steps{5, 6}, "ok", lenient},
	{"query/two conditions on a key", steps{1},
		"ValidationException: KeyConditionExpressions must only contain one condition per key", ownWords},
	{"update/REMOVE of a path in nothing", steps{1},
		"ValidationException: The document path provided in the update expression is invalid for update",
		"Local refuses it"},
	{"index_create/long name of an attribute", steps{1},
		"ValidationException: Names of key attributes and attributes projected into an index must be between 1 and " +
			"255 characters, inclusive", ownWords},
	{"table/exists", steps{1}, "ResourceInUseException: Cannot create preexisting table", ownWords},
	{"table/no table", steps{1, 2}, localNoTable, ownWords},
	{"table/list limit", steps{1}, "ValidationException: Limit must be greater than or equal to 1", ownWords},
	{"table/list limit", steps{2}, "ValidationException: Limit in ListTables must be <= 100", ownWords},
	{"table/short name", steps{1, 2}, localBadName, ownWords},
	{"table/long name", steps{1}, localBadName, ownWords},
	{"table/characters of a name", steps{1}, localBadName, ownWords},
	{"table/arn of another region", steps{1, 2}, localNoTable, "Local looks at the name in an ARN only"},
	{"table/everything wrong with a name", steps{1}, localBadName, ownWords},
	{"table/no name", steps{1, 2},
		"ValidationException: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
		ownWords},
	{"table/empty name", steps{1}, localBadName, ownWords},
	{"table/no throughput", steps{1},
		"ValidationException: No provisioned throughput specified for the table", ownWords},
	{"table/throughput on demand", steps{1}, "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0", lenient},
	{"table/no units", steps{1},
		"ValidationException: Table read and write throughput must be at least 1, and cannot be null", ownWords},
	{"table/billing mode", steps{1}, localFailure, "Local fails"},
	{"table/attribute type", steps{1}, "ValidationException: Member must satisfy enum value set: [B, N, S]", ownWords},
	{"table/defined twice", steps{1}, "ValidationException: Cannot have two attributes with the same name", ownWords},
	{"table/defined twice otherwise", steps{1},
		"ValidationException: Cannot have two attributes with the same name", ownWords},
	{"table/key type", steps{1}, "table rows (pk S HASH, sk S RANGE) PAY_PER_REQUEST 0/0", lenient},
	{"table/no keys", steps{1},
		"ValidationException: No defined key schema.  A key schema containing at least a hash key must be defined " +
			"for all tables", ownWords},
	{"table/range first", steps{1}, hashKeyFirst, ownWords},
	{"table/two partition keys", steps{1},
		"ValidationException: Too many hash keys specified.  All Dynamo DB tables must have exactly one hash key",
		ownWords},
	{"table/one attribute twice", steps{1}, "ValidationException: Two keys can not have the same name", ownWords},
	{"table/undefined key", steps{1},
		"ValidationException: Range Key not specified in Attribute Definitions.  Type unknown.", ownWords},
	{"table/undefined partition key", steps{1},
		"ValidationException: Hash Key not specified in Attribute Definitions.  Type unknown.", ownWords},
	{"table/unused definition", steps{1},
		"ValidationException: The number of attributes in key schema must match the number of attributes defined in " +
			"attribute definitions.", ownWords},

	{"item/delete is idempotent", steps{2}, "ok; 1 units", unasked},
	{"item/no item", steps{1}, "ValidationException: Item to put in PutItem cannot be null", ownWords},
	{"item/no key", steps{1, 2, 3}, localNoKey, ownWords},
	{"item/no table", steps{1, 2, 3, 4, 5, 6, 7}, localNoTable, ownWords},
	{"item/capacity of a write", steps{5}, "ok; 1 units", unasked},

	{"key/put without a key", steps{1, 2}, localKeyMissing, ownWords},
	{"key/put with a key of another type", steps{1}, localKeyType, ownWords},
	{"key/put with a key of another type", steps{2}, localValueType, ownWords},
	{"key/key with too little", steps{1, 2, 3}, localKeyCount, ownWords},
	{"key/key with too much", steps{1}, localKeyCount, ownWords},
	{"key/key with another name", steps{1}, localKeyMissing, ownWords},
	{"key/key of another type", steps{1}, localKeyType, ownWords},
	{"key/key of another type", steps{2}, localValueType, ownWords},
	{"key/long partition key", steps{2, 3}, localKeySize, ownWords},
	{"key/long sort key", steps{2, 3}, localKeySize, ownWords},
	{"key/partition key alone", steps{3}, localKeyCount, ownWords},

	{"number/39 digits", steps{1}, "ValidationException: DynamoDB only supports precision up to 38 digits", ownWords},
	{"number/no number", steps{1}, localNotNumber, ownWords},
	{"number/empty", steps{1}, localNotNumber, ownWords},
	{"number/NaN", steps{1}, localNotNumber, ownWords},
	{"number/infinity", steps{1}, localNotNumber, ownWords},
	{"number/space", steps{1}, localNotNumber, ownWords},
	{"number/hexadecimal", steps{1}, localNotNumber, ownWords},
	{"number/sum to zero", steps{1}, "{n: 0.0}", "Local does not normalise the zero that a sum comes to"},
	{"number/number of a value", steps{1, 2, 3},
		"ValidationException: ExpressionAttributeValues contains invalid value: A value provided cannot be " +
			"converted into a number for key :v", ownWords},
	{"number/empty number by operation", steps{1, 2, 3, 4, 5}, localNotNumber, ownWords},

	{"set/duplicate string", steps{1},
		"ValidationException: One or more parameter values were invalid: Input collection [p, q, p] " +
			"contains duplicates", ownWords},
	{"set/duplicates in the older layer", steps{1, 2}, localDuplicates, ownWords},
	{"set/duplicates in the older layer", steps{3}, localDuplicateValue, ownWords},
	{"set/duplicate in the filter of a query", steps{1}, localDuplicateValue, ownWords},
	{"set/duplicate in the filter of a query", steps{2}, localDuplicates, ownWords},
	{"expression/values without an expression", steps{1},
		"ValidationException: ExpressionAttributeValues can only be specified when using expressions: " +
			"ConditionExpression is null", ownWords},
	{"expression/values of an update without an expression", steps{1},
		"ValidationException: ExpressionAttributeValues can only be specified when using expressions: " +
			"UpdateExpression and ConditionExpression are null", ownWords},
	{"set/duplicate number", steps{1}, "ValidationException: Input collection contains duplicates", ownWords},
	{"set/duplicate binary", steps{1},
		"ValidationException: One or more parameter values were invalid: Input collection of type BS contains " +
			"duplicates.", ownWords},

	{"condition/missing item has no attributes", steps{1}, "ok; 1 units", unasked},
	{"condition/missing item is unequal", steps{1}, "ok; 1 units", unasked},

	{"function/attribute_type of no type", steps{1},
		"ValidationException: Invalid ConditionExpression: Invalid attribute type name found; type: STRING, valid " +
			"types: {N,BS,L,B,NULL,M,S,SS,NS,BOOL}",
		"the types are listed in another order, in which a Java set has them"},

	{"update/REMOVE creates nothing", steps{2}, `{pk: "a", sk: "b"}`, creates},
	{"update/DELETE creates nothing", steps{2}, `{pk: "a", sk: "b"}`, creates},

	{"returnvalues/put ALL_NEW", steps{1, 2}, localReturnValues, ownWords},
	{"returnvalues/delete ALL_OLD", steps{2}, "ok; 1 units", unasked},
	{"returnvalues/delete UPDATED_NEW", steps{1}, localReturnValues, ownWords},
	{"returnvalues/update UPDATED_OLD", steps{1}, "{doc: {in: 1, out: 2}, x: 1, y: 2}", whole},
	{"returnvalues/update UPDATED_NEW", steps{1}, "{doc: {in: 9, out: 2}, x: 9, z: 9}", whole},
	{"returnvalues/no such value", steps{1, 2}, localReturnValues, ownWords},

	{"query/no partition key", steps{1}, "ValidationException: Query condition missed key schema element", ownWords},
	{"query/no key attribute", steps{1}, "ValidationException: Query condition missed key schema element", ownWords},
	{"query/nested key", steps{1},
		"ValidationException: Key attributes must be scalars; list random access '[]' and map lookup '.' are not " +
			"allowed: Key: pk", ownWords},
	{"query/no such selection", steps{1},
		"ValidationException: Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES",
		ownWords},
	{"query/limit zero", steps{1}, "ValidationException: Limit must be greater than or equal to 1", ownWords},

	{"page/1 MB", steps{1}, "0 of 20",
		"Local counts the 1 MB after the filter; AWS documents that it is counted before"},
	{"page/starting key of another partition", steps{1},
		"ValidationException: The provided starting key does not match the range key predicate", ownWords},
	{"page/starting key that is none", steps{1},
		"ValidationException: Exclusive Start Key must have same size as table's key schema", ownWords},
	{"page/starting key that is none", steps{2},
		"ValidationException: Type mismatch for attribute to update", ownWords},

	{"transact_write/old items in reasons", steps{1}, "TransactionCanceledException: Transaction cancelled, please " +
		"refer cancellation reasons for specific reasons [ConditionalCheckFailed, ConditionalCheckFailed, " +
		"ConditionalCheckFailed]\n" +
		"- ConditionalCheckFailed: The conditional request failed {pk: \"a\", sk: \"1\", v: 1}\n" +
		"- ConditionalCheckFailed: The conditional request failed\n" +
		"- ConditionalCheckFailed: The conditional request failed.", dot},
	{"transact_write/check on a missing item", steps{2},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ConditionalCheckFailed]\n- ConditionalCheckFailed: The conditional request failed.", dot},
	{"transact_write/one item twice", steps{2},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [None, ConditionalCheckFailed]\n- None\n- ConditionalCheckFailed: The conditional request failed.",
		twice},
	{"transact_write/one item twice with a false condition", steps{1},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ConditionalCheckFailed, None]\n- ConditionalCheckFailed: The conditional request failed\n- None",
		twice},
	{"transact_write/validation before conditions", steps{1}, "TransactionCanceledException: Transaction cancelled, " +
		"please refer cancellation reasons for specific reasons [ConditionalCheckFailed, ValidationError, " +
		"ValidationError]\n- ConditionalCheckFailed: The conditional request failed\n" +
		"- ValidationError: One or more parameter values were invalid: Type mismatch for key\n" +
		"- ValidationError: One or more parameter values were invalid: Type mismatch for key",
		"Local judges the conditions all the same, and reports every action that is not valid"},
	{"transact_write/101 actions", steps{1}, "ValidationException: Member must have length less than or equal to 100",
		"Local does not name the list"},
	{"transact_write/no actions", steps{1},
		"ValidationException: Value [] at 'transactItems' failed to satisfy constraint: Member must have length " +
			"greater than or equal to 1", ownWords},
	{"transact_write/no actions", steps{2},
		"ValidationException: Value null at 'transactItems' failed to satisfy constraint: Member must not be null",
		ownWords},
	{"transact_write/put with a key of another type", steps{1},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ValidationError]\n" +
			"- ValidationError: One or more parameter values were invalid: Type mismatch for key", ownWords},
	{"transact_write/put with a key of another type", steps{2}, localKeyMissing, refuses},
	{"transact_write/key of another type", steps{1},
		"TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific " +
			"reasons [ValidationError]\n" +
			"- ValidationError: One or more parameter values were invalid: Type mismatch for key", ownWords},
	{"transact_write/key of another type", steps{2}, localKeyCount, refuses},
	{"transact_write/key of another type", steps{3}, localValueType, refuses},
	{"transact_write/two actions that do not fit", steps{1}, localKeyCount, refuses},
	{"transact_write/update that cannot be done", steps{1},
		"ValidationException: An operand in the update expression has an incorrect data type", refuses},
	{"transact_write/updates that make too large items", steps{1},
		"ValidationException: Item size to update has exceeded the maximum allowed size", refuses},
	{"transact_write/update that only removes", steps{2}, `{pk: "a", sk: "b"}`, creates},
	{"transact_write/update without an expression", steps{1}, "ok", lenient},
	{"transact_write/check without a condition", steps{1},
		"ValidationException: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to " +
			"satisfy constraint: Member must not be null", ownWords},
	{"transact_write/return value that is none", steps{1}, "ok", lenient},
	{"transact_write/capacity", steps{1}, "ok; 6 units", undivided},

	{"transact_get/no gets", steps{1},
		"ValidationException: Value null at 'transactItems' failed to satisfy constraint: Member must not be null",
		ownWords},
	{"transact_get/key of another type", steps{1},
		"TransactionCanceledException: One or more parameter values were invalid: Type mismatch for key",
		"Local cancels without reasons"},
	{"transact_get/capacity", steps{1}, "[{x: 1} nothing]; 4 units", undivided},
	{"transact_get/enumeration before the table", steps{1}, localNoTable, tableFirst},

	{"idempotency/other payload", steps{2}, "IdempotentParameterMismatchException: ", "Local gives no text"},
	{"idempotency/any other payload", steps{3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		"IdempotentParameterMismatchException: ", "Local gives no text"},
	{"idempotency/capacity of a repetition", steps{1, 2}, "ok; 2 units", undivided},
	{"idempotency/another detail is the same payload", steps{2}, "ok; 2 units", undivided},
	{"idempotency/long token", steps{2},
		"ValidationException: Value ttttttttttttttttttttttttttttttttttttt at 'clientRequestToken' failed to satisfy " +
			"constraint: Member must have length less than or equal to 36", ownWords},

	{"ttl/another attribute", steps{2, 3},
		"ValidationException: TimeToLive is active on a different AttributeName", ownWords},
	{"ttl/no attribute", steps{1},
		"ValidationException: Names of key attributes and attributes projected into an index must be between 1 and " +
			"255 characters, inclusive", ownWords},
	{"ttl/no attribute", steps{2},
		"ValidationException: AttributeName cannot be null when time to live is being enabled", ownWords},
	{"ttl/long attribute", steps{1},
		"ValidationException: Names of key attributes and attributes projected into an index must be between 1 and " +
			"255 characters, inclusive", ownWords},
	{"ttl/no specification", steps{1}, "ValidationException: TimeToLiveSpecification cannot be null", ownWords},
	{"ttl/no table", steps{1, 2}, localNoTable, ownWords},

	{"precedence/constraints are listed together", steps{1}, localBadName, oneConstraint},
	{"precedence/constraints of a delete", steps{1}, localBadName, oneConstraint},
	{"precedence/constraints of an update", steps{1, 2}, localBadName, oneConstraint},
	{"precedence/constraints of a get", steps{1}, localBadName, oneConstraint},
	{"precedence/constraints of a query", steps{1}, localBadName, oneConstraint},
	{"precedence/constraints of a get", steps{2},
		"ValidationException: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
		oneConstraint},
	{"precedence/a key that is empty", steps{1, 2, 3}, localBadName, ownWords},
	{"precedence/enumerations", steps{1, 2, 3}, localReturnValues, ownWords},
	{"precedence/the token first", steps{1},
		"ValidationException: Value 0123456789012345678901234567890123456 at 'clientRequestToken' failed to satisfy " +
			"constraint: Member must have length less than or equal to 36", oneConstraint},
	{"precedence/constraints of a transaction", steps{1}, "ok", lenient},
	{"precedence/constraints of a transaction", steps{2}, `{pk: "a", sk: "b"}`,
		"Local did not refuse the put before it"},
	{"precedence/constraints before the table", steps{1, 2, 3}, localNoTable, tableFirst},
	{"precedence/constraints before an item twice", steps{1},
		"ValidationException: Transaction request cannot include multiple operations on one item", lenient},
	{"precedence/constraints before expressions", steps{1},
		`ValidationException: Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("`, lenient},
	{"precedence/expressions before the table", steps{1, 2, 3}, localNoTable, tableFirst},
	{"precedence/values before the table", steps{1, 2}, localNoTable, tableFirst},
	{"precedence/the table before the key", steps{1, 2}, localNoTable, ownWords},
	{"precedence/the key before the condition", steps{1}, localKeyMissing, ownWords},
	{"precedence/the key before the condition", steps{2}, localKeyCount, ownWords},
	{"precedence/return values before expressions", steps{1}, localReturnValues, ownWords},
	{"precedence/key attribute before the condition", steps{1},
		"ConditionalCheckFailedException: The conditional request failed", "Local judges the condition first"},
}

const (
	localStartType = "ValidationException: Type mismatch for attribute to update"
	filtersRows    = "Local filters the rows of the table"
)

// localScan are the answers of DynamoDB Local 3.3.1 to a Scan that differ from DynamoDB's.
var localScan = []deviation{
	{"scan/no table", steps{1}, localNoTable, ownWords},
	{"scan/no name", steps{1},
		"ValidationException: Value null at 'tableName' failed to satisfy constraint: Member must not be null",
		ownWords},
	{"scan/limit zero", steps{1}, "ValidationException: Limit must be greater than or equal to 1", ownWords},
	{"scan/no such selection", steps{1},
		"ValidationException: Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, or SPECIFIC_ATTRIBUTES",
		ownWords},
	{"scan/no such detail", steps{1},
		`5 of 5: {pk: "p", sk: "a", v: 1} {pk: "p", sk: "b", v: 2} {pk: "p", sk: "c", w: 3} {pk: "q", sk: "a", v: 4} {pk: "r", sk: "z", v: 5}; 1 units, 1 of the table`, lenient},
	{"scan/segment alone", steps{1},
		"ValidationException: If segment is specified, total segment must also be specified", ownWords},
	{"scan/total segments alone", steps{1},
		"ValidationException: If total segments is specified, a particular segment must also be specified for " +
			"this request", ownWords},
	{"scan/segment too large", steps{1},
		"ValidationException: 1 validation error detected: Value '5' at 'segment' failed to satisfy constraint: " +
			"Member must have value less than or equal to 4", ownWords},
	{"scan/negative segment", steps{1},
		"ValidationException: 1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: " +
			"Member must have value less than or equal to 3", ownWords},
	{"scan/no segments", steps{1},
		"ValidationException: 1 validation error detected: Value '0' at 'segment' failed to satisfy constraint: " +
			"Member must have value less than or equal to -1", ownWords},
	{"scan/starting key without its sort key", steps{1},
		"ValidationException: Exclusive Start Key must have same size as table's key schema", ownWords},
	{"scan/starting key of another type", steps{1},
		"ValidationException: Type mismatch for attribute to update", ownWords},
	{"scan/starting key of other names", steps{1},
		"ValidationException: The provided starting key is invalid", ownWords},
	{"scan/starting key with a bad number", steps{1}, localNotNumber, ownWords},
	{"scan/starting key in a missing table", steps{1}, localNoTable, ownWords},
	{"scan/starting key before segments", steps{1}, localNotNumber, ownWords},
	{"scan/segments before expressions", steps{1},
		"ValidationException: Invalid FilterExpression: The expression can not be empty;",
		"Local checks expressions first"},
	{"scan/expression before the table", steps{1}, localNoTable, tableFirst},

	{"index_scan/no such index of no table", steps{1}, localNoTable, ownWords},
	{"index_scan/name of an index", steps{1},
		"ValidationException: The table does not have the specified index: abc;", ownWords},
	{"index_scan/starting key of another segment", steps{1},
		"ValidationException: Exclusive start key must lie within the segment", ownWords},
	{"index_scan/starting key of another type", steps{1}, localStartType, ownWords},
	{"index_scan/starting key of another type of a local index", steps{1}, localStartType, ownWords},
	{"index_scan/starting key of another type for the table", steps{1}, localStartType, ownWords},
	{"index_scan/starting key of the table with all attributes", steps{1}, localStartType,
		"Local checks the starting key first"},
	{"index_scan/starting key that is gone", steps{1}, `3 of 3: {sk: "b"} {sk: "c"} {sk: "a"}`, tied},
	{"index_scan/capacity of fetching", steps{1},
		`3 of 3: {v: "3"} {v: "2"} {v: "1"}; 0.5 units, 0 of the table, 0.5 of lsik`,
		"Local does not count what it fetches for a scan"},
	{"index_scan/filter on an attribute that a global index has not", steps{1},
		`2 of 4: {g: "x", pk: "p", sk: "b", v: "2"} {g: "x", pk: "p", sk: "a", v: "1"}`, filtersRows},
	{"index_scan/filter on an attribute that a local index has not", steps{1},
		`2 of 3: {n: 1, pk: "p", sk: "b"} {n: 3, pk: "p", sk: "a"}`, filtersRows},
}

const missingFree = "Local takes no units for items of a batch that do not exist; tests that are run against the " +
	"service say that it does"

// localBatch are the answers of DynamoDB Local 3.3.1 to batches that differ from DynamoDB's.
var localBatch = []deviation{
	{"batch_get/101 keys", steps{1},
		"ValidationException: Too many items requested for the BatchGetItem call", ownWords},
	{"batch_get/bad name", steps{1}, localBadName, ownWords},
	{"batch_get/bad name and detail", steps{1}, localBadName, oneConstraint},
	{"batch_get/bad number in a missing table", steps{1}, localNotNumber, ownWords},
	{"batch_get/capacity", steps{1}, `rows: {pk: "a", sk: "1", x: 1, y: 2}; 1 units`, missingFree},
	{"batch_get/capacity by index", steps{1}, `rows: {pk: "b", sk: "1"}; 0.5 units, 0.5 of the table`, missingFree},
	{"batch_get/capacity of two tables", steps{1},
		`other: nothing; rows: {pk: "b", sk: "1"}; 0 units; 0.5 units`, missingFree},
	{"batch_get/detail before the table", steps{1}, localNoTable, tableFirst},
	{"batch_get/empty RequestItems", steps{1},
		"ValidationException: BatchGetItem must have some requests set", ownWords},
	{"batch_get/empty key", steps{1},
		"ValidationException: The list of keys in RequestItems for BatchGetItem may not contain null or empty " +
			"values: rows has one or more empty keys", ownWords},
	{"batch_get/empty key in a missing table", steps{1},
		"ValidationException: The list of keys in RequestItems for BatchGetItem may not contain null or empty " +
			"values: missing has one or more empty keys", "Local checks the key first"},
	{"batch_get/empty keys", steps{1},
		"ValidationException: The list of keys in RequestItems for BatchGetItem is required: rows has empty list",
		ownWords},
	{"batch_get/half a key", steps{1}, localKeyCount, ownWords},
	{"batch_get/key of another type", steps{1}, localKeyType, ownWords},
	{"batch_get/long key", steps{1}, localKeySize, ownWords},
	{"batch_get/no RequestItems", steps{1}, "ValidationException: BatchGetItem must have some requests set", ownWords},
	{"batch_get/no keys", steps{1},
		"ValidationException: The list of keys in RequestItems for BatchGetItem is required: rows has empty list",
		ownWords},
	{"batch_get/no such detail", steps{1}, `rows: {pk: "a", sk: "1", x: 1, y: 2}`, lenient},
	{"batch_get/no table", steps{1}, localNoTable, ownWords},
	{"batch_get/one missing table", steps{1}, localNoTable, ownWords},
	{"batch_get/short name", steps{1}, localBadName, ownWords},
	{"batch_write/26 writes", steps{1},
		"ValidationException: Too many items requested for the BatchWriteItem call", ownWords},
	{"batch_write/all or nothing of what is not valid", steps{1}, localKeyType, ownWords},
	{"batch_write/all or nothing of what is not valid", steps{2}, localKeyMissing, ownWords},
	{"batch_write/bad name", steps{1}, localBadName, ownWords},
	{"batch_write/bad name and detail", steps{1}, localBadName, oneConstraint},
	{"batch_write/bad number in a missing table", steps{1}, localNotNumber, ownWords},
	{"batch_write/delete by half a key", steps{1}, localKeyCount, ownWords},
	{"batch_write/detail before the table", steps{1}, localNoTable, tableFirst},
	{"batch_write/empty RequestItems", steps{1},
		"ValidationException: BatchWriteItem cannot have a null or no requests set", ownWords},
	{"batch_write/empty item", steps{1}, "ValidationException: Item to put in PutItem cannot be null", ownWords},
	{"batch_write/empty item in a missing table", steps{1}, localNoTable, ownWords},
	{"batch_write/key of another type", steps{1}, localValueType, ownWords},
	{"batch_write/long key", steps{1}, localKeySize, ownWords},
	{"batch_write/no RequestItems", steps{1},
		"ValidationException: BatchWriteItem cannot have a null or no requests set", ownWords},
	{"batch_write/no item", steps{1},
		"ValidationException: The supplied Item contains a null AttributeValue", ownWords},
	{"batch_write/no key", steps{1}, "ValidationException: The supplied Item contains a null AttributeValue", ownWords},
	{"batch_write/no such detail", steps{1}, "ok", lenient},
	{"batch_write/no such detail", steps{2}, "1 of 1", "Local did not refuse the batch"},
	{"batch_write/no such metrics", steps{1}, "ok", lenient},
	{"batch_write/no table", steps{1}, localNoTable, ownWords},
	{"batch_write/no writes", steps{1},
		"ValidationException: The batch write request list for a table cannot be null or empty: rows", ownWords},
	{"batch_write/one missing table", steps{1}, localNoTable, ownWords},
	{"batch_write/two enumerations", steps{1}, "ok", lenient},
}

const noMetrics = "Local does not measure item collections"

// localCollections are the answers of DynamoDB Local 3.3.1 about item collections that differ from DynamoDB's.
var localCollections = []deviation{
	{"collection/put", steps{1}, ok, noMetrics},
	{"collection/update", steps{1}, ok, noMetrics},
	{"collection/update", steps{2}, `{pk: "p", sk: "b", v: 1}`, noMetrics},
	{"collection/delete", steps{1}, `{n: 1, pk: "p", sk: "a"}`, noMetrics},
	{"collection/number", steps{1}, ok, noMetrics},
	{"collection/batch", steps{1}, ok, noMetrics},
	{"collection/transaction", steps{1}, ok, noMetrics},
	{"collection/capacity and collections", steps{1}, ok + "; 2 units", noMetrics},
}

// localBoundaries are the answers of DynamoDB Local 3.3.1 that differ from DynamoDB's about limits of expressions and
// of names, and about some orders of errors.
var localBoundaries = []deviation{
	{"boundary/255 bytes of a key's name", steps{2},
		"ValidationException: Names of key attributes and attributes projected into an index must be between 1 and " +
			"255 characters, inclusive", ownWords},
	{"boundary/2 KB of a partition key in a condition", steps{2}, "0 of 0", lenient},
	{"boundary/100 reads", steps{2},
		"ValidationException: Member must have length less than or equal to 100", ownWords},
	{"boundary/255 bytes of a value's placeholder", steps{2},
		"ValidationException: ExpressionAttributeValues contains invalid key: The expression attribute map contains " +
			"a key that is too long;", noSize},
	{"boundary/4 KB of a projection", steps{2},
		"ValidationException: Invalid ProjectionExpression: Expression size has exceeded the maximum allowed size;",
		noSize},
	{"boundary/4 KB of an update", steps{2},
		"ValidationException: Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;",
		noSize},
	{"precedence/query", steps{1},
		`ValidationException: Invalid KeyConditionExpression: Syntax error; token: "<EOF>", near: "= "`,
		"Local checks expressions first"},
	{"precedence/query", steps{2}, localNoTable, tableFirst},
	{"precedence/query", steps{3}, localNoTable, ownWords},
	{"precedence/query", steps{4}, "ValidationException: Query condition missed key schema element", startLast},
	{"precedence/query", steps{5}, "ValidationException: Query condition missed key schema element", ownWords},
	{"precedence/query", steps{6},
		"ValidationException: Exclusive Start Key must have same size as table's key schema", ownWords},
	{"precedence/transaction of reads", steps{1},
		`ValidationException: Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","`, lenient},
	{"precedence/transaction of reads", steps{2}, localNoTable, tableFirst},
	{"precedence/transaction of reads", steps{3},
		"TransactionCanceledException: The number of conditions on the keys is invalid",
		"Local looks at one read after the other"},
	{"precedence/transaction of reads", steps{4},
		"TransactionCanceledException: The number of conditions on the keys is invalid", ownWords},
	{"precedence/batch of writes", steps{1}, localNotNumber, lenient},
	{"precedence/batch of writes", steps{2}, localNotNumber, ownWords},
	{"precedence/batch of writes", steps{3}, localNoTable, ownWords},
	{"precedence/batch of writes", steps{5}, localKeyMissing, ownWords},
}

const noSize = "Local does not name the length in this text"
