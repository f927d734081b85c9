package conformance

// Frequent answers of DynamoDB Local to legacy parameters, with their reasons.
const (
	localTwice     = "ValidationException: Cannot have two attributes with the same name"
	localOperator  = "ValidationException: Comparison type does not exist in DynamoDB"
	localArguments = "ValidationException: One or more parameter values were invalid: Invalid number of argument(s) " +
		"for the EQ ComparisonOperator"
	localMissed = "ValidationException: Query condition missed key schema element"
	localNoAdd  = "ValidationException: One or more parameter values were invalid: ADD action is not supported " +
		"for the type "
	localNoDelete = "ValidationException: One or more parameter values were invalid: DELETE action with value is " +
		"not supported for the type "

	legacyFirst = "Local judges the conditions, or AttributesToGet, before anything else about the parameters"
	startLast   = "Local checks the starting key of a query last"
	asTexts     = "Local compares the elements of a set as texts here"
)

// localLegacy are the answers of DynamoDB Local 3.3.1 to legacy parameters that differ from DynamoDB's.
var localLegacy = []deviation{
	{"legacy_condition/no such operator", steps{1, 2, 3}, localInternal, fails},

	{"legacy_expected/bad number", steps{1, 2, 3}, localNotNumber, ownWords},
	{"legacy_expected/bad number for an operator", steps{1, 2, 3}, localNotNumber, ownWords},
	{"legacy_expected/no such operator", steps{1, 2, 3}, localOperator, ownWords},

	{"legacy_precedence/attributes before the filter in a scan", steps{1}, localArguments, legacyFirst},
	{"legacy_precedence/constraints first", steps{1, 2}, localBadName, ownWords},
	{"legacy_precedence/constraints first", steps{3}, localOperator, oneConstraint},
	{"legacy_precedence/constraints first", steps{4},
		"ValidationException: Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {ScanFilter} Expression parameters: {ProjectionExpression}", legacyFirst},
	{"legacy_precedence/filter before attributes in a query", steps{1, 2, 3}, localArguments, legacyFirst},
	{"legacy_precedence/legacy parameters before the table", steps{1, 2, 3, 5, 6, 7}, localNoTable, tableFirst},
	{"legacy_precedence/legacy parameters before the table", steps{4}, localTwice, ownWords},
	{"legacy_precedence/mixed in a get", steps{1}, localTwice, legacyFirst},
	{"legacy_precedence/mixed in a query", steps{5}, "ValidationException: Can not use both expression and " +
		"non-expression parameters in the same request: Non-expression parameters: {AttributesToGet, QueryFilter, " +
		"ConditionalOperator, KeyConditions} Expression parameters: {ProjectionExpression, KeyConditionExpression}",
		"Local does not count an expression that is empty"},
	{"legacy_precedence/mixed in a scan", steps{3}, localArguments, legacyFirst},
	{"legacy_precedence/mixed in an update", steps{4}, localArguments, legacyFirst},
	{"legacy_precedence/names without expressions", steps{1, 2}, localArguments, legacyFirst},
	{"legacy_precedence/names without expressions", steps{5}, localTwice, legacyFirst},
	{"legacy_precedence/the key attribute before the condition", steps{1},
		"ConditionalCheckFailedException: The conditional request failed", "Local judges the condition first"},
	{"legacy_precedence/the key attribute before the condition", steps{2}, localKeyCount, ownWords},
	{"legacy_precedence/the key before legacy parameters", steps{1, 3}, localArguments, legacyFirst},
	{"legacy_precedence/the key before legacy parameters", steps{2}, localNotNumber, ownWords},
	{"legacy_precedence/the key before legacy parameters", steps{4}, localTwice, legacyFirst},
	{"legacy_precedence/the operator before what it joins", steps{1},
		"ValidationException: Either the KeyConditions or KeyConditionExpression parameter must be specified in " +
			"the request.", legacyFirst},
	{"legacy_precedence/the operator before what it joins", steps{2}, localArguments, legacyFirst},
	{"legacy_precedence/the starting key before key conditions", steps{1},
		"ValidationException: Only scalar types can be used as Hash Key values", startLast},
	{"legacy_precedence/the starting key before key conditions", steps{2, 3},
		"ValidationException: Query key condition not supported", startLast},
	{"legacy_precedence/the table before the key", steps{1, 2, 3}, localNoTable, ownWords},
	{"legacy_precedence/updates before what is expected", steps{1}, localArguments, legacyFirst},
	{"legacy_precedence/updates before what is expected", steps{2}, localNotNumber, legacyFirst},
	{"legacy_precedence/values before their number", steps{1}, localNotNumber, ownWords},
	{"legacy_precedence/values before their number", steps{3},
		"ValidationException: One or more parameter values were invalid: ComparisonOperator BETWEEN is not valid " +
			"for L AttributeValue type", "Local looks at the types before it compares them"},

	{"legacy_projection/empty list", steps{1}, `{pk: "a", sk: "b", status: 4, x: 1, y.in: 3, y: {in: 2}}`, lenient},
	{"legacy_projection/empty list", steps{2, 3},
		`2 of 2: {pk: "a", sk: "b", status: 4, x: 1, y.in: 3, y: {in: 2}} {pk: "a", sk: "c", z: 5}`, lenient},
	{"legacy_projection/twice", steps{1, 3, 4}, localTwice, ownWords},

	{"legacy_query/IN", steps{1}, "ValidationException: Query key condition not supported", ownWords},
	{"legacy_query/NE", steps{1}, localInternal, fails},
	{"legacy_query/NOT_NULL", steps{1},
		"ValidationException: Only scalar types can be used as Range Key values", ownWords},
	{"legacy_query/NULL", steps{1}, "ValidationException: Only scalar types can be used as Hash Key values", ownWords},
	{"legacy_query/another attribute", steps{1}, localMissed, ownWords},
	{"legacy_query/bad number", steps{1}, localNotNumber, ownWords},
	{"legacy_query/filter with no such operator", steps{1}, localOperator, ownWords},
	{"legacy_query/global index", steps{6}, localMissed, ownWords},
	{"legacy_query/global index", steps{8}, localInternal, fails},
	{"legacy_query/no conditions", steps{1}, "ValidationException: Conditions must be at least length 1", ownWords},
	{"legacy_query/no such operator", steps{1}, localOperator, ownWords},
	{"legacy_query/partition key alone", steps{1}, localMissed, ownWords},

	{"legacy_scan/bad number", steps{1}, localNotNumber, ownWords},
	{"legacy_scan/no operator", steps{1}, localOperator, ownWords},
	{"legacy_scan/no such operator", steps{1}, localOperator, ownWords},

	{"legacy_update/DELETE creates nothing", steps{2}, `{pk: "a", sk: "b"}`, creates},
	{"legacy_update/bad number", steps{1}, localNotNumber, ownWords},
	{"legacy_update/index keys", steps{2},
		"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", ownWords},
	{"legacy_update/no action", steps{2}, `{pk: "a", sk: "b"}`, "Local ignores a change without an action"},
	{"legacy_update/no such action", steps{1},
		"ValidationException: Member must satisfy enum value set: [ADD, DELETE, PUT]", ownWords},
	{"legacy_update/numbers of a set", steps{1}, "ValidationException: Input collection contains duplicates", asTexts},
	{"legacy_update/numbers of a set", steps{2}, `{pk: "a", sk: "b", x: <1, 2>, y: <3, 4>}`, asTexts},
	{"legacy_update/value of type B", steps{1}, localNoAdd + "BINARY", ownWords},
	{"legacy_update/value of type B", steps{2}, localNoDelete + "BINARY", ownWords},
	{"legacy_update/value of type BOOL", steps{1}, localNoAdd + "BOOLEAN", ownWords},
	{"legacy_update/value of type BOOL", steps{2}, localNoDelete + "BOOLEAN", ownWords},
	{"legacy_update/value of type L", steps{1}, localNoDelete + "LIST", ownWords},
	{"legacy_update/value of type M", steps{1}, localNoAdd + "MAP", ownWords},
	{"legacy_update/value of type M", steps{2}, localNoDelete + "MAP", ownWords},
	{"legacy_update/value of type N", steps{1}, localNoDelete + "NUMBER", ownWords},
	{"legacy_update/value of type S", steps{1}, localNoAdd + "STRING", ownWords},
	{"legacy_update/value of type S", steps{2}, localNoDelete + "STRING", ownWords},
}
