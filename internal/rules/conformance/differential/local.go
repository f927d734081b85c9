package differential

// Reasons that several differences have.
const (
	lenient    = "Local does not check it"
	undivided  = "Local does not say whether units were read or written"
	refuses    = "Local refuses the request where the service cancels the transaction, or judges conditions too"
	unreported = "Local does not say what a statement consumes"
	aborts     = "Local fails with an error of its own"
	inTables   = "Local looks at the table, the key, the item or the condition first"
)

// Where the service's answers are from.
const (
	docAPI        = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/"
	docGuide      = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
	docCapacity   = docGuide + "read-write-operations.html"
	docTypes      = docGuide + "HowItWorks.NamingRulesDataTypes.html"
	docErrors     = docGuide + "Programming.Errors.html"
	docTransact   = docAPI + "API_TransactWriteItems.html"
	docIndexes    = docGuide + "GSI.html#GSI.ThroughputConsiderations.Writes"
	docLSI        = docGuide + "LSI.html#LSI.ThroughputConsiderations.Reads"
	docQuery      = docAPI + "API_Query.html"
	docSelect     = docGuide + "ql-reference.select.html"
	docOperators  = docGuide + "ql-operators.html"
	docStatement  = docAPI + "API_ExecuteStatement.html"
	docStatements = docAPI + "API_ExecuteTransaction.html"
	docTables     = docAPI + "API_TableDescription.html"
	docUpdate     = docAPI + "API_UpdateTable.html"
	docStreams    = docAPI + "API_streams_GetShardIterator.html"

	dynalite   = "https://github.com/architect/dynalite/blob/main/test/"
	parity     = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	alternator = "https://github.com/scylladb/scylladb/blob/master/test/alternator/"
	scylla5862 = "https://github.com/scylladb/scylladb/issues/5862"
	nubo       = "https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier2/partiql/"
	flociEdge  = "https://github.com/floci-io/floci/blob/main/src/test/java/io/github/hectorvent/floci/services/" +
		"dynamodb/DynamoDbPartiQLEdgeCaseIntegrationTest.java"
)

// Patterns of outcomes.
const (
	v           = "ValidationException: "
	constraint  = v + `\d+ validation errors? detected: `
	inStatement = v + `(Validation failed in TransactStatements\[\d+\]: )?`
	bad         = `One or more parameter values were invalid: `
	emptyKey    = `One or more parameter values are not valid\. The AttributeValue for a key attribute cannot .*`
	canceled    = `TransactionCanceledException .*ValidationError.*: `
	anything    = ".*"

	invalid   = "ValidationException"
	notMet    = "ConditionalCheckFailedException"
	cancels   = "TransactionCanceledException .*"
	noTable   = "ResourceNotFoundException"
	internal  = "500 InternalFailure"
	ofTable   = `(TableDescription|Table)\.`
	inIndexes = ofTable + `GlobalSecondaryIndexes\[\d+\]\.`
)

// Local are the known differences between DynamoDB Local 3.3.1 and the fake. In each of them the fake answers as the
// service does, by the source, or as far as is known. Local's own words for an error are no difference.
var Local = []*Known{
	// Errors.
	{
		Path: "error", Fake: constraint + `.*'([a-zA-Z0-9.]*tableName|[rR]equestItems.*)' failed .*`,
		Local: noTable, Reason: inTables, Source: dynalite + "getItem.js",
	},
	{
		Path: "error", Fake: "SerializationException: .*", Local: anything, Diverges: true,
		Reason: "Local takes a number or a boolean for a string, and has other words for the rest",
		Source: dynalite + "helpers.js",
	},
	{
		Operations: "TransactWriteItems TransactGetItems ExecuteTransaction", Path: "error",
		Fake: canceled + anything, Local: invalid + "|TransactionCanceledException.*", Reason: refuses,
		Source: docTransact,
	},
	{
		Path: "error",
		Fake: constraint + `.*'([^']*\.)?(returnConsumedCapacity|returnValuesOnConditionCheckFailure|` +
			`clientRequestToken|parameters)' failed .*`,
		Local: anything, Diverges: true, Reason: lenient,
		Source: parity + "tier3/validation-ordering/updateItem.test.ts",
	},
	{
		Operations: "UpdateItem TransactWriteItems", Path: "error", Fake: "ok|TransactionCanceledException .*",
		Local: invalid + "|" + canceled, Diverges: true, When: func(r Request) bool { return onlyRemoves(r.Body) },
		Reason: "Local refuses to REMOVE a nested path where there is no item",
		Source: alternator + "test_update_expression.py",
	},
	{
		Operations: "TransactWriteItems ExecuteTransaction", Path: "error",
		Fake: v + "Transaction request cannot include multiple operations on one item", Local: cancels,
		Reason: "Local judges conditions before it looks for one item twice", Source: docTransact,
	},
	{
		Operations: "TransactWriteItems", Path: "error", Fake: canceled + "Key attributes must be scalars; .*",
		Local: "ok|" + cancels, Diverges: true, Reason: "Local does not look at the paths of condition checks",
		Source: alternator + "test_gsi.py",
	},
	// Errors of statements.
	{
		Operations: "ExecuteStatement", Path: "error", Fake: "DuplicateItemException: .*", Local: "DuplicateItem",
		Reason: "Local leaves out the end of the name", Source: nubo + "executeStatement.test.ts",
	},
	{
		Operations: "ExecuteStatement", Path: "error",
		Fake: inStatement + "(Overlapping conditions with range keys .*|Too many decomposed read operations .*|" +
			"Must have .* ORDER BY clause.*)",
		Local: "ok|" + internal, Reason: lenient, Source: flociEdge,
	},
	{
		Operations: statements, Path: "error", Fake: inStatement + "Unexpected path component at .*",
		Local: "ok|" + notMet + "|" + internal, Reason: lenient,
		Source: parity + "tier3/error-messages/partiqlGrammar.test.ts",
	},
	{
		Operations: "ExecuteStatement", Path: "error",
		Fake: v + bad + `(Secondary|Global secondary) index \w+ does not project .*`, Local: "ok|" + internal,
		Reason: "Local filters by attributes that the index does not have", Source: nubo + "indexQualifier.test.ts",
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: "ok", Local: internal + "|" + invalid,
		When: ordersOrIndexed, Reason: "Local fails over ORDER BY, and where a key of an index is tested once more",
		Source: docSelect,
	},
	{
		Operations: statements, Path: "error",
		Fake:  inStatement + `(Unsupported operator in Update Expression\. .*|Unrecognized function: if_not_exists .*)`,
		Local: "ok", Diverges: true, Reason: lenient,
		Source: parity + "tier3/error-messages/partiqlFunctions.test.ts",
	},
	{
		Operations: statements, Path: "error",
		Fake: constraint + ".*|" + v +
			"(Invalid NextToken|Key attributes must be scalars; .*|Strongly consistent read is not supported .*)",
		Local: internal, Reason: aborts, Source: docStatement,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: "ok", Local: invalid, When: namesEmpty,
		Reason: "Local looks for empty keys in conditions that name no key; what the service does is not known",
		Source: docSelect,
	},
	{
		Operations: "ExecuteStatement", Path: "error", Fake: v + emptyKey, Local: "ok", When: readsRanges,
		Reason: "Local looks for empty keys in the last of several ranges alone", Source: docSelect,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: v + "Validation failed in TransactStatements.*",
		Local: cancels + "|" + noTable, Reason: inTables, Source: docStatements,
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: "TransactionCanceledException .*DuplicateItem.*",
		Local: cancels, Reason: "Local gives an item that is there the code of an error of validation",
		Source: nubo + "executeTransaction.test.ts",
	},
	{
		Operations: "ExecuteTransaction", Path: "error", Fake: "TransactionCanceledException .*ResourceNotFound.*",
		Local: noTable, Reason: refuses, Source: flociEdge,
	},
	{
		Operations: statements, Path: "error",
		Fake: v + "(Nesting Levels have exceeded supported limits.*|" + bad +
			"(Type mismatch for Index Key|Cannot update attribute) .*|Unrecognized function: .*|" +
			`Unsupported operator in Update Expression\. .*)`,
		Local: notMet + "|" + cancels, Reason: inTables, Source: flociEdge,
	},
	{
		Operations: "BatchExecuteStatement", Path: "error", Fake: "ok", Local: invalid, Diverges: true, When: broke,
		Reason: "Local refuses the batch and not the statement whose parameter is wrong", Source: flociEdge,
	},
	// Errors of legacy parameters.
	{
		Operations: "UpdateItem", Path: "error",
		Fake: v + bad + "((DELETE action with value|ADD action) is not supported .*|Only DELETE action is .*|" +
			"Cannot update attribute .*)",
		Local: notMet, When: func(r Request) bool { return isLegacy(r.Body) }, Reason: inTables,
		Source: dynalite + "updateItem.js",
	},
	{
		Path: "error",
		Fake: constraint + ".*'(expected|keyConditions|queryFilter|scanFilter|attributeUpdates|conditionalOperator)" +
			"[^']*' failed .* enum value set: .*",
		Local: notMet + "|" + internal, Reason: inTables, Source: dynalite + "updateItem.js",
	},
	{
		Operations: "GetItem BatchGetItem Query Scan", Path: "error",
		Fake: constraint + ".*'(conditionalOperator|[^']*attributesToGet)' failed .*", Local: "ok",
		Reason: lenient, Source: dynalite + "query.js",
	},
	{
		Operations: "UpdateItem", Path: "error", Fake: "ok", Local: invalid, Diverges: true, When: addsNumbers,
		Reason: "Local refuses to add a number that the set has in another form, such as 0.10 and 0.1",
		Source: docTypes,
	},
	// Errors about tables and streams.
	{
		Path: "error", Fake: v + anything, Local: noTable, When: Request.ofMade, Reason: inTables,
		Source: docErrors,
	},
	{
		Operations: "CreateTable UpdateTable", Path: "error",
		Fake: v + `(.*Neither ReadCapacityUnits nor WriteCapacityUnits can be specified .*|` +
			`\d+ validation errors? detected: .*(provisionedThroughput|streamViewType).*)`,
		Local: "ok", Diverges: true, Reason: lenient, Source: docTables,
	},
	{
		Operations: "GetShardIterator", Path: "error",
		Fake:  v + "(.*Invalid SequenceNumber|Invalid StreamArn).*|" + constraint + ".*|ResourceNotFoundException: .*",
		Local: noTable + "|" + internal, Reason: aborts, Source: docStreams,
	},
	{
		Operations: "UpdateTable", Path: "error", Fake: "ok", Local: invalid, Diverges: true,
		Reason: "Local refuses a definition that differs from the table's where the new index does not use it; " +
			"what the service says is not known",
		Source: docUpdate,
	},
	{
		Operations: "CreateTable UpdateTable", Path: "error",
		Fake: v + bad + "ProvisionedThroughput must be specified for index: .*|" +
			constraint + ".*ndexName' failed .*",
		Local: internal, Reason: aborts, Source: docUpdate,
	},
	{
		Operations: "GetRecords", Path: "error", Fake: "ok", Local: "TrimmedDataAccessException",
		Reason: "Local takes some records of the last seconds for trimmed", Source: docStreams,
	},
	// Items and rows.
	{
		Operations: "TransactGetItems", Path: `Responses\[\d+\](\.Item)?`, Fake: `absent|\{\}`,
		Local: `\{("Item":\{\})?\}`, Reason: "Local has an empty item for a projection that leaves nothing",
		Source: "https://github.com/nubo-db/dynoxide/issues/39",
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
	{
		Path: `.*\.(N|NS\[\d+\])`, Fake: `".*"`, Local: `".*"`, If: sameNumber,
		Reason: "Local does not normalise numbers inside of lists and maps, nor all that it has computed",
		Source: docTypes,
	},
	{
		Operations: "Scan", Path: `Count|Items.*|ConsumedCapacity.*`, Fake: anything, Local: anything,
		When: filtersIndex,
		Reason: "Local filters a Scan of an index by attributes that the index does not have, and does not count " +
			"the rows that it fetches",
		Source: nubo + "indexQualifier.test.ts",
	},
	{
		Operations: "Query", Path: `ConsumedCapacity\..*`, Fake: anything, Local: anything, When: projectsInto,
		Reason: "Local fetches rows for a path into an attribute that a local index has", Source: docCapacity,
	},
	{
		Operations: "Query", Path: "ScannedCount", Fake: `\[.*,0\]`, Local: `\[.*\]`, If: emptyPage,
		Reason: "Local gives no LastEvaluatedKey after Limit rows if the condition on the key leaves no others",
		Source: docQuery,
	},
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
		Path: `ConsumedCapacity(\[\d+\])?\.(GlobalSecondaryIndexes(\.\w+)?(\.CapacityUnits)?|` +
			`LocalSecondaryIndexes\.\w+\.CapacityUnits)`,
		Fake: "absent|[0-9]+", Local: `\{.*|[0-9]+`, If: moreIndexes,
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
	// Answers to statements.
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
			"ExecuteStatement", Source: nubo + "executeTransaction.test.ts",
	},
	{
		Operations: "ExecuteStatement", Path: `Items.*`, Fake: anything, Local: anything, When: ordersBackwards,
		Reason: "Local gives some partitions forwards where ORDER BY says DESC", Source: docSelect,
	},
	{
		Operations: "ExecuteStatement", Path: `Items.*`, Fake: anything, Local: anything, When: filtersFetched,
		Reason: "Local fetches what the index lacks, and filters by it", Source: nubo + "indexQualifier.test.ts",
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
		Operations: "ExecuteTransaction BatchExecuteStatement",
		Path:       `(CancellationReasons\[\d+\]\.|Responses\[\d+\]\.Error\.)Item\..*\.(M|L)`, Fake: `\{\}|\[\]`,
		Local: "absent", Reason: "Local gives an empty map in a document no type here", Source: docStatements,
	},
	{
		Operations: "BatchExecuteStatement", Path: `Responses\[\d+\]\.TableName`, Fake: `".*"|absent`,
		Local: `".*"|absent`, Reason: "Local names the table of other statements that it refuses", Source: docStatement,
	},
	// Tables and streams.
	{
		Operations: onTables, Path: ofTable + `(GlobalSecondaryIndexes\[\d+\]\.)?WarmThroughput`, Fake: `\{.*`,
		Local: "absent", Reason: "Local does not have warm throughput", Source: docTables,
	},
	{
		Operations: onTables, Path: inIndexes + `ProvisionedThroughput(\.NumberOfDecreasesToday)?`,
		Fake:  `0|\{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0\}`,
		Local: "absent", Reason: "Local does not describe units that are none", Source: docTables,
	},
	{
		Operations: onTables, Path: inIndexes + "OnDemandThroughput", Fake: "absent",
		Local:  `\{"MaxReadRequestUnits":-1,"MaxWriteRequestUnits":-1\}`,
		Reason: "Local describes ceilings that are none", Source: docTables,
	},
	{
		Operations: "UpdateTable", Path: ofTable + `ProvisionedThroughput\.(Read|Write)CapacityUnits`, Fake: "[0-9]+",
		Local: "[0-9]+", Reason: "Local describes the units after the change", Source: docUpdate,
	},
	{
		Operations: onTables, Path: inIndexes + `ProvisionedThroughput\.(Read|Write)CapacityUnits`, Fake: "0",
		Local:  "[0-9]+",
		Reason: "Local keeps the units of an index of a table that is paid by request", Source: docUpdate,
	},
	{
		Operations: "UpdateTable", Path: ofTable + "AttributeDefinitions.*", Fake: anything, Local: anything,
		Reason: "Local forgets definitions that an UpdateTable does not repeat", Source: docUpdate,
	},
	{
		Operations: onTables,
		Path:       ofTable + `(GlobalSecondaryIndexes\[\d+\]\.)?ProvisionedThroughput\.NumberOfDecreasesToday`,
		Fake:       "[1-9][0-9]*", Local: "0|absent", Reason: "Local does not count decreases", Source: docTables,
	},
	{
		Operations: "DeleteTable", Fake: "absent",
		Path:  `TableDescription\.(AttributeDefinitions|KeySchema|(Global|Local)SecondaryIndexes)`,
		Local: `\[.*`, Reason: "Local describes keys and indexes that are gone", Source: dynalite + "deleteTable.js",
	},
	{
		Operations: "GetRecords", Path: `Records\[\d+\]\.dynamodb\.(New|Old)Image\..*\.(M|L)`, Fake: `\{\}|\[\]`,
		Local: "absent", Reason: "Local gives an empty document no type here", Source: docStreams,
	},
}
